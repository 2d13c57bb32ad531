"""Another place in the queue (S167). Pure.

The order is that of priorities first, so a task that is put among tasks of another priority takes that priority on: it
then is where the person wants it, and the sentence about it says what that came to.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from fateforger.errors import BadInput
from fateforger.tasks.model import ENDED, QueuedTask
from fateforger.tasks.queue import in_order
from fateforger.tasks.words import PRIORITIES, quoted

SPACE = 1_000_000
"""Between ranks that are given anew: a second."""


class Where(StrEnum):
    """A place in the queue: its ends, one place up or down, or before another task."""

    FIRST = "first"
    LAST = "last"
    UP = "up"
    DOWN = "down"
    BEFORE = "before"


def moved(
    tasks: Sequence[QueuedTask], task_id: str, where: Where, *, before: str | None = None
) -> tuple[QueuedTask, ...]:
    """Those of ``tasks`` (all of the person's that have not ended) that become something else. Raises
    :class:`BadInput` when the task has no place, or is there already."""
    queue = [task for task in in_order(tasks) if task.state not in ENDED]
    at = _place(queue, task_id)
    to = _target(queue, at, where, before)
    task, others = queue[at], [*queue[:at], *queue[at + 1 :]]
    above = others[to - 1] if to else None
    below = others[to] if to < len(others) else None
    least = 0 if above is None else above.spec.priority
    most = max(PRIORITIES) if below is None else below.spec.priority
    priority = min(max(task.spec.priority, least), most)
    task = task.model_copy(update={"spec": task.spec.model_copy(update={"priority": priority})})
    rank = _between(
        above.rank if above is not None and above.spec.priority == priority else None,
        below.rank if below is not None and below.spec.priority == priority else None,
        task.rank,
    )
    if rank is not None:
        return (task.model_copy(update={"rank": rank}),)
    return _spread([*others[:to], task, *others[to:]], priority)


def moved_words(before: QueuedTask, tasks: Sequence[QueuedTask]) -> str:
    """Where a task stands now in the queue, in a sentence. ``before`` is the task as it was."""
    queue = [task for task in in_order(tasks) if task.state not in ENDED]
    at = _place(queue, before.id)
    task = queue[at]
    place = "first" if at == 0 else "last" if at == len(queue) - 1 else f"number {at + 1} of {len(queue)}"
    if task.spec.priority == before.spec.priority:
        return f"{quoted(task)} is {place} now."
    word = PRIORITIES[task.spec.priority]
    return f"{quoted(task)} is {place} now; that makes its priority “{word}”, like that of the task beside it."


def _place(queue: Sequence[QueuedTask], task_id: str) -> int:
    for at, task in enumerate(queue):
        if task.id == task_id:
            return at
    raise BadInput(f"There is no task {task_id} in the queue that could be moved.", where="id")


def _target(queue: Sequence[QueuedTask], at: int, where: Where, before: str | None) -> int:
    """The place among the others."""
    task, last = queue[at], len(queue) - 1
    if where is Where.BEFORE:
        if before is None or before == task.id:
            raise BadInput(f"Name another task that {quoted(task)} shall come before.", where="before")
        other = _place(queue, before)
        to = other - 1 if other > at else other
        if to == at:
            raise BadInput(f"{quoted(task)} comes right before {quoted(queue[other])} already.", where="before")
        return to
    to = {Where.FIRST: 0, Where.LAST: last, Where.UP: at - 1, Where.DOWN: at + 1}[where]
    if to == at or not 0 <= to <= last:
        end = "first" if to <= 0 and where in {Where.FIRST, Where.UP} else "last"
        raise BadInput(f"{quoted(task)} is {end} already.", where="place")
    return to


def _between(above: int | None, below: int | None, own: int) -> int | None:
    """A rank there, ``None`` where there is no room. One that fits already stays."""
    if (above is None or above < own) and (below is None or own < below):
        return own
    if above is None:
        return None if below is None else below - SPACE
    if below is None:
        return above + SPACE
    return (above + below) // 2 if below - above > 1 else None


def _spread(queue: Sequence[QueuedTask], priority: int) -> tuple[QueuedTask, ...]:
    """The tasks of that priority, in this order, with room between them."""
    same = [task for task in queue if task.spec.priority == priority]
    first = min(task.rank for task in same)
    return tuple(task.model_copy(update={"rank": first + place * SPACE}) for place, task in enumerate(same))
