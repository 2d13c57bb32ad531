"""Order of the queue: by priority, then by rank; blocked tasks are skipped (S157-S160).

Pure functions; the stores select in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fateforger.tasks.model import QueuedTask, TaskState


def sort_key(task: QueuedTask) -> tuple[int, int, str]:
    """Return the sort key of a task."""
    return task.spec.priority, task.rank, task.id


def blockers(task: QueuedTask, tasks: Iterable[QueuedTask]) -> tuple[QueuedTask, ...]:
    """Return the tasks that must be done before this one.

    ``tasks`` are all of the person's. A stopped task still blocks: the person has to decide about what depends on it.
    """
    return tuple(t for t in tasks if t.id in task.blocked_by and t.state is not TaskState.DONE)


def sort_tasks(tasks: Iterable[QueuedTask]) -> tuple[QueuedTask, ...]:
    """Sort the tasks as the person sees the queue."""
    return tuple(sorted(tasks, key=sort_key))


def ready_tasks(tasks: Sequence[QueuedTask]) -> tuple[QueuedTask, ...]:
    """Return the tasks that can be pulled, the next one first.

    ``tasks`` are all of the person's.
    """
    return sort_tasks(t for t in tasks if t.state is TaskState.ACTIVE and not blockers(t, tasks))
