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
from fateforger.memory.ports import MemoryReport
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


async def is_in_sync(constraints: MemoryConstraints, memory: MemoryIndex) -> bool:
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
        await constraints.erase("U2")
        await until(lambda: len(memory.shown) == 7)
    assert (await is_in_sync(constraints, memory), await constraints.list_unindexed()) == (True, ())


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
    """S187: it is reported, once, and not silently empty."""
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
    assert await is_in_sync(constraints, memory)


async def test_what_the_index_lacks_or_holds_otherwise_is_mended(
    constraints: MemoryConstraints, memory: MemoryIndex, caplog: pytest.LogCaptureFixture
) -> None:
    """S320: a comparison at the start finds it, one note reports it, and the same list repairs it."""
    await remember(constraints, *(version_of(f"c{n}") for n in range(5)))
    await Indexer(constraints, memory).run_once()
    del memory.shown["U1", "c1"]
    memory.shown["U1", "c2"] = version_of("c2", description="something else")
    indexing = Indexer(constraints, memory)
    await indexing.run_once()
    assert (await is_in_sync(constraints, memory), indexing.loss) == (True, None)
    assert [record.message for record in caplog.records] == [
        "the index lacked or contradicted 2 constraints and is mended"
    ]


async def test_what_only_the_index_holds_is_left_alone(constraints: MemoryConstraints, memory: MemoryIndex) -> None:
    """S321: neither the comparison nor a change of the embedder loses what the database lost."""
    memory.shown["U1", "only"] = version_of("only", description="gym")
    indexing = Indexer(constraints, memory)
    await indexing.run_once()
    lost = "Mem0 holds 1 constraint that the database lacks. Run fateforger constraints restore to write back what is lost."
    assert (indexing.loss, indexing.trouble, list(memory.shown)) == (lost, None, [("U1", "only")])
    await remember(constraints, version_of("new"))
    other = SharedIndex(made_with="n-grams", now="meaning")
    other.shown = dict(memory.shown)
    indexing = Indexer(constraints, other)
    with pytest.raises(MemoryUnavailable, match="that the database lacks"):
        await indexing.run_once()
    assert (list(other.shown), other.wipes) == ([("U1", "only")], 0)


async def test_what_was_restored_is_no_longer_said_to_be_lost(
    constraints: MemoryConstraints, memory: MemoryIndex
) -> None:
    memory.shown["U1", "only"] = version_of("only", description="gym")
    indexing = Indexer(constraints, memory, look_seconds=0.0)
    await indexing.run_once()
    assert indexing.loss is not None
    await remember(constraints, version_of("only", description="gym"))
    await indexing.run_once()
    assert indexing.loss is None


async def test_an_index_that_was_lost_is_made_anew(constraints: MemoryConstraints) -> None:
    await remember(constraints, *(version_of(f"c{n}") for n in range(5)))
    await constraints.mark_indexed(await constraints.list_unindexed())
    memory = MemoryIndex()
    async with at_work(constraints, memory):
        await until(lambda: len(memory.shown) == 5)


class SharedIndex(MemoryIndex):
    """An index that several programs share. Made with another embedder, it has to be rebuilt; counts what is put."""

    def __init__(self, *, made_with: str, now: str) -> None:
        super().__init__()
        self.made_with, self.now = made_with, now
        self.puts = self.batches = self.wipes = 0

    async def put(self, *versions: Version) -> None:
        await asyncio.sleep(0)
        self._check()
        self.puts += len(versions)
        self.batches += 1
        await super().put(*versions)

    async def report(self) -> MemoryReport:
        await asyncio.sleep(0)
        self._check()
        return await super().report()

    async def wipe(self) -> None:
        await asyncio.sleep(0)
        self.wipes += 1
        self.made_with = self.now
        await super().wipe()

    def _check(self) -> None:
        if self.made_with != self.now:
            raise RebuildNeeded(f"It was made with {self.made_with}.")


async def test_what_waits_is_indexed_in_batches(constraints: MemoryConstraints) -> None:
    """S171: one call of the embedder for many constraints."""
    memory = SharedIndex(made_with="now", now="now")
    await remember(constraints, *(version_of(f"c{n}") for n in range(10)))
    await Indexer(constraints, memory, batch=5).run_once()
    assert (memory.puts, memory.batches, len(memory.shown)) == (10, 2, 10)


async def test_search_is_refused_until_all_is_embedded_anew(constraints: MemoryConstraints) -> None:
    """Results before that would be incomplete without notice; callers compare spelling instead."""
    memory = SharedIndex(made_with="n-grams", now="meaning")
    await remember(constraints, *(version_of(f"c{n}", description="gym") for n in range(9)))
    await constraints.mark_indexed(await constraints.list_unindexed())
    indexing = Indexer(constraints, memory, batch=3, look_seconds=0.0)
    refused = []

    async def put(*versions: Version) -> None:
        with pytest.raises(MemoryUnavailable) as error:
            await indexing.search("U1", "gym")
        refused.append(str(error.value))
        await SharedIndex.put(memory, *versions)

    memory.put = put  # type: ignore[method-assign]  # the same, seen from inside
    await indexing.run_once()
    assert (refused, len(await indexing.search("U1", "gym"))) == (["It was made with n-grams."] * 3, 9)


async def test_a_program_that_died_while_embedding_goes_on(constraints: MemoryConstraints) -> None:
    """The next one sees an index of its own embedder, but does not take it for complete."""
    memory = SharedIndex(made_with="n-grams", now="meaning")
    await remember(constraints, *(version_of(f"c{n}", description="gym") for n in range(9)))
    await constraints.mark_indexed(await constraints.list_unindexed())
    dying = Indexer(constraints, memory, batch=3)

    async def put(*versions: Version) -> None:
        if len(memory.shown) >= 6:
            raise asyncio.CancelledError
        await SharedIndex.put(memory, *versions)

    memory.put = put  # type: ignore[method-assign]  # it dies in the middle
    with pytest.raises(asyncio.CancelledError):
        await dying.run_once()
    del memory.put
    assert (len(memory.shown), memory.wipes) == (6, 1)
    second = Indexer(constraints, memory, batch=3)
    with pytest.raises(MemoryUnavailable):
        await second.search("U1", "gym")
    await second.run_once()
    assert (len(await second.search("U1", "gym")), memory.wipes, memory.puts) == (9, 1, 9)


async def test_programs_that_share_an_index_do_not_all_embed_everything(constraints: MemoryConstraints) -> None:
    """One of them does; the others find their first batch done, and leave the rest alone."""
    memory = SharedIndex(made_with="meaning", now="meaning")
    await remember(constraints, *(version_of(f"c{n}", description="gym") for n in range(60)))
    programs = [Indexer(constraints, memory, batch=5, look_seconds=0.0) for _ in range(3)]
    await asyncio.gather(*(each.run_once() for each in programs))
    assert len(memory.shown) == 60
    assert memory.puts <= 60 + 2 * 5
    for each in programs:
        await each.run_once()
    assert {len(await each.search("U1", "gym", limit=100)) for each in programs} == {60}


async def test_what_another_program_has_begun_to_build_is_not_emptied_again(constraints: MemoryConstraints) -> None:
    """Both saw that it was made with another embedder; the one that comes second looks again before it begins."""
    memory = SharedIndex(made_with="n-grams", now="meaning")
    await remember(constraints, *(version_of(f"c{n}", description="gym") for n in range(9)))
    first, second = (Indexer(constraints, memory, batch=3, look_seconds=0.0) for _ in range(2))
    seen, done = asyncio.Event(), asyncio.Event()
    report = memory.report

    async def look() -> MemoryReport:
        """Give the second program its report only after the first is done."""
        try:
            return await report()
        except RebuildNeeded:
            if asyncio.current_task() is slow and not seen.is_set():
                seen.set()
                await done.wait()
            raise

    memory.report = look  # type: ignore[method-assign]  # the same, in an order
    slow = asyncio.create_task(second.run_once())
    await seen.wait()
    await first.run_once()
    done.set()
    await slow
    assert (memory.wipes, len(memory.shown), memory.puts) == (1, 9, 9)


async def test_nothing_is_lost_if_two_programs_empty_the_index_one_after_the_other(
    constraints: MemoryConstraints,
) -> None:
    """S295: the second one decided to before the first had indexed everything and taken it off the list."""
    memory = SharedIndex(made_with="n-grams", now="meaning")
    await remember(constraints, *(version_of(f"c{n}", description="gym") for n in range(9)))
    first, second = (Indexer(constraints, memory, batch=3, look_seconds=0.0) for _ in range(2))
    decided, done = asyncio.Event(), asyncio.Event()
    wipe = memory.wipe

    async def late() -> None:
        if asyncio.current_task() is slow:
            decided.set()
            await done.wait()
        await wipe()

    memory.wipe = late  # type: ignore[method-assign]  # the same, in an order
    slow = asyncio.create_task(second.run_once())
    await decided.wait()
    await first.run_once()
    assert len(memory.shown) == 9
    done.set()
    await slow
    assert (memory.wipes, len(memory.shown)) == (2, 9)
    assert {len(await each.search("U1", "gym", limit=100)) for each in (first, second)} == {9}


class PickyIndex(MemoryIndex):
    """Refuses one constraint."""

    async def put(self, *versions: Version) -> None:
        if any(version.uid == "bad" for version in versions):
            raise MemoryUnavailable("I don't like it.")
        await super().put(*versions)


async def test_one_that_is_refused_holds_nobody_up(constraints: MemoryConstraints) -> None:
    await remember(constraints, version_of("bad"), *(version_of(f"c{n}") for n in range(10)))
    memory = PickyIndex()
    async with at_work(constraints, memory) as (indexing, _):
        await until(lambda: len(memory.shown) == 10)
        await until(lambda: indexing.trouble == "I don't like it.")
    assert [task.uid for task in await constraints.list_unindexed()] == ["bad"]
