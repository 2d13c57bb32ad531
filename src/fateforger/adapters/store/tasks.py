"""The queues of tasks and the observed lengths of tasks, in SQL."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Sequence
from datetime import date, datetime, timedelta
from typing import TypeVar

from sqlalchemy import (
    BigInteger,
    Boolean,
    ColumnElement,
    Connection,
    Index,
    Text,
    UniqueConstraint,
    delete,
    exists,
    func,
    literal_column,
    or_,
)
from sqlmodel import Field, select
from sqlmodel.sql.expression import SelectOfScalar

from fateforger.adapters.store.database import OnDatabase
from fateforger.adapters.store.homes import build_reachable, mark_home
from fateforger.adapters.store.tables import (
    TASK_VERSION,
    Base,
    Instant,
    build_partial_index,
    expect_version,
    find_rows,
    open_rows,
    parse,
    table,
)
from fateforger.errors import BadInput
from fateforger.tasks.durations import Observation
from fateforger.tasks.ports import MOST_OBSERVATIONS, Change, Rearrangement
from fateforger.tasks.queue import NewTask, check_blockers, enter_tasks, is_for_later
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
        build_partial_index("ix_task_waiting", "id", "user_id", where="state = 'waiting'"),
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
    __table_args__ = (Index("ix_task_blocker_blocker", "blocker_id"),)

    task_id: str = Field(primary_key=True, foreign_key="task.id", sa_type=Text)
    blocker_id: str = Field(primary_key=True, foreign_key="task.id", sa_type=Text)


T = TypeVar("T")
TASK = table(TaskRow)
BLOCKER = table(TaskBlocker)

_IN_ORDER = (TASK.c.priority, TASK.c.rank, TASK.c.id)
_IS_WAITING = literal_column("(state = 'waiting')", Boolean)
_IS_OPEN = TASK.c.state.not_in([state.value for state in ENDED])


class SqlTasks(OnDatabase):
    """Implements :class:`fateforger.tasks.ports.Tasks` over a :class:`Database`.

    Writes to one person's queue are serialized across processes.
    """

    async def add(self, user_id: str, tasks: Sequence[NewTask], *, cause: str, now: datetime) -> tuple[QueuedTask, ...]:
        if not tasks:
            return ()
        new = tuple(tasks)
        return await self._write(user_id, lambda connection: _add(connection, user_id, new, cause, now))

    async def of(self, user_id: str, *, ended: bool = False) -> tuple[QueuedTask, ...]:
        conditions = () if ended else (_IS_OPEN,)
        return await self._database.read(lambda connection: _find(connection, user_id, *conditions))

    async def get(self, user_id: str, task_id: str) -> QueuedTask | None:
        return await self._database.read(lambda connection: _get(connection, user_id, task_id))

    async def claim(
        self,
        user_id: str,
        executor: str,
        *,
        now: datetime,
        lease_seconds: float,
        task_id: str | None = None,
        today: date | None = None,
    ) -> QueuedTask | None:
        until = now + timedelta(seconds=lease_seconds)

        def work(connection: Connection) -> QueuedTask | None:
            named = () if task_id is None else (TASK.c.id == task_id,)
            ready = _find(connection, user_id, *_is_ready(now), *named, limit=1 if today is None else None)
            task = next((task for task in ready if task_id is not None or not is_for_later(task, today)), None)
            if task is None:
                return None
            return _overwrite(connection, task, claim_task(as_of(task, now), executor, now=now, until=until))

        return await self._write(user_id, work)

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

        return await self._write(task.user_id, work)

    async def change(self, user_id: str, task_id: str, change: Change, *, now: datetime) -> QueuedTask | None:
        def work(connection: Connection) -> QueuedTask | None:
            there = _get(connection, user_id, task_id)
            return None if there is None else _change(connection, there, change(there), now)

        return await self._write(user_id, work)

    async def rearrange(self, user_id: str, change: Rearrangement, *, now: datetime) -> tuple[QueuedTask, ...]:
        def work(connection: Connection) -> tuple[QueuedTask, ...]:
            there = {task.id: task for task in _find(connection, user_id, _IS_OPEN)}
            for after in change(tuple(there.values())):
                _change(connection, there[after.id], after, now)
            return _find(connection, user_id, _IS_OPEN)

        return await self._write(user_id, work)

    async def waiting(
        self, *, of: Collection[str] | None = None, after: str = "", limit: int = 100
    ) -> tuple[QueuedTask, ...]:
        query = select(TaskRow).where(_IS_WAITING, TASK.c.id > after)
        query = query if of is None else query.where(TASK.c.user_id.in_(of))
        query = query.order_by(TASK.c.id).limit(limit)
        return await self._database.read(
            lambda connection: _read(connection, query.where(*build_reachable(connection, TASK.c.user_id)))
        )

    async def take_back(self, executor: str, *, now: datetime) -> int:
        claimed = TASK.c.executor == executor
        held = await self._database.read(lambda connection: _find_in_state(connection, TaskState.RUNNING, claimed))
        return sum([await self._take_back(task, now) for task in held])

    async def _take_back(self, task: QueuedTask, now: datetime) -> bool:
        def work(connection: Connection) -> bool:
            there = _get(connection, task.user_id, task.id)
            if there is None or not holds_claim(task, there):
                return False
            _overwrite(connection, there, release_claim(there, now=now))
            return True

        return await self._write(task.user_id, work)

    async def _write(self, user_id: str, work: Callable[[Connection], T]) -> T:
        """Change a person's queue, which App Home shows."""

        def write(connection: Connection) -> T:
            result = work(connection)
            mark_home(connection, user_id)
            return result

        return await self._database.write_alone(_build_lock_key(user_id), write)


def _build_lock_key(user_id: str) -> str:
    return f"tasks of {user_id}"


def _find(
    connection: Connection, user_id: str, *conditions: ColumnElement[bool], limit: int | None = None
) -> tuple[QueuedTask, ...]:
    """Return a person's tasks in their order. Raises ``StoreUnavailable`` for one that cannot be read."""
    query = select(TaskRow).where(TASK.c.user_id == user_id, *conditions).order_by(*_IN_ORDER).limit(limit)
    return _read(connection, query)


def _find_in_state(
    connection: Connection, state: TaskState, *conditions: ColumnElement[bool]
) -> tuple[QueuedTask, ...]:
    """Return everyone's tasks in a state."""
    query = select(TaskRow).where(TASK.c.state == state.value, *conditions)
    return _read(connection, query.order_by(TASK.c.user_id, *_IN_ORDER))


def _read(connection: Connection, query: SelectOfScalar[TaskRow]) -> tuple[QueuedTask, ...]:
    return tuple(map(_to_task, find_rows(connection, query)))


def _get(connection: Connection, user_id: str, task_id: str) -> QueuedTask | None:
    return next(iter(_find(connection, user_id, TASK.c.id == task_id)), None)


def _is_ready(now: datetime) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions that a task can be claimed; its order is that of ``tasks.ready``."""
    first = TASK.alias("first")
    is_blocked = exists().where(
        BLOCKER.c.task_id == TASK.c.id,
        first.c.id == BLOCKER.c.blocker_id,
        first.c.user_id == TASK.c.user_id,
        first.c.state != TaskState.DONE.value,
    )
    has_expired = (TASK.c.state == TaskState.RUNNING.value) & (TASK.c.leased_until <= now)
    return or_(TASK.c.state == TaskState.ACTIVE.value, has_expired), ~is_blocked


def _add(
    connection: Connection, user_id: str, new: tuple[NewTask, ...], cause: str, now: datetime
) -> tuple[QueuedTask, ...]:
    written = select(TaskRow).where(TASK.c.user_id == user_id, TASK.c.cause == cause).order_by(TASK.c.place)
    if before := _read(connection, written):
        return before
    theirs = TASK.c.user_id == user_id
    tasks = enter_tasks(
        new,
        _new_ids(connection, len(new)),
        user_id=user_id,
        there=frozenset(connection.execute(select(TASK.c.id).where(theirs)).scalars()),
        highest=connection.execute(select(func.max(TASK.c.rank)).where(theirs)).scalar() or 0,
        now=now,
    )
    with open_rows(connection) as rows:
        rows.add_all(_to_row(task, cause, place) for place, task in enumerate(tasks))
        rows.flush()  # the rows below refer to them
        rows.add_all(TaskBlocker(task_id=task.id, blocker_id=first) for task in tasks for first in task.blocked_by)
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
        everything = {t.id: t.blocked_by for t in _find(connection, task.user_id)}
        if not everything.keys() >= {*task.blocked_by}:
            raise BadInput("It would wait for a task that is not in this queue.", where="blocked_by")
        check_blockers(everything | {task.id: task.blocked_by})
    return _overwrite(connection, before, task)


def _overwrite(connection: Connection, before: QueuedTask, after: QueuedTask) -> QueuedTask:
    if after is before:
        return after
    with open_rows(connection) as rows:
        row = rows.get_one(TaskRow, after.id)
        rows.merge(_to_row(after, row.cause, row.place))
        if after.blocked_by != before.blocked_by:
            connection.execute(delete(BLOCKER).where(BLOCKER.c.task_id == after.id))
            rows.add_all(TaskBlocker(task_id=after.id, blocker_id=first) for first in after.blocked_by)
    return after


def _to_row(task: QueuedTask, cause: str, place: int) -> TaskRow:
    return TaskRow(
        id=task.id,
        user_id=task.user_id,
        cause=cause,
        place=place,
        state=task.state.value,
        priority=task.spec.priority,
        rank=task.rank,
        executor=None if task.claim is None else task.claim.executor,
        leased_until=None if task.claim is None else task.claim.until,
        schema_version=TASK_VERSION,
        task=task.model_dump_json(),
    )


def _to_task(row: TaskRow) -> QueuedTask:
    what = f"The task {row.id}"
    expect_version(what, row.schema_version, TASK_VERSION)
    return parse(QueuedTask, row.task, what)


class DurationRow(Base, table=True):
    """An observed length of a task."""

    __tablename__ = "task_duration"

    user_id: str = Field(primary_key=True, sa_type=Text)
    id: str = Field(primary_key=True, sa_type=Text)
    title: str = Field(sa_type=Text)
    deep: bool
    planned: int
    actual: int
    day: date
    source: str = Field(sa_type=Text)


DURATION = table(DurationRow)


class SqlDurations(OnDatabase):
    """Implements :class:`fateforger.tasks.ports.Durations` over a :class:`Database`."""

    async def of(self, user_id: str) -> tuple[Observation, ...]:
        latest = (DURATION.c.day.desc(), DURATION.c.id.desc())
        query = select(DurationRow).where(DURATION.c.user_id == user_id).order_by(*latest).limit(MOST_OBSERVATIONS)
        rows = await self._database.read(lambda connection: find_rows(connection, query))
        return tuple(Observation.model_validate(row.model_dump(exclude={"user_id"})) for row in reversed(rows))

    async def keep(self, user_id: str, observations: Sequence[Observation], *, gone: Sequence[str] = ()) -> None:
        kept, dropped = tuple(observations), tuple(gone)
        if kept or dropped:
            await self._database.write(lambda connection: _keep_durations(connection, user_id, kept, dropped))


def _keep_durations(connection: Connection, user_id: str, kept: tuple[Observation, ...], gone: tuple[str, ...]) -> None:
    if gone:
        connection.execute(delete(DURATION).where(DURATION.c.user_id == user_id, DURATION.c.id.in_(gone)))
    with open_rows(connection) as rows:
        for each in kept:
            rows.merge(DurationRow(user_id=user_id, **each.model_dump()))
    mark_home(connection, user_id)
