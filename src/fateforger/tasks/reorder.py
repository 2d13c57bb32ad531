"""Move a task within the queue (S167).

Pure functions. The queue is ordered by priority first. A task that is moved among tasks of another priority takes on
that priority, so it stays where the person put it; the confirmation says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from fateforger.errors import BadInput
from fateforger.tasks.model import ENDED, QueuedTask
from fateforger.tasks.queue import sort_tasks
from fateforger.tasks.words import PRIORITIES, quote_task
from fateforger.values import replace

SPACE = 1_000_000
"""Distance between newly assigned ranks: one second."""


class QueuePlace(StrEnum):
    """A place in the queue: either end, one place up or down, or before another task."""

    FIRST = "first"
    LAST = "last"
    UP = "up"
    DOWN = "down"
    BEFORE = "before"


def move_task(
    tasks: Sequence[QueuedTask], task_id: str, where: QueuePlace, *, before: str | None = None
) -> tuple[QueuedTask, ...]:
    """Return the tasks that change when one is moved.

    ``tasks`` are all of the person's that have not ended. Raises :class:`BadInput` when the task is not in the queue,
    or is at that place already.
    """
    queue = [task for task in sort_tasks(tasks) if task.state not in ENDED]
    at = _place(queue, task_id)
    to = _target(queue, at, where, before)
    task, others = queue[at], [*queue[:at], *queue[at + 1 :]]
    above = others[to - 1] if to else None
    below = others[to] if to < len(others) else None
    least = 0 if above is None else above.spec.priority
    most = max(PRIORITIES) if below is None else below.spec.priority
    priority = min(max(task.spec.priority, least), most)
    task = replace(task, spec=replace(task.spec, priority=priority))
    rank = _between(
        above.rank if above is not None and above.spec.priority == priority else None,
        below.rank if below is not None and below.spec.priority == priority else None,
        task.rank,
    )
    if rank is not None:
        return (replace(task, rank=rank),)
    return _spread([*others[:to], task, *others[to:]], priority)


def describe_move(before: QueuedTask, tasks: Sequence[QueuedTask]) -> str:
    """Describe a task's new place in the queue.

    ``before`` is the task as it was.
    """
    queue = [task for task in sort_tasks(tasks) if task.state not in ENDED]
    at = _place(queue, before.id)
    task = queue[at]
    place = "first" if at == 0 else "last" if at == len(queue) - 1 else f"number {at + 1} of {len(queue)}"
    if task.spec.priority == before.spec.priority:
        return f"{quote_task(task)} is {place} now."
    word = PRIORITIES[task.spec.priority]
    return f"{quote_task(task)} is {place} now; that makes its priority “{word}”, like that of the task beside it."


def _place(queue: Sequence[QueuedTask], task_id: str) -> int:
    for at, task in enumerate(queue):
        if task.id == task_id:
            return at
    raise BadInput(f"There is no task {task_id} in the queue that could be moved.", where="id")


def _target(queue: Sequence[QueuedTask], at: int, where: QueuePlace, before: str | None) -> int:
    """Return the index among the other tasks."""
    task, last = queue[at], len(queue) - 1
    if where is QueuePlace.BEFORE:
        if before is None or before == task.id:
            raise BadInput(f"Name another task that {quote_task(task)} shall come before.", where="before")
        other = _place(queue, before)
        to = other - 1 if other > at else other
        if to == at:
            raise BadInput(f"{quote_task(task)} comes right before {quote_task(queue[other])} already.", where="before")
        return to
    to = {QueuePlace.FIRST: 0, QueuePlace.LAST: last, QueuePlace.UP: at - 1, QueuePlace.DOWN: at + 1}[where]
    if to == at or not 0 <= to <= last:
        end = "first" if to <= 0 and where in {QueuePlace.FIRST, QueuePlace.UP} else "last"
        raise BadInput(f"{quote_task(task)} is {end} already.", where="place")
    return to


def _between(above: int | None, below: int | None, own: int) -> int | None:
    """Return a rank between two others, or ``None`` without room.

    The task's own rank stays if it fits.
    """
    if (above is None or above < own) and (below is None or own < below):
        return own
    if above is None:
        return None if below is None else below - SPACE
    if below is None:
        return above + SPACE
    return (above + below) // 2 if below - above > 1 else None


def _spread(queue: Sequence[QueuedTask], priority: int) -> tuple[QueuedTask, ...]:
    """Return the tasks of that priority in this order, with evenly spaced ranks."""
    same = [task for task in queue if task.spec.priority == priority]
    first = min(task.rank for task in same)
    return tuple(replace(task, rank=first + place * SPACE) for place, task in enumerate(same))
