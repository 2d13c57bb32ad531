"""“What do you know about X”: the index finds the words, and the rows come from the store (S27, S95)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.factories.constraints import version_of
from tests.factories.wishes import wish
from tests.factories.words import wants
from tests.fakes.memory_index import MemoryIndex
from tests.fakes.scripted_model import Line, ScriptedModel
from tests.unit.conversation.person import ANNA, Harness, Person, open_harness_at

from fateforger.errors import MemoryUnavailable
from fateforger.memory.ports import Recollection
from fateforger.memory.retrieval import BY_SPELLING, NO_INDEX
from fateforger.ports.model import Prompt
from fateforger.session.memory import MemoryToolResult
from fateforger.workers.lanes import INDEXING
from fateforger.workers.memory import Indexer
from fateforger.workers.supervisor import Repeated

GYM = version_of("gym", user=ANNA, description="gym at seven", name="Gym")
PEANUTS = version_of("peanuts", user=ANNA, description="no peanuts, ever", name="Peanuts")
LATER = "2026-03-01T00:00:00+00:00"


class CountingIndex(MemoryIndex):
    """An index that counts its queries, and hangs on request."""

    def __init__(self) -> None:
        super().__init__()
        self.queries: list[str] = []
        self.hung = False

    async def search(self, user_id: str, text: str, *, limit: int = 10) -> tuple[Recollection, ...]:
        self.queries.append(text)
        if self.hung:
            await asyncio.Event().wait()
        return await super().search(user_id, text, limit=limit)


@pytest.fixture
def index() -> CountingIndex:
    return CountingIndex()


@pytest.fixture
async def harness(tmp_path: Path, index: CountingIndex) -> AsyncIterator[Harness]:
    harness = await open_harness_at(tmp_path)
    harness.index = index
    for version in (GYM, PEANUTS):
        await harness.store.constraints.write([version], cause=version.uid)
        await index.put(version)
    yield harness
    await harness.close()


async def asking(harness: Harness, *queries: str, rows: tuple[int, ...] = ()) -> MemoryToolResult:
    """Return the memory card after a message that a model reads as a search."""

    def say(prompt: Prompt) -> Line:
        listing = wish("memory_list_constraints", *rows, search=list(queries))
        return wants("memory") if prompt.name.startswith("decide") else listing

    harness.model = ScriptedModel(by=say)
    harness.restart()
    person = Person(harness)
    await person.to_tasks()
    await person.says("…")
    view = (await person.session()).thread.memory
    assert view is not None
    return view


def uids(view: MemoryToolResult) -> set[str]:
    return {row.uid for row in view.rows}


async def test_s95_what_the_index_finds_is_shown_once(harness: Harness, index: CountingIndex) -> None:
    view = await asking(harness, "peanuts", "no peanuts ever")
    assert (uids(view), view.total, view.lines) == ({"peanuts"}, 1, ())
    assert index.queries[-2:] == ["peanuts", "no peanuts ever"]


async def test_rows_that_were_named_stay_beside_it(harness: Harness) -> None:
    view = await asking(harness, "peanuts", rows=(1, 2))
    assert uids(view) == {"gym", "peanuts"}


async def test_nothing_is_shown_from_the_index_itself(harness: Harness, index: CountingIndex) -> None:
    """The index may still hold rules that were put away or changed, those of others, and some that never existed."""
    gone = version_of("peanuts", user=ANNA, status="declined", at=LATER)
    changed = version_of("gym", user=ANNA, description="swimming at seven", name="Swimming", at=LATER)
    await harness.store.constraints.write([gone, changed], cause="since then")
    await index.put(version_of("ghost", user=ANNA, description="gym and peanuts"))
    view = await asking(harness, "gym at seven", "peanuts")
    assert [(row.uid, row.words) for row in view.rows] == [("gym", "swimming at seven")]


async def test_nothing_found_shows_everything_and_says_so(harness: Harness) -> None:
    view = await asking(harness, "bicycle")
    assert (uids(view), view.lines) == ({"gym", "peanuts"}, ("I found no rule of yours about “bicycle”.",))


async def test_what_is_only_a_little_similar_is_no_answer(
    harness: Harness, index: CountingIndex, monkeypatch: Any
) -> None:
    """“What do you know about my mornings?” is not answered with a rule about something else."""

    async def search(user_id: str, text: str, *, limit: int = 10) -> tuple[Recollection, ...]:
        return (Recollection("peanuts", 0.3, related=False), Recollection("gym", 0.5))

    monkeypatch.setattr(index, "search", search)
    view = await asking(harness, "my mornings")
    assert (uids(view), view.lines) == ({"gym"}, ())


async def test_while_nothing_is_known_nothing_is_found(tmp_path: Path) -> None:
    """An empty index is not one that is down: its person has no rules yet."""
    harness = await open_harness_at(tmp_path)
    indexing = Indexer(harness.store.constraints, MemoryIndex())
    await indexing.run_once()
    harness.index = indexing
    view = await asking(harness, "mornings")
    assert (uids(view), view.lines) == (set(), ("I found no rule of yours about “mornings”.",))
    await harness.close()


@pytest.mark.parametrize("how", ["none", "down", "hung"])
async def test_without_an_index_spelling_has_to_do(harness: Harness, index: CountingIndex, how: str) -> None:
    """S187: never silently empty."""
    harness.index = None if how == "none" else index
    if how == "hung":
        index.hung, harness.patience = True, 0.5
    index.trouble = MemoryUnavailable("It is down.") if how == "down" else None
    view = await asking(harness, "peanuts")
    assert (uids(view), view.lines) == ({"peanuts"}, (BY_SPELLING,))


async def test_without_an_index_and_similar_words_everything_is_shown(harness: Harness) -> None:
    harness.index = None
    view = await asking(harness, "bicycle")
    assert (uids(view), view.lines) == ({"gym", "peanuts"}, (NO_INDEX,))


async def test_an_index_that_was_not_seen_to_work_is_not_asked(harness: Harness, index: CountingIndex) -> None:
    """Each write here wakes the one that makes it follow."""
    indexing = Indexer(harness.store.constraints, index)
    with pytest.raises(MemoryUnavailable):
        await indexing.search(ANNA, "gym")
    following = Repeated(INDEXING, indexing.run_once, seconds=3_600)
    harness.store.constraints.on_write(following.wake)
    following.start()
    async with asyncio.timeout(60):
        while await harness.store.constraints.list_unindexed():  # noqa: ASYNC110  it announces nothing
            await asyncio.sleep(0.001)
        await harness.store.constraints.write([version_of("tea", user=ANNA, description="tea at four")], cause="tea")
        while (ANNA, "tea") not in index.shown:  # noqa: ASYNC110  the same; sooner than after its idle seconds
            await asyncio.sleep(0.001)
    assert [found.uid for found in await indexing.search(ANNA, "tea at four")][:1] == ["tea"]
    index.trouble = MemoryUnavailable("It is down.")
    with pytest.raises(MemoryUnavailable):
        await indexing.search(ANNA, "gym")
    await following.stop()
