"""The queues of tasks, in SQL."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    Connection,
    Index,
    Row,
    Select,
    Text,
    UniqueConstraint,
    bindparam,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlmodel import Field

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.documents import TASK_VERSION, expect_version, parse
from fateforger.adapters.store.tables import Base, Instant, table
from fateforger.errors import BadInput
from fateforger.tasks.ports import Change, Rearrangement
from fateforger.tasks.queue import NewTask, check_blockers, enter_tasks
from fateforger.tasks.task import ENDED, QueuedTask, TaskState, new_task_id
from fateforger.tasks.transitions import (
    apply_change,
    as_of,
    claim_task,
    extend_claim,
    holds_claim,
    release_claim,
)


class TaskRow(Base, table=True):
    """A task of a person's queue.

    The searched columns (person, state, place in the queue, claim) repeat the text; ``cause`` and ``place`` are only
    here.
    """

    __tablename__ = "task"
    __table_args__ = (
        Index("ix_task_queue", "user_id", "state", "priority", "rank"),
        Index("ix_task_state", "state", "executor"),
        UniqueConstraint("user_id", "cause", "place"),
    )

    id: str = Field(primary_key=True, sa_type=Text)
    user_id: str = Field(sa_type=Text)
    cause: str = Field(sa_type=Text)
    place: int
    state: str = Field(sa_type=Text)
    priority: int
    rank: int = Field(sa_type=BigInteger)
    executor: str | None = Field(default=None, sa_type=Text)
    leased_until: datetime | None = Field(default=None, sa_type=Instant)
    schema_version: int
    task: str = Field(sa_type=Text)


class TaskBlocker(Base, table=True):
    """A task that waits until another one is done."""

    __tablename__ = "task_blocker"

    task_id: str = Field(primary_key=True, foreign_key="task.id", sa_type=Text)
    blocker_id: str = Field(primary_key=True, foreign_key="task.id", sa_type=Text)


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


_IDS = select(TASK.c.id).where(MINE)
_HIGHEST = select(func.max(TASK.c.rank)).where(MINE)
_UNBLOCK_ALL = delete(BLOCKER).where(BLOCKER.c.task_id.in_(_IDS))
_FORGET = delete(TASK).where(MINE)


class SqlTasks:
    """Implements :class:`fateforger.tasks.ports.Tasks` over a :class:`Database`.

    Writes to one person's queue are serialized across processes.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, user_id: str, tasks: Sequence[NewTask], *, cause: str, now: datetime) -> tuple[QueuedTask, ...]:
        if not tasks:
            return ()
        new = tuple(tasks)
        return await self._database.write_alone(
            _build_lock_key(user_id), lambda connection: _add(connection, user_id, new, cause, now)
        )

    async def of(self, user_id: str, *, ended: bool = False) -> tuple[QueuedTask, ...]:
        query = ALL if ended else OPEN
        return await self._database.read(lambda connection: find_tasks(connection, query, of_user=user_id))

    async def get(self, user_id: str, task_id: str) -> QueuedTask | None:
        return await self._database.read(lambda connection: _get(connection, user_id, task_id))

    async def claim(
        self, user_id: str, executor: str, *, now: datetime, lease_seconds: float, task_id: str | None = None
    ) -> QueuedTask | None:
        until = now + timedelta(seconds=lease_seconds)

        def work(connection: Connection) -> QueuedTask | None:
            query, named = (NEXT, {}) if task_id is None else (NAMED, {"of_id": task_id})
            for task in find_tasks(connection, query, of_user=user_id, now=now, **named):
                return _overwrite(connection, task, claim_task(as_of(task, now), executor, now=now, until=until))
            return None

        return await self._database.write_alone(_build_lock_key(user_id), work)

    async def extend(self, task: QueuedTask, *, now: datetime, lease_seconds: float) -> QueuedTask | None:
        until = now + timedelta(seconds=lease_seconds)

        def work(connection: Connection) -> QueuedTask | None:
            there = _get(connection, task.user_id, task.id)
            if there is None or not holds_claim(task, there):
                return None
            return _overwrite(connection, there, extend_claim(there, now=now, until=until))

        return await self._database.write_alone(_build_lock_key(task.user_id), work)

    async def settle(self, task: QueuedTask, change: Change, *, now: datetime) -> QueuedTask | None:
        def work(connection: Connection) -> QueuedTask | None:
            there = _get(connection, task.user_id, task.id)
            if there is None or not holds_claim(task, there):
                return None
            return _change(connection, there, change(there), now)

        return await self._database.write_alone(_build_lock_key(task.user_id), work)

    async def change(self, user_id: str, task_id: str, change: Change, *, now: datetime) -> QueuedTask | None:
        def work(connection: Connection) -> QueuedTask | None:
            there = _get(connection, user_id, task_id)
            return None if there is None else _change(connection, there, change(there), now)

        return await self._database.write_alone(_build_lock_key(user_id), work)

    async def rearrange(self, user_id: str, change: Rearrangement, *, now: datetime) -> tuple[QueuedTask, ...]:
        def work(connection: Connection) -> tuple[QueuedTask, ...]:
            there = {task.id: task for task in find_tasks(connection, OPEN, of_user=user_id)}
            for after in change(tuple(there.values())):
                _change(connection, there[after.id], after, now)
            return find_tasks(connection, OPEN, of_user=user_id)

        return await self._database.write_alone(_build_lock_key(user_id), work)

    async def waiting(self) -> tuple[QueuedTask, ...]:
        return await self._database.read(lambda connection: find_tasks(connection, WAITING))

    async def take_back(self, executor: str, *, now: datetime) -> int:
        held = await self._database.read(lambda connection: find_tasks(connection, CLAIMED_BY, of_executor=executor))
        return sum([await self._take_back(task, now) for task in held])

    async def _take_back(self, task: QueuedTask, now: datetime) -> bool:
        def work(connection: Connection) -> bool:
            there = _get(connection, task.user_id, task.id)
            if there is None or not holds_claim(task, there):
                return False
            update_task(connection, there, release_claim(there, now=now))
            return True

        return await self._database.write_alone(_build_lock_key(task.user_id), work)

    async def forget(self, user_id: str) -> int:
        def work(connection: Connection) -> int:
            connection.execute(_UNBLOCK_ALL, {"of_user": user_id})
            return connection.execute(_FORGET, {"of_user": user_id}).rowcount

        count = await self._database.write_alone(_build_lock_key(user_id), work)
        await self._database.scrub()
        return count


def _build_lock_key(user_id: str) -> str:
    return f"tasks of {user_id}"


def _get(connection: Connection, user_id: str, task_id: str) -> QueuedTask | None:
    return next(iter(find_tasks(connection, ONE, of_user=user_id, of_id=task_id)), None)


def _add(
    connection: Connection, user_id: str, new: tuple[NewTask, ...], cause: str, now: datetime
) -> tuple[QueuedTask, ...]:
    before = find_tasks(connection, BY_CAUSE, of_user=user_id, of_cause=cause)
    if before:
        return before
    mine = {"of_user": user_id}
    tasks = enter_tasks(
        new,
        _new_ids(connection, len(new)),
        user_id=user_id,
        there=frozenset(connection.execute(_IDS, mine).scalars()),
        highest=connection.execute(_HIGHEST, mine).scalar() or 0,
        now=now,
    )
    insert_tasks(connection, tasks, cause)
    return tasks


def _new_ids(connection: Connection, count: int) -> tuple[str, ...]:
    """Return unused ids. If another transaction takes one of them first, this transaction is repeated."""
    ids: dict[str, None] = {}
    while len(ids) < count:
        drawn = [new_task_id(secrets.choice) for _ in range(count - len(ids))]
        taken = frozenset(connection.execute(select(TASK.c.id).where(TASK.c.id.in_(drawn))).scalars())
        ids |= dict.fromkeys(name for name in drawn if name not in taken)
    return tuple(ids)


def _change(connection: Connection, before: QueuedTask, after: QueuedTask, now: datetime) -> QueuedTask:
    task = apply_change(before, after, now=now)
    if task.blocked_by != before.blocked_by:
        everything = {t.id: t.blocked_by for t in find_tasks(connection, ALL, of_user=task.user_id)}
        if not everything.keys() >= {*task.blocked_by}:
            raise BadInput("It would wait for a task that is not in this queue.", where="blocked_by")
        check_blockers(everything | {task.id: task.blocked_by})
    return _overwrite(connection, before, task)


def _overwrite(connection: Connection, before: QueuedTask, after: QueuedTask) -> QueuedTask:
    if after is not before:
        update_task(connection, before, after)
    return after
