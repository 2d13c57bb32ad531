"""A create that Google carries out after it was given up, and after its transaction was taken back (P4)."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from tests.factories.days import CalendarHarness, at, block, plan_of
from tests.fakes.google_calendar import Answer
from tests.fakes.memory_journal import MemoryJournal

from fateforger.calendar.event import Marker, OwnedId
from fateforger.calendar.ports import Create, Unknown
from fateforger.errors import NotUndoable

FIRST = plan_of(block("a", "08:00"))
PLAN = plan_of(block("a", "09:00"), block("b", "10:00"), block("c", "11:00"))
ANOTHER_DAY = plan_of(block("x", "09:00"), day=date(2026, 3, 9))
REMOVED = "“b” and “c” reached your calendar late, after you had taken them back. I removed them."


@pytest.fixture
def world() -> CalendarHarness:
    return CalendarHarness(MemoryJournal())


async def given_up(world: CalendarHarness) -> str:
    """Apply a plan of which two creates are not answered; return its transaction."""
    await world.submitter().submit_plan(FIRST, cause="0")
    for nth in range(8):
        world.calendar.inject(Answer(Unknown("no answer")), verb="create", nth=nth)
    result = await world.submitter().submit_plan(PLAN, cause="1")
    assert result.status == "partial"
    assert result.transaction is not None
    world.calendar.calm()
    return result.transaction.id


async def arrive(world: CalendarHarness, transaction_id: str) -> None:
    """Let Google carry out what it was asked to do."""
    transaction = await world.journal.get(transaction_id)
    assert transaction is not None
    for op in (r.op for r in transaction.records if r.op.verb == "create"):
        assert op.after is not None
        marker = Marker(key=op.key, generation=op.generation, day=transaction.day, op_id=op.op_id)
        await world.calendar.write(Create(OwnedId(op.event_id), op.after, marker))
    world.time.instant += timedelta(seconds=45)


def titles(world: CalendarHarness) -> list[str]:
    return [shown[0] for shown in world.list_own_events()]


async def taken_back(world: CalendarHarness) -> str:
    """Submit a plan of which a part arrives only after its undo; return its transaction."""
    transaction_id = await given_up(world)
    assert (await world.submitter().undo_last(cause="2")).status == "undone"
    await arrive(world, transaction_id)
    assert titles(world) == ["a", "b", "c"]
    return transaction_id


async def test_the_next_undo_removes_them_and_no_more(world: CalendarHarness) -> None:
    """P4, K13: it says what it did; the undo after it takes back the write before."""
    transaction_id = await taken_back(world)
    assert await world.submitter().late() == (
        f"{REMOVED.removesuffix(' I removed them.')} The next apply or undo removes what you have not changed.",
    )
    result = await world.submitter().undo_last(cause="3")
    assert (result.status, result.sentences) == (
        "undone",
        ("Taken back: I removed 2 blocks from your calendar.", REMOVED),
    )
    assert (titles(world), await world.submitter().late()) == (["a"], ())
    with pytest.raises(NotUndoable, match="undone already"):
        await world.submitter().undo_since(transaction_id, cause="4")
    await world.submitter().undo_last(cause="5")
    assert titles(world) == []
    with pytest.raises(NotUndoable, match="nothing to undo"):
        await world.submitter().undo_last(cause="6")


async def test_a_plan_of_another_day_removes_them(world: CalendarHarness) -> None:
    """P4"""
    await taken_back(world)
    result = await world.submitter().submit_plan(ANOTHER_DAY, cause="3")
    assert result.sentences == ("I added 1 block to your calendar.", REMOVED)
    assert titles(world) == ["a", "x"]
    again = await world.submitter().submit_plan(ANOTHER_DAY, cause="4")
    assert (again.status, again.sentences) == ("unchanged", ("Your calendar is already up to date.",))


async def test_the_same_plan_again_is_whole_and_can_be_taken_back(world: CalendarHarness) -> None:
    """P3, P4"""
    await taken_back(world)
    result = await world.submitter().submit_plan(PLAN, cause="3")
    assert (result.status, result.created, titles(world)) == ("changed", 2, ["a", "b", "c"])
    await world.submitter().undo_last(cause="4")
    assert titles(world) == ["a"]


async def test_what_the_person_changed_stays(world: CalendarHarness) -> None:
    """P7: the event is theirs from then on; one note says so."""
    await taken_back(world)
    (mine,) = [e for e in world.store.get_live_events().values() if e.summary == "b"]
    world.store.user_edit(mine.id, start=at("20:00"), end=at("21:00"))
    result = await world.submitter().undo_last(cause="3")
    assert result.sentences[1:] == (
        "“c” reached your calendar late, after you had taken it back. I removed it.",
        "“b” reached your calendar late, after you had taken it back. You changed it, so I left it to you.",
    )
    assert world.store.get_live_events()[mine.id].start == at("20:00")
    assert await world.submitter().late() == ()
    await world.submitter().undo_last(cause="4")
    assert titles(world) == ["b"]


async def test_what_arrives_before_the_undo_goes_with_it(world: CalendarHarness) -> None:
    """K13, P4"""
    transaction_id = await given_up(world)
    await arrive(world, transaction_id)
    assert await world.submitter().late() == ()
    result = await world.submitter().undo_last(cause="2")
    assert (result.deleted, titles(world)) == (2, ["a"])


async def test_done_again_it_is_whole(world: CalendarHarness) -> None:
    """P6b: the redo of the undo brings back what had arrived late, too, and it goes with the next undo."""
    await taken_back(world)
    undo = await world.journal.by_cause(world.calendar.key, "2")
    assert undo is not None
    await world.submitter().submit_plan(ANOTHER_DAY, cause="3")
    await world.submitter().undo_since(undo.id, cause="4")
    assert titles(world) == ["a", "b", "c", "x"]
    await world.submitter().undo_since((await world.journal.history(world.calendar.key))[-2].id, cause="5")
    assert titles(world) == ["a", "x"]


async def test_what_came_to_nothing_goes_when_what_took_its_place_was_undone(world: CalendarHarness) -> None:
    """P4: a plan of which nothing arrived is not undone itself."""
    await world.submitter().submit_plan(FIRST, cause="0")
    for nth in range(8):
        world.calendar.inject(Answer(Unknown("no answer")), verb="create", nth=nth)
    plan = plan_of(block("a", "08:00"), block("b", "10:00"), block("c", "11:00"))
    result = await world.submitter().submit_plan(plan, cause="1")
    assert result.transaction is not None
    assert not result.transaction.undoable
    world.calendar.calm()
    await world.submitter().submit_plan(plan, cause="2")
    assert titles(world) == ["a", "b", "c"]
    await world.submitter().undo_last(cause="3")
    assert (titles(world), await world.submitter().late()) == (["a"], ())
    await arrive(world, result.transaction.id)
    assert titles(world) == ["a", "b", "c"]
    result = await world.submitter().undo_last(cause="4")
    assert REMOVED in result.sentences
    assert (titles(world), await world.submitter().late()) == (["a"], ())
