"""The worker that follows the list of what the index lacks, against fakes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from tests.factories.constraints import version_of
from tests.fakes.memory_constraints import MemoryConstraints
from tests.fakes.memory_index import MemoryIndex

from fateforger.errors import MemoryUnavailable, RebuildNeeded
from fateforger.memory.versions import Version, select_newest
from fateforger.values import replace
from fateforger.workers.lanes import Backoff, Timer
from fateforger.workers.memory import Indexer
from fateforger.workers.supervisor import Repeated

FAST = Timer("indexing", seconds=0.01, backoff=Backoff(0.001, 0.005))
DOWN = "The index of constraints cannot be used: it is down."


@asynccontextmanager
async def at_work(
    constraints: MemoryConstraints, memory: MemoryIndex, timer: Timer = FAST
) -> AsyncIterator[tuple[Indexer, Repeated]]:
    indexing = Indexer(constraints, memory, batch=3, look_seconds=0.0)
    rounds = Repeated(timer, indexing.run_once)
    rounds.start()
    try:
        yield indexing, rounds
    finally:
        await rounds.stop()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  fakes announce nothing
            await asyncio.sleep(0.001)


async def remember(constraints: MemoryConstraints, *versions: Version) -> None:
    for number, version in enumerate(versions):
        await constraints.write([version], cause=f"{version.updated_at}-{version.uid}-{number}")


async def agreed(constraints: MemoryConstraints, memory: MemoryIndex) -> bool:
    people = await constraints.people()
    known = {(p, uid): v for p in people for uid, v in select_newest(await constraints.of(p), p).items()}
    return memory.shown == known


@pytest.fixture
def constraints() -> MemoryConstraints:
    return MemoryConstraints()


@pytest.fixture
def memory() -> MemoryIndex:
    return MemoryIndex()


async def test_it_follows_what_is_written(constraints: MemoryConstraints, memory: MemoryIndex) -> None:
    await remember(constraints, *(version_of(f"c{n}", user=f"U{n % 3}") for n in range(10)))
    async with at_work(constraints, memory):
        await until(lambda: len(memory.shown) == 10)
        await remember(constraints, version_of("c1", user="U1", at="2026-05-05T00:00:00+00:00", description="changed"))
        await until(lambda: memory.shown["U1", "c1"].record.description == "changed")
        await constraints.forget("U2")
        await until(lambda: len(memory.shown) == 7)
    assert (await agreed(constraints, memory), await constraints.list_unindexed()) == (True, ())


async def test_it_is_woken(constraints: MemoryConstraints, memory: MemoryIndex) -> None:
    async with at_work(constraints, memory, replace(FAST, seconds=3_600.0)) as (_, rounds):
        await asyncio.sleep(0)
        await remember(constraints, version_of("c"))
        rounds.wake()
        await until(lambda: len(memory.shown) == 1)


async def test_nothing_is_opened_while_there_is_nothing(constraints: MemoryConstraints, memory: MemoryIndex) -> None:
    memory.trouble = MemoryUnavailable(DOWN)
    indexing = Indexer(constraints, memory)
    await indexing.run_once()
    assert (indexing.trouble, indexing.words) == (None, "There is nothing to search yet.")


async def test_an_index_that_is_down_is_tried_again(
    constraints: MemoryConstraints, memory: MemoryIndex, caplog: pytest.LogCaptureFixture
) -> None:
    """S187: it is said, once, and not silently empty."""
    memory.trouble = MemoryUnavailable(DOWN)
    await remember(constraints, version_of("c"))
    async with at_work(constraints, memory) as (indexing, _):
        await until(lambda: indexing.words == DOWN)
        for _ in range(20):
            await asyncio.sleep(0.001)
        memory.trouble = None
        await until(lambda: len(memory.shown) == 1)
        await until(lambda: indexing.words == "It works: a dictionary, local-ngrams-1.")
    assert [record.message for record in caplog.records] == [f"indexing: {DOWN}"]


async def test_a_damaged_index_is_made_anew(constraints: MemoryConstraints, memory: MemoryIndex) -> None:
    await remember(constraints, *(version_of(f"c{n}") for n in range(5)))
    async with at_work(constraints, memory):
        await until(lambda: len(memory.shown) == 5)
        memory.shown["U1", "ghost"] = version_of("ghost")
        memory.trouble = RebuildNeeded("It is damaged.")
        await until(lambda: memory.trouble is None and len(memory.shown) == 5)
    assert await agreed(constraints, memory)


async def test_an_index_that_was_lost_is_made_anew(constraints: MemoryConstraints) -> None:
    await remember(constraints, *(version_of(f"c{n}") for n in range(5)))
    await constraints.mark_indexed(await constraints.list_unindexed())
    memory = MemoryIndex()
    async with at_work(constraints, memory):
        await until(lambda: len(memory.shown) == 5)


class Picky(MemoryIndex):
    """Refuses one constraint."""

    async def put(self, version: Version) -> None:
        if version.uid == "bad":
            raise MemoryUnavailable("I don't like it.")
        await super().put(version)


async def test_one_that_is_refused_holds_nobody_up(constraints: MemoryConstraints) -> None:
    await remember(constraints, version_of("bad"), *(version_of(f"c{n}") for n in range(10)))
    memory = Picky()
    async with at_work(constraints, memory) as (indexing, _):
        await until(lambda: len(memory.shown) == 10)
        await until(lambda: indexing.trouble == "I don't like it.")
    assert [task.uid for task in await constraints.list_unindexed()] == ["bad"]
