"""Convert tasks of a queue to rows and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, delete, exists, insert, or_, select, update

from fateforger.adapters.store.documents import TASK_VERSION, expect_version, parse
from fateforger.adapters.store.tables import TaskBlocker, TaskRow, table
from fateforger.tasks import ENDED, QueuedTask, TaskState

TASK = table(TaskRow)
BLOCKER = table(TaskBlocker)

MINE = TASK.c.user_id == bindparam("of_user")
_THIS = TASK.c.id == bindparam("of_id")
_IN_ORDER = (TASK.c.priority, TASK.c.rank, TASK.c.id)

_first = TASK.alias("first")
_BLOCKED = exists().where(
    BLOCKER.c.task_id == TASK.c.id,
    _first.c.id == BLOCKER.c.blocker_id,
    _first.c.user_id == TASK.c.user_id,
    _first.c.state != TaskState.DONE.value,
)
_READY = (
    select(TASK)
    .where(
        MINE,
        or_(
            TASK.c.state == TaskState.ACTIVE.value,
            (TASK.c.state == TaskState.RUNNING.value) & (TASK.c.leased_until <= bindparam("now")),
        ),
        ~_BLOCKED,
    )
    .order_by(*_IN_ORDER)
    .limit(1)
)
"""In the order of ``tasks.ready``."""

NEXT, NAMED = _READY, _READY.where(_THIS)
ONE = select(TASK).where(MINE, _THIS)
ALL = select(TASK).where(MINE).order_by(*_IN_ORDER)
OPEN = ALL.where(TASK.c.state.not_in([state.value for state in ENDED]))
BY_CAUSE = select(TASK).where(MINE, TASK.c.cause == bindparam("of_cause")).order_by(TASK.c.place)
WAITING = select(TASK).where(TASK.c.state == TaskState.WAITING.value).order_by(TASK.c.user_id, *_IN_ORDER)
CLAIMED_BY = (
    select(TASK)
    .where(TASK.c.state == TaskState.RUNNING.value, TASK.c.executor == bindparam("of_executor"))
    .order_by(TASK.c.user_id, *_IN_ORDER)
)

_UPDATE = update(TASK).where(_THIS)
_INSERT = insert(TASK)
_BLOCK = insert(BLOCKER)
_UNBLOCK = delete(BLOCKER).where(BLOCKER.c.task_id == bindparam("of_id"))


def find_tasks(connection: Connection, query: Select[Any], **values: object) -> tuple[QueuedTask, ...]:
    """Return the tasks that a query over :data:`TASK` finds.

    Raises ``StoreUnavailable`` for one that cannot be read.
    """
    return tuple(_to_task(row) for row in connection.execute(query, values))


def insert_tasks(connection: Connection, tasks: Sequence[QueuedTask], cause: str) -> None:
    """Insert tasks that ``cause`` led to."""
    rows = [{"id": t.id, "cause": cause, "place": place} | _to_values(t) for place, t in enumerate(tasks)]
    connection.execute(_INSERT, rows)
    for task in tasks:
        _insert_blockers(connection, task)


def update_task(connection: Connection, before: QueuedTask, task: QueuedTask) -> None:
    """Write the new state of a task."""
    connection.execute(_UPDATE, {"of_id": task.id} | _to_values(task))
    if task.blocked_by != before.blocked_by:
        connection.execute(_UNBLOCK, {"of_id": task.id})
        _insert_blockers(connection, task)


def _insert_blockers(connection: Connection, task: QueuedTask) -> None:
    if task.blocked_by:
        connection.execute(_BLOCK, [{"task_id": task.id, "blocker_id": first} for first in task.blocked_by])


def _to_values(task: QueuedTask) -> dict[str, Any]:
    return {
        "user_id": task.user_id,
        "state": task.state.value,
        "priority": task.spec.priority,
        "rank": task.rank,
        "executor": None if task.claim is None else task.claim.executor,
        "leased_until": None if task.claim is None else task.claim.until,
        "schema_version": TASK_VERSION,
        "task": task.model_dump_json(),
    }


def _to_task(row: Row[Any]) -> QueuedTask:
    what = f"The task {row.id}"
    expect_version(what, row.schema_version, TASK_VERSION)
    return parse(QueuedTask, row.task, what)
