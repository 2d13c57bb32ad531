"""The queue in SQL does what the queue in memory does, which selects with ``tasks.ready``: in lock-step, on anything."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contracts.stores import Kind, new_database
from tests.examples import examples
from tests.factories.tasks import later, new_task
from tests.fakes.memory_tasks import MemoryTasks

from fateforger.adapters.store.store import open_store
from fateforger.errors import BadInput
from fateforger.tasks.ports import Tasks
from fateforger.tasks.task import QueuedTask, TaskState

PICK = st.integers(0, 30)
NEW = st.lists(st.tuples(st.integers(0, 4), st.lists(PICK, max_size=2)), min_size=1, max_size=6)
STATES = st.sampled_from([state for state in TaskState if state is not TaskState.RUNNING])
DEED = st.one_of(
    st.tuples(st.just("add"), NEW),
    st.tuples(st.just("claim"), PICK, st.booleans()),
    st.tuples(st.just("claim"), PICK, st.just(value=False)),
    st.tuples(st.just("settle"), PICK, STATES),
    st.tuples(st.just("change"), PICK, STATES),
    st.tuples(st.just("rank"), PICK, st.integers(-3, 3), st.integers(0, 4)),
    st.tuples(st.just("extend"), PICK),
    st.tuples(st.just("take back"), st.integers(0, 2)),
)


class QueueClient:
    """Does deeds to one queue. Tasks are named by their number, for their ids are not the same in both. Executors bear
    the name of the user, so that what one example claimed is not taken back by another."""

    def __init__(self, tasks: Tasks, user: str) -> None:
        self._tasks, self._user = tasks, user
        self._ids: list[str] = []
        self._claims: list[QueuedTask] = []

    async def do(self, number: int, deed: Sequence[Any]) -> object:
        """Do one step and return the part of its answer that is the same in every queue."""
        now = later(number * 4)
        match deed:
            case ("add", new):
                specs = [
                    new_task(f"t{len(self._ids) + n}", priority=p, after=tuple({self._id(m) for m in after} - {""}))
                    for n, (p, after) in enumerate(new)
                ]
                added = await self._tasks.add(self._user, specs, cause=f"c{number}", now=now)
                self._ids += [task.id for task in added]
                return [self._plain(task) for task in added]
            case ("claim", pick, named):
                task_id = self._id(pick) if named else None
                executor = f"{self._user}-{pick % 3}"
                found = await self._tasks.claim(self._user, executor, now=now, lease_seconds=10, task_id=task_id)
                self._claims += [] if found is None else [found]
                return self._plain(found)
            case ("settle", pick, state) if self._claims:
                claim = self._claims[pick % len(self._claims)]
                return await self._try(lambda: self._tasks.settle(claim, to(state), now=now))
            case ("extend", pick) if self._claims:
                claim = self._claims[pick % len(self._claims)]
                return self._plain(await self._tasks.extend(claim, now=now, lease_seconds=10))
            case ("change", pick, state):
                return await self._try(lambda: self._tasks.change(self._user, self._id(pick), to(state), now=now))
            case ("rank", pick, rank, priority):
                return await self._try(
                    lambda: self._tasks.change(self._user, self._id(pick), place_at(rank, priority, number), now=now)
                )
            case ("take back", which):
                return await self._tasks.take_back(f"{self._user}-{which}", now=now)
        return None

    async def looks(self) -> object:
        return [self._plain(task) for task in await self._tasks.of(self._user, ended=True)]

    async def _try(self, call: Callable[[], Any]) -> object:
        try:
            return self._plain(await call())
        except BadInput as error:
            return error.message

    def _id(self, pick: int) -> str:
        return self._ids[pick % len(self._ids)] if self._ids else ""

    def _plain(self, task: QueuedTask | None) -> object:
        if task is None:
            return None
        after = tuple(sorted(self._ids.index(name) for name in task.blocked_by))
        return task.model_copy(update={"id": "", "blocked_by": after})


def to(state: TaskState) -> Callable[[QueuedTask], QueuedTask]:
    return lambda task: task.model_copy(update={"state": state})


def place_at(rank: int, priority: int, number: int) -> Callable[[QueuedTask], QueuedTask]:
    """Return a change that puts a task before all others or behind them, with a rank that no other task has or gets.

    Ids, which decide between two of one rank, are not the same in both queues. A new task has the highest rank and one
    more, or the time in microseconds.
    """

    def change(task: QueuedTask) -> QueuedTask:
        spec = task.spec.model_copy(update={"priority": priority})
        return task.model_copy(update={"spec": spec, "rank": rank * 10**17 + number * 1000})

    return change


@pytest.mark.parametrize("kind", ["file", "postgres"])
def test_sql_selects_as_the_pure_queue_does(request: pytest.FixtureRequest, tmp_path: Path, kind: Kind) -> None:
    """S157-S161"""
    with new_database(kind, request, tmp_path) as where, asyncio.Runner() as runner:
        store = open_store(where)
        users = iter(range(10**6))
        claims = [0]

        @examples(60 if kind == "file" else 25)
        @given(first=NEW, deeds=st.lists(DEED, min_size=5, max_size=25))
        def agree(first: list[Any], deeds: list[Sequence[Any]]) -> None:
            runner.run(both([("add", first), *deeds]))

        async def both(deeds: list[Sequence[Any]]) -> None:
            user = f"U{next(users)}"
            sql, memory = QueueClient(store.tasks, user), QueueClient(MemoryTasks(), user)
            for number, deed in enumerate(deeds):
                answer = await sql.do(number, deed)
                assert answer == await memory.do(number, deed), deed
                claims[0] += deed[0] == "claim" and answer is not None
            assert await sql.looks() == await memory.looks()

        agree()
        runner.run(store.aclose())
        assert claims[0] > 5
