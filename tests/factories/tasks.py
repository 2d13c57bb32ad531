"""Tasks for tests."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

from fateforger.planning.task_details import BestTime, BoxItem, TaskDetails, TaskKind, Travel
from fateforger.tasks.queue import NewTask
from fateforger.tasks.task import Origin, QueuedTask, TaskSpec, TaskState

DEEP = TaskDetails()
SHALLOW = TaskDetails(kind=TaskKind.SHALLOW)
DETAILED = TaskDetails(
    kind=TaskKind.ERRAND,
    at=time(14),
    due_day=date(2026, 3, 6),
    due_time=time(16),
    from_day=date(2026, 3, 2),
    from_time=time(13),
    best=BestTime.AFTER_LUNCH,
    people=("Ann", "Bob"),
    travel=Travel(place="Dr. Ray", minutes=20),
    splittable=True,
    items=(BoxItem(title="Card"), BoxItem(title="X-ray")),
)
"""The details that each form and message has to give; priority and order come from the queue."""
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def later(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def new_task(
    title: str,
    *,
    priority: int = 2,
    key: str = "",
    after: tuple[str, ...] = (),
    state: str = "active",
) -> NewTask:
    """Return a task to add; ``after`` are keys or ids."""
    return NewTask(
        TaskSpec(title=title, priority=priority),
        Origin(door="cli"),
        key=key,
        blocked_by=after,
        state=TaskState(state),
    )


def task(
    name: str, *, priority: int = 2, rank: int = 0, state: str = "active", after: tuple[str, ...] = ()
) -> QueuedTask:
    """Return a task in the queue of U1; its id is its title."""
    return QueuedTask(
        id=name,
        user_id="U1",
        spec=TaskSpec(title=name, priority=priority),
        origin=Origin(door="cli"),
        created_at=NOON,
        changed_at=NOON,
        rank=rank,
        state=TaskState(state),
        blocked_by=after,
    )
