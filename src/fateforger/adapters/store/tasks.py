"""People's queues of tasks, in SQL."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection, delete, func, select

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.task_rows import (
    ALL,
    BLOCKER,
    BY_CAUSE,
    CLAIMED_BY,
    MINE,
    NAMED,
    NEXT,
    ONE,
    OPEN,
    TASK,
    WAITING,
    find_tasks,
    insert_tasks,
    update_task,
)
from fateforger.errors import BadInput
from fateforger.ports import Change, NewTask, Rearrangement
from fateforger.tasks import (
    QueuedTask,
    apply_change,
    as_of,
    check_blockers,
    claim_task,
    enter_tasks,
    extend_claim,
    holds_claim,
    new_task_id,
    release_claim,
)

_IDS = select(TASK.c.id).where(MINE)
_HIGHEST = select(func.max(TASK.c.rank)).where(MINE)
_UNBLOCK_ALL = delete(BLOCKER).where(BLOCKER.c.task_id.in_(_IDS))
_FORGET = delete(TASK).where(MINE)


class SqlTasks:
    """Implements :class:`fateforger.ports.Tasks` over a :class:`Database`.

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
