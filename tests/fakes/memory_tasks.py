"""A queue of tasks without a disk."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date, datetime, timedelta
from itertools import count

from fateforger.errors import BadInput
from fateforger.tasks.ports import Change, Rearrangement
from fateforger.tasks.queue import NewTask, check_blockers, enter_tasks, ready_tasks, sort_tasks
from fateforger.tasks.task import ENDED, QueuedTask, TaskState, new_task_id
from fateforger.tasks.transitions import apply_change, as_of, claim_task, extend_claim, holds_claim, release_claim


class MemoryTasks:
    """:class:`fateforger.tasks.ports.Tasks` in a dict. No call gives way to another one, so each is done as a whole."""

    def __init__(self) -> None:
        self._tasks: dict[str, QueuedTask] = {}
        self._causes: dict[tuple[str, str], tuple[str, ...]] = {}
        self._numbers = count(1)

    async def add(self, user_id: str, tasks: Sequence[NewTask], *, cause: str, now: datetime) -> tuple[QueuedTask, ...]:
        if not tasks:
            return ()
        if (user_id, cause) not in self._causes:
            mine = self._of(user_id)
            new = enter_tasks(
                tasks,
                [self._new_id() for _ in tasks],
                user_id=user_id,
                there={task.id for task in mine},
                highest=max((task.rank for task in mine), default=0),
                now=now,
            )
            self._tasks |= {task.id: task for task in new}
            self._causes[user_id, cause] = tuple(task.id for task in new)
        return tuple(self._tasks[name] for name in self._causes[user_id, cause])

    async def of(self, user_id: str, *, ended: bool = False) -> tuple[QueuedTask, ...]:
        return sort_tasks(task for task in self._of(user_id) if ended or task.state not in ENDED)

    async def get(self, user_id: str, task_id: str) -> QueuedTask | None:
        found = self._tasks.get(task_id)
        return found if found is not None and found.user_id == user_id else None

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
        free = ready_tasks([as_of(task, now) for task in self._of(user_id)], today if task_id is None else None)
        for task in free:
            if task_id in {None, task.id}:
                return self._put(claim_task(task, executor, now=now, until=now + timedelta(seconds=lease_seconds)))
        return None

    async def extend(self, task: QueuedTask, *, now: datetime, lease_seconds: float) -> QueuedTask | None:
        there = await self.get(task.user_id, task.id)
        if there is None or not holds_claim(task, there):
            return None
        return self._put(extend_claim(there, now=now, until=now + timedelta(seconds=lease_seconds)))

    async def settle(self, task: QueuedTask, change: Change, *, now: datetime) -> QueuedTask | None:
        there = await self.get(task.user_id, task.id)
        return self._change(there, change(there), now) if there is not None and holds_claim(task, there) else None

    async def change(self, user_id: str, task_id: str, change: Change, *, now: datetime) -> QueuedTask | None:
        there = await self.get(user_id, task_id)
        return None if there is None else self._change(there, change(there), now)

    async def rearrange(self, user_id: str, change: Rearrangement, *, now: datetime) -> tuple[QueuedTask, ...]:
        before = dict(self._tasks)
        try:
            for task in change(await self.of(user_id)):
                self._change(self._tasks[task.id], task, now)
        except BadInput:
            self._tasks = before
            raise
        return await self.of(user_id)

    async def waiting(
        self, *, of: Collection[str] | None = None, after: str = "", limit: int = 100
    ) -> tuple[QueuedTask, ...]:
        found = [task for task in self._tasks.values() if task.state is TaskState.WAITING and task.id > after]
        theirs = [task for task in found if of is None or task.user_id in of]
        return tuple(sorted(theirs, key=lambda task: task.id)[:limit])

    async def take_back(self, executor: str, *, now: datetime) -> int:
        held = [t for t in self._tasks.values() if t.claim is not None and t.claim.executor == executor]
        for task in held:
            self._put(release_claim(task, now=now))
        return len(held)

    def _of(self, user_id: str) -> tuple[QueuedTask, ...]:
        return tuple(task for task in self._tasks.values() if task.user_id == user_id)

    def _put(self, task: QueuedTask) -> QueuedTask:
        self._tasks[task.id] = task
        return task

    def _change(self, before: QueuedTask, after: QueuedTask, now: datetime) -> QueuedTask:
        task = apply_change(before, after, now=now)
        if task.blocked_by != before.blocked_by:
            everything = {t.id: t.blocked_by for t in self._of(task.user_id)}
            if not everything.keys() >= {*task.blocked_by}:
                raise BadInput("It would wait for a task that is not in this queue.", where="blocked_by")
            check_blockers(everything | {task.id: task.blocked_by})
        return self._put(task)

    def _new_id(self) -> str:
        number = next(self._numbers)
        digits = iter([number // 27**place % 27 for place in range(5, -1, -1)])
        return new_task_id(lambda deliveries: deliveries[next(digits)])
