"""Identify musts, map block keys to tasks, and determine task lengths."""

from __future__ import annotations

from collections.abc import Iterable

from fateforger.drafting.ground import DraftContext
from fateforger.drafting.instance import Task
from fateforger.plan import ET

USUAL_DEEP = 60
USUAL_SHALLOW = 30
LUNCH = "lunch"
SHUTDOWN = "shutdown"


def must_ids(ground: DraftContext) -> tuple[str, ...]:
    """Return the ids of all musts: rules, then required tasks, then pinned blocks."""
    rules = (rule.id for rule in ground.rules if rule.must)
    tasks = (task.id for task in ground.instance.tasks if task.required)
    return (*rules, *tasks, *(pin.key for pin in ground.instance.pinned))


def minutes_of(task: Task, block: int) -> int:
    """Return the length of a task: its minutes, its blocks, or the usual length (S106)."""
    if task.minutes is not None:
        return task.minutes
    if task.blocks is not None:
        return task.blocks * block
    return USUAL_DEEP if task.type is ET.DEEP_WORK else USUAL_SHALLOW


def is_shutdown(key: str) -> bool:
    """Check whether a key or an id is that of the shutdown."""
    return key.startswith(f"{SHUTDOWN}-")


def task_of(key: str, tasks: Iterable[str]) -> str | None:
    """Return the task that a block key belongs to, or ``None``.

    A key is the task's id, optionally with the number of the piece.
    """
    ids = set(tasks)
    if key in ids:
        return key
    stem, _, number = key.rpartition("-")
    return stem if stem in ids and number.isdigit() else None
