"""Rules from the store, looked up for each turn: in time, shared, and never blocking (S4, S7, S14-S21, S100, S102)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from tests.factories.constraints import version_of
from tests.fakes.manual_clock import ManualClock
from tests.fakes.memory_constraints import MemoryConstraints
from tests.fakes.memory_index import MemoryIndex
from tests.unit.conversation.person import MORNING, Harness
from tests.unit.conversation.rules import CALLS, QUIET, RULES
from tests.unit.conversation.sessions import plan_session

from fateforger.conversation.memory_service import KEPT_FOR, TOO_LONG, ConstraintRetriever, MemoryService
from fateforger.conversation.turn_values import MemoryReading, with_memory
from fateforger.errors import ConstraintUnreadable, MemoryUnavailable, StoreUnavailable
from fateforger.memory.versions import Version
from fateforger.session.commands.rules import ShowMemory
from fateforger.session.commands.thread import TimeboxingUserReply
from fateforger.session.model import Session
from fateforger.session.recall import MOST_NAMED, nameable_constraints
from fateforger.session.stages import TimeboxingStage
from fateforger.values import replace

REFINE = plan_session(TimeboxingStage.REFINE)


class GatedConstraints(MemoryConstraints):
    """Counts its reads, and waits for ``open`` before it answers one."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0
        self.fault: Exception | None = None
        self.open = asyncio.Event()
        self.open.set()

    async def of(self, user_id: str) -> tuple[Version, ...]:
        self.reads += 1
        await self.open.wait()
        if self.fault is not None:
            raise self.fault
        return await super().of(user_id)


@asynccontextmanager
async def retrieving(
    *versions: Version, seconds: float = 30
) -> AsyncIterator[tuple[ConstraintRetriever, GatedConstraints]]:
    constraints = GatedConstraints()
    for number, version in enumerate(versions):
        await constraints.write([version], cause=f"c{number}")
    retriever = ConstraintRetriever(constraints, ManualClock(), seconds=seconds)
    yield retriever, constraints
    await retriever.aclose()


def uids(reading: MemoryReading) -> list[str]:
    assert reading.recalled is not None
    return [version.uid for version in reading.recalled.versions]


async def test_it_gives_what_applies_and_what_may_later() -> None:
    """S172: the stage and the day say what is asked for, fields filter, the rest is ranked into its budget."""
    async with retrieving(*RULES, version_of("theirs", user="U2"), version_of("sundays", days_of_week=["SU"])) as (
        at,
        _,
    ):
        reading = await at.retrieve(REFINE)
    assert sorted(uids(reading)) == ["calls", "deep", "lunch", "quiet"]
    assert (reading.error, reading.versions) == (None, ())
    assert reading.recalled is not None
    assert (reading.recalled.day, reading.recalled.stage, reading.recalled.at) == (REFINE.date, REFINE.stage, MORNING)


async def test_the_newest_version_of_each_and_each_once() -> None:
    """S20."""
    newer = version_of("quiet", at="2026-02-02T09:00:00+00:00", name="Quieter mornings")
    async with retrieving(QUIET, newer, CALLS) as (at, _):
        reading = await at.retrieve(REFINE, whole=True)
    assert reading.recalled is not None
    assert [v.record.name for v in reading.recalled.versions if v.uid == "quiet"] == ["Quieter mornings"]
    assert len(reading.versions) == 3


async def test_what_an_earlier_try_of_the_same_command_wrote_is_left_out() -> None:
    async with retrieving(CALLS, QUIET) as (at, _):
        quiet = next(v for v in (await at.retrieve(REFINE, whole=True)).versions if v.uid == "quiet")
        assert uids(await at.retrieve(REFINE, but={quiet.seq})) == ["calls"]


async def test_s102_what_was_begun_is_shared() -> None:
    """A read begun at the start serves the first turn, and a slow one is not begun twice."""
    async with retrieving(QUIET) as (at, constraints):
        constraints.open.clear()
        at.begin("U1")
        at.begin("U1")
        both = [asyncio.create_task(at.retrieve(REFINE)) for _ in range(2)]
        await asyncio.sleep(0)
        constraints.open.set()
        assert [uids(reading) for reading in await asyncio.gather(*both)] == [["quiet"], ["quiet"]]
        assert constraints.reads == 1


async def test_s4_a_store_that_hangs_makes_nobody_wait() -> None:
    """The turn goes on with nothing, and later with what was known last; it says so each time."""
    async with retrieving(QUIET, seconds=0.5) as (at, constraints):
        constraints.open.clear()
        assert await at.retrieve(REFINE) == MemoryReading(error=TOO_LONG)
        constraints.open.set()
        assert uids(await at.retrieve(REFINE)) == ["quiet"]
        constraints.open.clear()
        late = await at.retrieve(REFINE)
        assert (uids(late), late.error) == (["quiet"], TOO_LONG)


async def test_s392_what_was_read_long_ago_is_not_used_while_the_store_hangs() -> None:
    """Another program may have written since, which this one does not know."""
    constraints, clock = GatedConstraints(), ManualClock()
    await constraints.write([QUIET], cause="c0")
    retriever = ConstraintRetriever(constraints, clock, seconds=0.2)
    assert (await retriever.retrieve(REFINE)).error is None
    constraints.open.clear()
    clock.at += KEPT_FOR / 2
    assert (await retriever.retrieve(REFINE, whole=True)).versions != ()
    clock.at += KEPT_FOR
    late = await retriever.retrieve(REFINE, whole=True)
    assert (late.versions, late.error) == ((), TOO_LONG)
    await retriever.aclose()


async def test_s7_after_a_write_what_was_read_before_counts_no_more() -> None:
    async with retrieving(QUIET, seconds=0.5) as (at, constraints):
        assert uids(await at.retrieve(REFINE)) == ["quiet"]
        await constraints.write([CALLS], cause="c9")
        constraints.open.clear()
        at.refresh_after_write("U1")
        assert (await at.retrieve(REFINE)).recalled is None
        constraints.open.set()
        assert sorted(uids(await at.retrieve(REFINE))) == ["calls", "quiet"]
        assert constraints.reads == 2


async def test_s21_a_store_that_is_down_leaves_what_was_recalled() -> None:
    async with retrieving(QUIET) as (at, constraints):
        before = with_memory(REFINE, await at.retrieve(REFINE), MORNING)
        constraints.fault = StoreUnavailable("The database is locked.")
        reading = await at.retrieve(before)
        after = with_memory(before, reading, MORNING)
    assert before.rules.recalled is not None
    assert after.rules.recalled == before.rules.recalled.model_copy(update={"trouble": "The database is locked."})


async def test_a_damaged_constraint_does_not_take_the_others_with_it() -> None:
    async with retrieving(QUIET) as (at, constraints):
        constraints.fault = ConstraintUnreadable("One rule is damaged.", names={"calls": "Calls"})
        reading = await at.retrieve(REFINE)
    assert (uids(reading), reading.error) == (["quiet"], "One rule is damaged.")


@pytest.mark.parametrize("known", [True, False])
async def test_what_was_said_is_dropped_once_the_store_shows_it(*, known: bool) -> None:
    """S2: until then, and for what is of this conversation only, the session has it."""
    here = version_of("here", scope="session", session="s1")
    now: Session = REFINE.with_rules(said=(QUIET, here))
    async with retrieving(*((QUIET,) if known else ())) as (at, _):
        reading = await at.retrieve(now)
    assert reading.said == ((here,) if known else (QUIET, here))


async def test_closing_ends_what_is_under_way() -> None:
    async with retrieving(QUIET, seconds=0.1) as (at, constraints):
        constraints.open.clear()
        await at.retrieve(REFINE)
        await at.aclose()
    assert constraints.reads == 1


# --- what a message may be about ---


def reply(text: str) -> TimeboxingUserReply:
    return TimeboxingUserReply(command_id="c1", user_id="U1", at=MORNING, session_id="s1", text=text)


async def fill_index(harness: Harness, count: int) -> tuple[MemoryService, MemoryIndex]:
    """Return a person with that many wishes and one rule about lunch, all of them in the index."""
    constraints, index = MemoryConstraints(), MemoryIndex()
    wishes = [version_of(f"w{n:03}", necessity="prefer", description=f"wish {n}") for n in range(count)]
    rows = [version_of("lunch", necessity="prefer", description="lunch outside, at the canal"), *wishes]
    for version in await constraints.write(rows, cause="c0"):
        await index.put(version)
    return MemoryService(constraints, harness.store.jobs, harness.clock, index=index), index


async def test_of_too_many_rules_those_near_to_the_message_are_shown_first(harness: Harness) -> None:
    """The index ranks what a model gets to see, and decides nothing else (K5)."""
    queue_person, _ = await fill_index(harness, 150)
    reading = await queue_person.look(REFINE, reply("what do you know about lunch at the canal?"))
    listed = nameable_constraints(with_memory(REFINE, reading, MORNING), reading.versions)
    assert (reading.near[0], listed[0].uid, len(listed)) == ("lunch", "lunch", MOST_NAMED)
    without = nameable_constraints(with_memory(REFINE, replace(reading, near=()), MORNING), reading.versions)
    assert [version.uid for version in without] != [version.uid for version in listed]
    await queue_person.aclose()


async def test_a_click_searches_nothing(harness: Harness) -> None:
    queue_person, _ = await fill_index(harness, 20)
    click = ShowMemory(command_id="c1", user_id="U1", at=MORNING, session_id="s1")
    assert (await queue_person.look(REFINE, click)).near == ()
    await queue_person.aclose()


async def test_while_the_index_is_away_rules_are_compared_by_spelling(harness: Harness) -> None:
    queue_person, index = await fill_index(harness, 150)
    index.trouble = MemoryUnavailable("The index is damaged.")
    reading = await queue_person.look(REFINE, reply("lunch at the canal"))
    assert (reading.near[0], reading.error, len(reading.versions)) == ("lunch", None, 151)
    await queue_person.aclose()
