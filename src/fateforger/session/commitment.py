"""Commitments of a plan: the one thing, the end of each big item, and its success criteria (S209).

Pure functions.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from fateforger.drafting.naming import USUAL_DEEP, task_of
from fateforger.session.model import Depth, Session, Task
from fateforger.session.placing import by_time

BIG = 60
"""Minutes of deep work from which a task is a big item."""


class Commitment(NamedTuple):
    """A big item of the plan, and the local time at which its last block ends."""

    task: Task
    by: datetime


def is_big(task: Task) -> bool:
    """Check whether a task needs success criteria: the one thing, and longer deep work."""
    return task.one_thing or (task.depth is Depth.DEEP and (task.minutes or USUAL_DEEP) >= BIG)


def commitments(session: Session) -> tuple[Commitment, ...]:
    """Return the big items that the plan has a place for, the one thing first, then by time."""
    big = {task.id: task for task in session.inputs.tasks if is_big(task)}
    ends: dict[str, datetime] = {}
    for block in by_time(session.plan) if session.plan else ():
        owner = task_of(block.key, big)
        if owner is not None and (owner not in ends or ends[owner].astimezone(UTC) < block.end.astimezone(UTC)):
            ends[owner] = block.end
    kept = (Commitment(big[task_id], end) for task_id, end in ends.items())
    return tuple(sorted(kept, key=lambda each: (not each.task.one_thing, each.by.astimezone(UTC))))


def tasks_without_criteria(session: Session) -> tuple[Task, ...]:
    """Return the big items without success criteria."""
    return tuple(task for task in session.inputs.tasks if is_big(task) and not task.done_when)
