"""Which task is next: the highest priority first, then as the person ordered them, then the oldest; what is blocked is
skipped (S157-S160). Pure; the stores select in the same order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fateforger.tasks.model import QueuedTask, TaskState


def order(task: QueuedTask) -> tuple[int, int, str]:
    """What tasks are sorted by."""
    return task.spec.priority, task.rank, task.id


def blockers(task: QueuedTask, tasks: Iterable[QueuedTask]) -> tuple[QueuedTask, ...]:
    """Those of ``tasks`` (all of the person's) that have to be done before this one. One that was stopped blocks on:
    what was built on it needs a word of the person."""
    return tuple(t for t in tasks if t.id in task.blocked_by and t.state is not TaskState.DONE)


def in_order(tasks: Iterable[QueuedTask]) -> tuple[QueuedTask, ...]:
    """The tasks as a person sees their queue."""
    return tuple(sorted(tasks, key=order))


def ready(tasks: Sequence[QueuedTask]) -> tuple[QueuedTask, ...]:
    """What can be pulled of ``tasks`` (all of the person's), the next first."""
    return in_order(t for t in tasks if t.state is TaskState.ACTIVE and not blockers(t, tasks))
