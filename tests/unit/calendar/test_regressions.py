"""Defects of a peer, each a test of its own. The journal is the one in SQL, so a restart is a real one."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from datetime import date, timedelta
from pathlib import Path

import pytest
from tests.factories.days import DAY, CalendarHarness, at, block, plan_of
from tests.fakes.google_calendar import Answer, GoogleCalendarFake, LateWrite, Race
from tests.fakes.memory_journal import MemoryJournal

from fateforger.adapters.store.store import open_store
from fateforger.calendar.adoption import adopt_changes
from fateforger.calendar.conflicts import Choices
from fateforger.calendar.event import EventImage
from fateforger.calendar.history import build_rows
from fateforger.calendar.ports import Rejected, Unauthorized, Unknown
from fateforger.calendar.submitter import CalendarSubmitter
from fateforger.calendar.transactions import OpState
from fateforger.errors import CalendarUnreachable, NotUndoable
from fateforger.planning.plan import ET, TBPlan
from fateforger.planning.wire import read_plan

DAY_PLAN = plan_of(block("a", "09:00", notes="bring the red folder"), block("b", "10:00"), block("c", "11:00"))
B, C = block("b", "12:00"), block("c", "16:00")
ALONG = "This also took back later writes: {} made from the command line."


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[CalendarHarness]:
    store = open_store(tmp_path / "state.db")
    yield CalendarHarness(store.journal)
    await store.aclose()


def event(world: CalendarHarness, key: str) -> EventImage:
    found = [e for e in world.store.events.values() if e.marker is not None and e.marker.key == key and not e.gone]
    assert len(found) == 1
    return found[0]


def read_starts(world: CalendarHarness) -> dict[str, object]:
    """Return the starts of our live events, by title."""
    return {e.summary: e.start for e in world.store.get_live_events().values()}


def without(plan: TBPlan, key: str) -> TBPlan:
    return plan.replace(e for e in plan.events if e.key != key)


async def test_s229_notes_survive_everything(world: CalendarHarness) -> None:
    """S229: read, compared, updated and undone, with notes on every block."""
    submitter = world.submitter()
    await submitter.submit_plan(DAY_PLAN, cause="1")
    assert (await submitter.submit_plan(DAY_PLAN, cause="2")).status == "unchanged"
    moved = plan_of(block("a", "08:00", notes="bring the red folder"), *DAY_PLAN.events[1:])
    await submitter.submit_plan(moved, cause="3")
    assert event(world, "a").description == "bring the red folder"
    await submitter.undo_last(cause="4")
    assert (event(world, "a").description, event(world, "a").start) == ("bring the red folder", at("09:00"))


async def test_s229_notes_of_a_deleted_block_come_back(world: CalendarHarness) -> None:
    """S229"""
    submitter = world.submitter()
    await submitter.submit_plan(DAY_PLAN, cause="1")
    await submitter.submit_plan(without(DAY_PLAN, "a"), cause="2")
    await submitter.undo_last(cause="3")
    assert event(world, "a").description == "bring the red folder"


async def test_a_calendar_that_rewrites_text_causes_no_writes(world: CalendarHarness) -> None:
    """S82, P5: what the calendar makes of our text is not the person's doing, and not undone as such."""
    world.store.normalize = lambda f: f.model_copy(update={"description": f"<p>{f.description}</p>"})
    submitter = world.submitter()
    await submitter.submit_plan(DAY_PLAN, cause="1")
    writes = len(world.calendar.writes)
    assert (await submitter.submit_plan(DAY_PLAN, cause="2")).sentences == ("Your calendar is already up to date.",)
    assert len(world.calendar.writes) == writes
    await submitter.undo_last(cause="3")
    assert world.list_own_events() == []


async def test_s230_a_night_is_written_and_kept(world: CalendarHarness) -> None:
    """S230: across midnight, and across the change of the clock."""
    day = date(2026, 3, 28)
    night = read_plan(
        {
            "date": day.isoformat(),
            "tz": "Europe/Berlin",
            "events": [{"n": "Sleep", "t": "H", "p": {"a": "fw", "st": "23:00", "et": "07:00"}}],
        }
    )
    submitter = world.submitter()
    await submitter.submit_plan(night, cause="1")
    (sleep,) = world.store.get_live_events().values()
    assert (sleep.start, sleep.end) == (at("23:00", day), at("07:00", day + timedelta(days=1)))
    assert sleep.end - sleep.start == timedelta(hours=7)
    assert (await submitter.submit_plan(night, cause="2")).status == "unchanged"
    tomorrow = await submitter.read(day + timedelta(days=1), "Europe/Berlin")
    assert [e.summary for e in tomorrow[0].events] == ["Sleep"]


async def test_s230_a_meeting_after_midnight_is_seen(world: CalendarHarness) -> None:
    """S230: the day goes on for as long as its blocks do."""
    after_midnight = at("00:30", DAY + timedelta(days=1))
    world.store.user_create("Launch", start=after_midnight, end=after_midnight + timedelta(minutes=30))
    result = await world.submitter().submit_plan(plan_of(block("late", "23:00", 180)), cause="1")
    assert result.plan.warnings == ("“late”, 23:00–02:00, overlaps “Launch”, 00:30–01:00.",)


async def test_s230_yesterdays_night_is_not_todays_to_touch(world: CalendarHarness) -> None:
    """S230: it is seen on the next day, but belongs to the plan of the day before."""
    submitter = world.submitter()
    late = block("late", "23:00", 180, kind=ET.HABIT)
    await submitter.submit_plan(plan_of(late), cause="1")
    tomorrow = DAY + timedelta(days=1)
    await submitter.submit_plan(plan_of(block("n", "09:00"), day=tomorrow), cause="2")
    await submitter.submit_plan(plan_of(day=tomorrow), cause="3")
    assert [e.summary for e in world.store.get_live_events().values()] == ["late"]


async def test_s231_days_when_the_clock_changes(world: CalendarHarness) -> None:
    """S231: instants, with the length that was asked for."""
    submitter = world.submitter()
    for cause, day in enumerate((date(2026, 3, 29), date(2026, 10, 25))):
        await submitter.submit_plan(plan_of(block(f"n{cause}", "01:30", 120), day=day), cause=str(cause))
    lengths = [e.end - e.start for e in world.store.get_live_events().values()]
    assert lengths == [timedelta(hours=2)] * 2


async def test_s236_undo_after_a_halted_submit(world: CalendarHarness) -> None:
    """S236, S87: one op is refused for good, the rest is kept, and all of it can be undone."""
    submitter = world.submitter()
    world.calendar.inject(Answer(Rejected("Forbidden.")), verb="create", nth=1)
    result = await submitter.submit_plan(DAY_PLAN, cause="1")
    assert (result.status, result.created) == ("partial", 2)
    assert result.transaction is not None
    assert [r.error for r in result.transaction.records if r.state is OpState.FAILED] == ["Forbidden."]
    assert (await submitter.undo_last(cause="2")).status == "undone"
    assert world.list_own_events() == []


async def test_s83_nothing_is_deleted_after_a_failure(world: CalendarHarness) -> None:
    """S83"""
    submitter = world.submitter()
    await submitter.submit_plan(DAY_PLAN, cause="1")
    world.calendar.inject(Answer(Rejected("Forbidden.")), verb="create")
    result = await submitter.submit_plan(plan_of(*DAY_PLAN.events[:2], block("d", "15:00", name="Zoo")), cause="2")
    assert (result.status, result.deleted) == ("partial", 0)
    assert event(world, "c").summary == "c"
    assert "did not remove “c”" in " ".join(result.sentences)


async def test_s237_s238_submit_undo_submit(world: CalendarHarness) -> None:
    """S237, S238: the same plan again, under ids that were never used."""
    submitter = world.submitter()
    for n in range(4):
        assert (await submitter.submit_plan(DAY_PLAN, cause=f"s{n}")).status == "changed"
        view = world.list_own_events()
        await submitter.undo_last(cause=f"u{n}")
        assert world.list_own_events() == []
    created = [c.event_id for c in world.calendar.writes if c.verb == "create"]
    assert len(created) == len(set(created)) == 12
    assert len(view) == 3
    assert all(c.applied for c in world.calendar.writes)


async def test_s237_a_lost_database_meets_used_ids(tmp_path: Path) -> None:
    """S237: ids that an older database used up are answered with the next generation, within one submit."""
    first = open_store(tmp_path / "old.db")
    world = CalendarHarness(first.journal)
    await world.submitter().submit_plan(DAY_PLAN, cause="1")
    await world.submitter(owner="x").undo_last(cause="2")
    await first.aclose()
    second = open_store(tmp_path / "new.db")
    world = CalendarHarness(second.journal, world.calendar, ids=itertools.count(100))
    result = await world.submitter().submit_plan(DAY_PLAN, cause="1")
    assert (result.status, result.created, len(world.list_own_events())) == ("changed", 3, 3)
    assert {e.marker.generation for e in world.store.get_live_events().values() if e.marker} == {1}
    await second.aclose()


async def test_a_lost_database_adopts_what_is_there(tmp_path: Path) -> None:
    """P5, fault "DB lost": live events of the program are recognized by their marks; nothing is deleted or doubled."""
    first = open_store(tmp_path / "old.db")
    world = CalendarHarness(first.journal)
    await world.submitter().submit_plan(DAY_PLAN, cause="1")
    await first.aclose()
    second = open_store(tmp_path / "new.db")
    world = CalendarHarness(second.journal, world.calendar, ids=itertools.count(100))
    before = world.store.get_live_events()
    result = await world.submitter().submit_plan(without(DAY_PLAN, "c"), cause="1")
    assert (result.status, result.created, result.updated, result.deleted) == ("unchanged", 0, 0, 0)
    assert world.store.get_live_events() == before
    changed = plan_of(block("a", "08:00", notes="x"), block("b", "10:00"))
    result = await world.submitter(owner="y").submit_plan(changed, cause="2")
    assert (result.updated, len(world.list_own_events())) == (1, 3)
    await second.aclose()


async def test_s239_undo_keeps_what_the_person_changed(world: CalendarHarness) -> None:
    """S239, P7: the fields that it keeps are named."""
    submitter = world.submitter()
    await submitter.submit_plan(DAY_PLAN, cause="1")
    await submitter.submit_plan(
        plan_of(block("a", "08:00", notes="x"), *DAY_PLAN.events[1:], block("d", "13:00")), cause="2"
    )
    world.store.user_edit(event(world, "a").id, description="my own words")
    world.store.user_edit(event(world, "d").id, summary="Mine now")
    result = await submitter.undo_last(cause="3")
    assert (event(world, "a").start, event(world, "a").description) == (at("09:00"), "my own words")
    assert event(world, "d").summary == "Mine now"
    assert result.status == "undone"
    assert result.sentences[1:] == (
        "I kept what you changed of “a” since: the notes.",
        "I left “d” (now “Mine now”) on your calendar: you changed it since.",
    )


async def test_s239_guests_are_an_edit(world: CalendarHarness) -> None:
    """S239: a block with guests is not deleted, unless it is forced."""
    submitter = world.submitter()
    done = await submitter.submit_plan(plan_of(block("a")), cause="1")
    world.store.user_edit(event(world, "a").id, extras={"attendees": [{"email": "friend@example.com"}]})
    result = await submitter.undo_last(cause="2")
    assert result.sentences[1] == "I left “a” on your calendar: you added guests."
    assert len(world.list_own_events()) == 1
    assert done.transaction is not None
    with pytest.raises(NotUndoable):
        await submitter.undo_since(done.transaction.id, cause="3")


async def test_a_color_that_the_person_took_away_stops_no_undo(world: CalendarHarness) -> None:
    """K12: this calendar cannot take a color away; ours stays, the rest goes back, and then all of it."""
    submitter = world.submitter()
    await submitter.submit_plan(plan_of(block("a")), cause="1")
    world.store.user_edit(event(world, "a").id, color_id=None)
    plan = plan_of(block("a", kind=ET.SHALLOW_WORK), block("b", "11:00"))
    await submitter.submit_plan(plan, cause="2", choices=Choices(otherwise="plan"))
    result = await submitter.undo_last(cause="3")
    assert (result.status, [e.summary for e in world.store.get_live_events().values()]) == ("undone", ["a"])
    assert result.sentences[1].startswith("“a” keeps the color I gave it.")
    assert (await submitter.undo_last(cause="4")).status == "undone"
    assert world.store.get_live_events() == {}


async def test_undo_by_force_removes_edited_blocks(world: CalendarHarness) -> None:
    submitter = world.submitter()
    await submitter.submit_plan(plan_of(block("a")), cause="1")
    world.store.user_edit(event(world, "a").id, summary="Mine now")
    await submitter.undo_last(cause="2", force=True)
    assert world.list_own_events() == []


async def test_s240_after_undo_the_earlier_plan_agrees(world: CalendarHarness) -> None:
    """S240, S90: the plan before is kept with the transaction, and submitting it writes nothing."""
    submitter = world.submitter()
    await submitter.submit_plan(DAY_PLAN, cause="1")
    after = plan_of(block("a", "08:00"), block("d", "14:00"))
    context = {"plan_before": DAY_PLAN.model_dump(mode="json", by_alias=True)}
    done = await submitter.submit_plan(after, cause="2", context=context)
    undone = await submitter.undo_last(cause="3")
    assert undone.transaction is not None
    assert done.transaction is not None
    assert undone.transaction.context == {"undoes": [done.transaction.id]}
    before = read_plan(dict(done.transaction.context["plan_before"]))
    assert before == DAY_PLAN
    assert (await submitter.submit_plan(before, cause="4")).transactions == ()
    ledger = await world.ledger()
    live = {e.id for e in world.store.get_live_events().values()}
    assert {h.event_id for h in ledger.heads if h.standing == "held"} == live


async def test_s241_undo_after_a_restart(tmp_path: Path) -> None:
    """S241, P6c"""
    first = open_store(tmp_path / "state.db")
    world = CalendarHarness(first.journal)
    await world.submitter().submit_plan(DAY_PLAN, cause="1")
    await first.aclose()
    second = open_store(tmp_path / "state.db")
    world = CalendarHarness(second.journal, world.calendar, ids=itertools.count(100))
    assert (await world.submitter().undo_last(cause="2")).status == "undone"
    assert world.list_own_events() == []
    await second.aclose()


async def test_s242_a_moved_block_stays_where_it_was_put(world: CalendarHarness) -> None:
    """S242, P8: with the plan as it was, with another change in the plan, and after the plan took it over."""
    submitter = world.submitter()
    await submitter.submit_plan(DAY_PLAN, cause="1")
    world.store.user_edit(event(world, "b").id, start=at("16:00"), end=at("17:00"))
    result = await submitter.submit_plan(DAY_PLAN, cause="2")
    assert event(world, "b").start == at("16:00")
    assert result.sentences[1] == "You changed “b” on your calendar, so I kept the start at 16:00 and the end at 17:00."
    renamed = plan_of(DAY_PLAN.events[0], block("b", "10:00", name="B!"), DAY_PLAN.events[2])
    await submitter.submit_plan(renamed, cause="3")
    assert (event(world, "b").start, event(world, "b").summary) == (at("16:00"), "B!")
    preview = await submitter.preview(renamed)
    taken_over = adopt_changes(renamed, preview.adopted)
    result = await submitter.submit_plan(taken_over, cause="4")
    assert (result.status, result.sentences) == ("unchanged", ("Your calendar is already up to date.",))
    await submitter.submit_plan(renamed, cause="5")
    assert event(world, "b").start == at("10:00")


async def test_a_deleted_block_stays_deleted(world: CalendarHarness) -> None:
    """P8: until the plan asks for something new, or drops it and asks again."""
    submitter = world.submitter()
    await submitter.submit_plan(DAY_PLAN, cause="1")
    world.store.user_delete(event(world, "b").id)
    for n in range(3):
        result = await submitter.submit_plan(DAY_PLAN, cause=f"2{n}")
        assert result.sentences == (
            "Your calendar is already up to date.",
            "“b” is no longer on your calendar, so it stays off.",
        )
    assert [m[0] for m in world.list_own_events()] == ["a", "c"]
    await submitter.submit_plan(without(DAY_PLAN, "b"), cause="3")
    result = await submitter.submit_plan(DAY_PLAN, cause="4")
    assert (result.created, [m[0] for m in world.list_own_events()]) == (1, ["a", "b", "c"])


async def test_what_half_an_undo_removed_was_not_deleted_by_the_person() -> None:
    """P8: an undo of all kept one block, whose event the person changed at that moment, and removed another. The undo of
    what was written last then finds nothing to do, and what it removed is added again when the plan is written."""
    world = CalendarHarness(MemoryJournal(), GoogleCalendarFake(conditional_write=True))
    submitter = world.submitter()
    await submitter.submit_plan(plan_of(block("a", "08:00"), block("b", "10:00")), cause="1")
    renamed = plan_of(block("a", "08:00", name="A!"), block("b", "10:00"))
    await submitter.submit_plan(renamed, cause="2")
    kept = event(world, "b")
    at_that_moment = Race(lambda: world.store.user_edit(kept.id, properties={**kept.properties, "crm": "1"}))
    world.calendar.inject(at_that_moment, verb="delete")
    assert (await submitter.undo_since("t0", cause="3")).status == "partial"
    await submitter.undo_last(cause="4")
    result = await submitter.submit_plan(renamed, cause="5")
    assert (result.created, result.sentences) == (1, ("I added 1 block to your calendar.",))


async def half_undone(world: CalendarHarness) -> CalendarSubmitter:
    """Return the submitter after an undo of two of three writes that the calendar refused in part: “b” is still there."""
    submitter = world.submitter()
    for n, blocks in enumerate(([block("a", "08:00")], [block("a", "09:00"), B, C], [block("a", "10:00"), B, C])):
        await submitter.submit_plan(plan_of(*blocks), cause=f"submit {n}")
    world.calendar.inject(Answer(Rejected("no")), verb="delete")
    assert (await submitter.undo_since("t1", cause="half")).status == "partial"
    assert read_starts(world) == {"a": at("08:00"), "b": at("12:00")}
    return submitter


async def test_what_half_an_undo_did_is_no_change_of_the_person(world: CalendarHarness) -> None:
    """S512: nothing is said of what it had set back and a later write set again, and the history names each as it is."""
    submitter = await half_undone(world)
    await submitter.submit_plan(plan_of(block("a", "11:00"), B, C), cause="1")
    result = await submitter.undo_since("t1", cause="2")
    assert result.sentences == ("Taken back: I changed 1 block and removed 2 blocks on your calendar.", ALONG.format(2))
    assert read_starts(world) == {"a": at("08:00")}
    rows = build_rows(await submitter.history(DAY))
    assert [row.standing for row in rows] == ["done", "undone", "partly", "undone", "undone", "done"]


async def test_undo_goes_on_with_what_an_undo_left(world: CalendarHarness) -> None:
    """S512: the one without a name, which would otherwise bring the rest back to undo less."""
    submitter = await half_undone(world)
    assert (await submitter.undo_last(cause="1")).sentences == (
        "Taken back: I removed 1 block from your calendar.",
        ALONG.format(1),
    )
    assert read_starts(world) == {"a": at("08:00")}


async def test_undo_of_the_last_write_alone_gives_back_the_one_before_it(world: CalendarHarness) -> None:
    """S512: an undo of both had done half of it; Restore then leads back to that half."""
    submitter = await half_undone(world)
    undone = await submitter.undo_since("t2", cause="1")
    assert read_starts(world) == {"a": at("09:00"), "b": at("12:00"), "c": at("16:00")}
    assert [row.standing for row in build_rows(await submitter.history(DAY))] == [
        "done",
        "partly",
        "undone",
        "done",
        "done",
    ]
    assert undone.transaction is not None
    await submitter.undo_since(undone.transaction.id, cause="2")
    assert read_starts(world) == {"a": at("08:00"), "b": at("12:00")}
    rows = build_rows(await submitter.history(DAY))
    assert [row.standing for row in rows] == ["done", "done again", "partly", "done", "done", "done"]


async def test_what_half_a_redo_wrote_is_taken_back_with_what_was_before_it() -> None:
    """S512: and not left on the calendar, though it could not do all again."""
    world = CalendarHarness(MemoryJournal(), GoogleCalendarFake(conditional_write=True))
    submitter = world.submitter()
    await submitter.submit_plan(plan_of(block("a", "08:00")), cause="1")
    await submitter.submit_plan(plan_of(block("a", "08:00"), block("b", "10:00"), block("c", "12:00")), cause="2")
    undone = await submitter.undo_last(cause="3")
    assert undone.transaction is not None
    world.calendar.inject(Answer(Rejected("no")), verb="create", nth=1)
    assert (await submitter.undo_since(undone.transaction.id, cause="4")).status == "partial"
    assert [name for name, *_ in world.list_own_events()] == ["a", "b"]
    await submitter.undo_since("t0", cause="5")
    assert world.list_own_events() == []


async def test_an_undo_answers_no_question(world: CalendarHarness) -> None:
    """P8, S201: a block that the person deleted and the plan changed is asked about, and still is after an undo.

    The undo does not bring the block back as a new request of the plan.
    """
    submitter = world.submitter()
    await submitter.submit_plan(DAY_PLAN, cause="1")
    world.store.user_delete(event(world, "b").id)
    disputed = plan_of(DAY_PLAN.events[0], block("b", "10:00", name="B!"), DAY_PLAN.events[2])
    for cause in ("2", "4"):
        await submitter.submit_plan(disputed, cause=cause)
        assert [m[0] for m in world.list_own_events()] == ["a", "c"]
        await submitter.submit_plan(without(plan_of(*DAY_PLAN.events, block("d", "15:00")), "b"), cause=f"{cause}d")
        await submitter.undo_last(cause=f"{cause}u")


async def test_a_block_brought_back_from_the_bin_is_left_alone(world: CalendarHarness) -> None:
    submitter = world.submitter()
    await submitter.submit_plan(DAY_PLAN, cause="1")
    gone = event(world, "b").id
    await submitter.submit_plan(without(DAY_PLAN, "b"), cause="2")
    world.store.user_restore(gone)
    for n in range(2):
        await submitter.submit_plan(without(DAY_PLAN, "b"), cause=f"3{n}")
        assert not world.store.events[gone].gone


async def test_s84_nothing_is_written_when_the_day_cannot_be_read(world: CalendarHarness) -> None:
    """S84, P13"""
    world.calendar.inject(Answer(Unknown("down")), verb="window")
    with pytest.raises(CalendarUnreachable):
        await world.submitter().submit_plan(DAY_PLAN, cause="1")
    assert world.calendar.writes == []
    assert await world.journal.history(world.calendar.key) == ()


async def test_s89_undo_twice_is_refused(world: CalendarHarness) -> None:
    """S89"""
    submitter = world.submitter()
    with pytest.raises(NotUndoable, match="There is nothing to undo"):
        await submitter.undo_last(cause="0")
    done = await submitter.submit_plan(DAY_PLAN, cause="1")
    assert done.transaction is not None
    first = await submitter.undo_since(done.transaction.id, cause="2")
    again = await submitter.undo_since(done.transaction.id, cause="2")
    assert first.transaction is not None
    assert again.transaction is not None
    assert again.transaction.id == first.transaction.id
    with pytest.raises(NotUndoable, match="undone already"):
        await submitter.undo_since(done.transaction.id, cause="3")
    with pytest.raises(NotUndoable, match="know of no such"):
        await submitter.undo_since("nobody", cause="4")
    with pytest.raises(NotUndoable):
        await submitter.undo_last(cause="5")


async def test_an_edit_that_an_undo_gives_back_is_told_again(world: CalendarHarness) -> None:
    """P7, S242: the plan of before does not know it, and so learns of it, as it did when it was made."""
    submitter = world.submitter()
    await submitter.submit_plan(DAY_PLAN, cause="1")
    world.store.user_edit(event(world, "a").id, start=at("07:00"), end=at("08:00"))
    moved = plan_of(block("a", "08:00", notes="bring the red folder"), *DAY_PLAN.events[1:])
    await submitter.submit_plan(moved, cause="2", choices=Choices(otherwise="plan"))
    assert event(world, "a").start == at("08:00")
    await submitter.undo_last(cause="3")
    assert event(world, "a").start == at("07:00")
    result = await submitter.submit_plan(DAY_PLAN, cause="4")
    assert (result.status, [a.field for a in result.plan.adopted]) == ("unchanged", ["start", "end"])
    assert adopt_changes(DAY_PLAN, result.plan.adopted).block("a") != DAY_PLAN.block("a")


async def test_a_create_that_lands_after_it_was_given_up_is_not_made_twice(world: CalendarHarness) -> None:
    """P3, P18: what was tried and may still land is found out about before it is given up, not after."""
    submitter = world.submitter()
    world.store.lag = 1
    world.calendar.inject(LateWrite(calls=4), verb="create")
    world.calendar.inject(Answer(Unauthorized("expired")), verb="create", nth=1)
    assert (await submitter.submit_plan(plan_of(block("a")), cause="1")).status == "paused"
    await submitter.submit_plan(plan_of(block("a", "10:00")), cause="2")
    world.calendar.calm()
    assert [e.start for e in world.store.get_live_events().values()] == [at("10:00")]
