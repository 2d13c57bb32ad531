"""Carrying out a sync plan: order, waiting, pausing, continuing, leases, and the notes to the person."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Literal

import pytest
from tests.factories.days import CalendarHarness, at, block, plan_of
from tests.factories.trouble import DyingJournal, ProcessDied, WatchedCalendar
from tests.fakes.google_calendar import Answer, CallFailure, Crash, Fault, LateWrite, Race
from tests.fakes.memory_journal import MemoryJournal

from fateforger.calendar.access import Limits
from fateforger.calendar.event import EventImage
from fateforger.calendar.model import SafetyCheckKind
from fateforger.calendar.ports import CalendarTraits, Lease, Limited, Rejected, Unauthorized, Unknown
from fateforger.calendar.transactions import OpState, TxState
from fateforger.errors import (
    CalendarAuthFailed,
    CalendarBusy,
    CalendarUnreachable,
    ConfirmationNeeded,
    NotUndoable,
    VersionConflict,
)
from fateforger.planning.plan import TBPlan

PLAN = plan_of(block("a", "09:00"), block("b", "10:00"), block("c", "11:00"))
NEXT = plan_of(block("a", "08:30"), block("b", "10:00", name="B!"), block("d", "13:00"))


@pytest.fixture
def world() -> CalendarHarness:
    return CalendarHarness(MemoryJournal())


def event(world: CalendarHarness, key: str) -> EventImage:
    found = [e for e in world.store.get_live_events().values() if e.marker is not None and e.marker.key == key]
    assert len(found) == 1, f"{key} is on the calendar {len(found)} times"
    return found[0]


def verbs(world: CalendarHarness, since: int = 0) -> list[str]:
    return [call.verb for call in world.calendar.calls[since:]]


def storm(world: CalendarHarness, fault: Fault, verb: Literal["get", "create"], calls: int) -> None:
    """Let the next calls of a kind all meet the same fault."""
    for n in range(calls):
        world.calendar.inject(fault, verb=verb, nth=n)


async def states(world: CalendarHarness) -> list[tuple[str, str]]:
    history = await world.journal.history(world.calendar.key)
    return [(t.id, t.state.value) for t in reversed(history)]


async def test_reads_writes_deletions_and_another_look(world: CalendarHarness) -> None:
    """S83, S113: fetched, planned, carried out, logged; and no more calls than needed."""
    await world.submitter().submit_plan(PLAN, cause="1")
    since = len(world.calendar.calls)
    result = await world.submitter().submit_plan(NEXT, cause="2")
    assert verbs(world, since) == ["window", "update", "update", "create", "delete", "window"]
    assert result.sentences == ("I added 1 block, changed 2 blocks and removed 1 block on your calendar.",)
    assert (result.created, result.updated, result.deleted) == (1, 2, 1)
    newest = (await world.journal.history(world.calendar.key))[0]
    assert newest.id == result.transactions[0].id
    done = [record.op.verb for record in newest.records if record.state is OpState.APPLIED]
    assert sorted(done) == ["create", "delete", "update", "update"]


async def test_an_unchanged_plan_costs_one_read(world: CalendarHarness) -> None:
    """S82: and leaves no trace in the journal."""
    await world.submitter().submit_plan(PLAN, cause="1")
    since = len(world.calendar.calls)
    result = await world.submitter().submit_plan(PLAN, cause="2")
    assert (result.status, result.transaction, verbs(world, since)) == ("unchanged", None, ["window"])
    assert await states(world) == [("t0", "committed")]


async def test_four_writes_at_once_at_most(world: CalendarHarness) -> None:
    """S83: of twenty creations no more than four run at the same time."""
    blocks = [block(f"b{n:02d}", f"{8 + n // 4:02d}:{15 * (n % 4):02d}", 15) for n in range(20)]
    await world.submitter().submit_plan(plan_of(*blocks), cause="1")
    assert world.calendar.most_at_once == 4


async def test_only_changed_fields_are_written(world: CalendarHarness) -> None:
    """P9"""
    await world.submitter().submit_plan(PLAN, cause="1")
    await world.submitter().submit_plan(NEXT, cause="2")
    updates = {c.event_id: set(c.arguments["changes"]) for c in world.calendar.writes if c.verb == "update"}
    assert updates == {event(world, "a").id: {"start", "end"}, event(world, "b").id: {"summary"}}


async def test_a_repeated_command_does_nothing_twice(world: CalendarHarness) -> None:
    first = await world.submitter().submit_plan(PLAN, cause="click")
    writes = len(world.calendar.writes)
    again = await world.submitter().submit_plan(NEXT, cause="click")
    assert (again.transaction, again.status, len(world.calendar.writes)) == (first.transaction, "changed", writes)


async def test_what_cannot_be_recorded_is_not_written() -> None:
    """P13: neither when the journal fails at the beginning of a transaction, nor at the intent of a write."""
    for commit in (1, 2):
        world = CalendarHarness(inner := MemoryJournal())
        with pytest.raises(ProcessDied):
            await world.submitter(journal=DyingJournal(inner, (commit, "before"))).submit_plan(PLAN, cause="1")
        assert world.calendar.writes == []


async def test_two_at_once_come_one_after_the_other(world: CalendarHarness) -> None:
    """P20: the same click twice writes once; another click is planned upon what the first one left."""
    submitter = world.submitter()
    results = await asyncio.gather(
        submitter.submit_plan(PLAN, cause="click"),
        submitter.submit_plan(PLAN, cause="click"),
        submitter.submit_plan(NEXT, cause="other"),
    )
    assert [r.created for r in results] == [3, 3, 1]
    assert [m[0] for m in world.list_own_events()] == ["B!", "a", "d"]
    assert len(world.calendar.writes) == 3 + 4


async def test_another_process_is_waited_for(world: CalendarHarness) -> None:
    """P2, P20"""
    held = await world.journal.acquire(world.calendar.key, "other", now=world.time.now(), seconds=3)
    assert held is not None
    assert (await world.submitter().submit_plan(PLAN, cause="1")).created == 3
    assert sum(world.time.slept) == pytest.approx(3, abs=0.2)


async def test_another_process_that_goes_on_wins(world: CalendarHarness) -> None:
    await world.journal.acquire(world.calendar.key, "other", now=world.time.now(), seconds=Limits().lease_seconds)
    with pytest.raises(CalendarBusy):
        await world.submitter().submit_plan(PLAN, cause="1")
    assert world.calendar.calls == []


async def test_a_lost_lease_stops_the_writing(world: CalendarHarness) -> None:
    """P2: what is missing is settled by the next process that holds the lease."""

    def lose() -> None:
        world.time.instant += timedelta(seconds=100)
        thieves.append(
            asyncio.ensure_future(world.journal.acquire(world.calendar.key, "thief", now=world.time.now(), seconds=1))
        )

    thieves: list[asyncio.Future[object]] = []
    world.limits = Limits(concurrency=1)
    world.calendar.inject(Race(lose, "after"), verb="create", nth=0)
    with pytest.raises(CalendarBusy):
        await world.submitter().submit_plan(PLAN, cause="1")
    assert len(world.list_own_events()) == 1
    assert await states(world) == [("t0", "applying")]
    world.time.instant += timedelta(seconds=2)
    (result,) = await world.submitter().recover()
    assert (result.status, len(world.list_own_events())) == ("changed", 3)


@pytest.mark.parametrize("call", range(5))
async def test_an_answer_that_outlasts_the_lease_is_not_recorded(call: int) -> None:
    """P2, P20: another program has settled it meanwhile and gone on; this one stops, and its lease is free again."""
    world = CalendarHarness(inner := MemoryJournal())
    await world.submitter().submit_plan(PLAN, cause="1")

    async def asleep() -> None:
        world.time.instant += timedelta(seconds=100)
        await world.submitter(owner="other").submit_plan(NEXT, cause="3")

    journal = DyingJournal(inner)
    calendar = WatchedCalendar(world.calendar, journal, world.time.now, slow_at=call, slowly=asleep)
    late = world.submitter(calendar=calendar, journal=journal)
    with pytest.raises(CalendarBusy):
        await late.submit_plan(plan_of(block("a", "07:00"), block("b", "10:00"), block("e", "15:00")), cause="2")
    assert [m[0] for m in world.list_own_events()] == ["B!", "a", "d"]
    assert calendar.breaches == []
    assert not {s for _, s in await states(world)} & {"applying", "paused"}
    seconds = world.limits.lease_seconds
    assert await world.journal.acquire(world.calendar.key, "third", now=world.time.now(), seconds=seconds) is not None


@pytest.mark.parametrize("call", range(5))
async def test_the_next_try_finds_what_a_program_with_another_clock_finished(call: int) -> None:
    """S418: this program stops without an error of its own, and the same command then reports what was done."""
    world = CalendarHarness(inner := MemoryJournal())
    await world.submitter().submit_plan(PLAN, cause="1")

    async def interfere() -> None:
        world.time.instant += timedelta(seconds=100)
        await world.submitter(owner="other").recover()
        world.time.instant -= timedelta(seconds=100)

    journal = DyingJournal(inner)
    calendar = WatchedCalendar(world.calendar, journal, world.time.now, slow_at=call, slowly=interfere)
    late = world.submitter(calendar=calendar, journal=journal)
    if call:  # before the first write there is nothing that another one could finish
        with pytest.raises((VersionConflict, CalendarBusy)):
            await late.undo_last(cause="2")
    result = await world.submitter().undo_last(cause="2")
    assert (result.status, world.list_own_events()) == ("undone", [])
    assert await states(world) == [("t0", "undone"), ("t1", "committed")]


async def test_a_write_under_a_clock_that_is_set_back_renews_its_lease(world: CalendarHarness) -> None:
    """S488: so that another program, to which the lease looks too long, waits for it again."""
    world.limits = Limits(concurrency=1)
    got: list[asyncio.Future[Lease | None]] = []

    def set_back() -> None:
        world.time.instant -= timedelta(hours=1)

    def ask() -> None:
        now, seconds = world.time.now(), world.limits.lease_seconds
        got.append(asyncio.ensure_future(world.journal.acquire(world.calendar.key, "b", now=now, seconds=seconds)))

    world.calendar.inject(Race(set_back, "after"), verb="create", nth=0)
    world.calendar.inject(Race(ask, "after"), verb="create", nth=1)
    assert (await world.submitter().submit_plan(PLAN, cause="1")).created == 3
    assert [await asked for asked in got] == [None]


async def test_a_long_write_renews_its_lease(world: CalendarHarness) -> None:
    world.limits = Limits(concurrency=1, waiting_budget=1000)
    storm(world, Answer(Limited(14.0)), "create", 4)
    assert (await world.submitter().submit_plan(PLAN, cause="1")).status == "changed"
    assert world.time.slept == [14.0] * 4


async def test_too_many_requests_are_spread_out(world: CalendarHarness) -> None:
    world.calendar.inject(Answer(Limited(7.0)), verb="create")
    result = await world.submitter().submit_plan(PLAN, cause="1")
    assert (result.status, world.time.slept) == ("changed", [7.0])


async def test_a_storm_of_refusals_pauses(world: CalendarHarness) -> None:
    """P18: within the budget, and nothing is lost."""
    storm(world, Answer(Limited()), "create", 100)
    result = await world.submitter().submit_plan(PLAN, cause="1")
    assert (result.status, await states(world)) == ("paused", [("t0", "paused")])
    assert result.sentences == (
        "Nothing was written to your calendar.",
        (
            "3 changes are still waiting: The calendar wants fewer requests."
            " Nothing is lost; try again and I go on where I stopped."
        ),
    )
    assert sum(world.time.slept) <= Limits().waiting_budget
    world.calendar.calm()
    result = await world.submitter().submit_plan(PLAN, cause="1")
    assert (result.status, result.created, await states(world)) == ("changed", 3, [("t0", "committed")])


async def test_an_expired_login_pauses(world: CalendarHarness) -> None:
    world.limits = Limits(concurrency=1)
    world.calendar.inject(Answer(Unauthorized("Your login expired.")), verb="create", nth=1)
    result = await world.submitter().submit_plan(PLAN, cause="1")
    assert (result.status, result.created) == ("paused", 1)
    assert "2 changes are still waiting: Your login expired." in result.sentences[1]
    (recovered,) = await world.submitter().recover()
    assert (recovered.status, recovered.created, len(world.list_own_events())) == ("changed", 3, 3)


async def test_an_expired_login_at_the_reading_is_an_error(world: CalendarHarness) -> None:
    world.calendar.inject(Answer(Unauthorized("Your login expired.")), verb="window")
    with pytest.raises(CalendarAuthFailed):
        await world.submitter().submit_plan(PLAN, cause="1")
    assert await states(world) == []


async def test_a_calendar_that_goes_away_pauses(world: CalendarHarness) -> None:
    """An unanswered write stays in flight; when the calendar is back, one read of each event settles it."""
    world.limits = Limits(concurrency=1)
    world.calendar.inject(Answer(Unknown("reset")), verb="create", nth=1)
    storm(world, CallFailure(CalendarUnreachable("The calendar does not answer.")), "get", 4)
    result = await world.submitter().submit_plan(PLAN, cause="1")
    assert (result.status, result.created) == ("paused", 1)
    assert result.transaction is not None
    assert [r.state for r in result.transaction.records] == [OpState.APPLIED, OpState.INFLIGHT, OpState.PENDING]
    assert (await world.submitter().submit_plan(PLAN, cause="1")).status == "changed"
    assert len(world.list_own_events()) == 3


async def test_something_new_gives_up_what_waits(world: CalendarHarness) -> None:
    """A new plan is made from what is there, not from what was once decided."""
    world.limits = Limits(concurrency=1)
    world.calendar.inject(Answer(Unauthorized("Your login expired.")), verb="create", nth=1)
    await world.submitter().submit_plan(PLAN, cause="1")
    result = await world.submitter().submit_plan(NEXT, cause="2")
    assert (result.status, result.created, result.updated) == ("changed", 2, 1)
    assert await states(world) == [("t0", "partial"), ("t1", "committed")]
    assert [m[0] for m in world.list_own_events()] == ["B!", "a", "d"]


async def test_an_old_interruption_is_only_settled(world: CalendarHarness) -> None:
    world.limits = Limits(concurrency=1)
    world.calendar.inject(Answer(Unauthorized("Your login expired.")), verb="create", nth=1)
    await world.submitter().submit_plan(PLAN, cause="1")
    world.time.instant += timedelta(minutes=16)
    (result,) = await world.submitter().recover()
    assert (result.status, len(world.list_own_events())) == ("partial", 1)
    assert "“b” and “c” had to wait" in result.sentences[1]
    assert await world.submitter().recover() == ()
    assert (await world.submitter().undo_last(cause="2")).deleted == 1


async def test_an_interrupted_undo_is_finished_whenever_that_is(world: CalendarHarness) -> None:
    """S113: a program that died in the middle starts again the next day, or another one has a clock that is ahead."""
    world.limits = Limits(concurrency=1)
    await world.submitter().submit_plan(PLAN, cause="1")
    world.calendar.inject(Answer(Unauthorized("Your login expired.")), verb="delete", nth=1)
    assert (await world.submitter().undo_last(cause="2")).status == "paused"
    assert [m[0] for m in world.list_own_events()] == ["b", "c"]
    world.store.user_edit(event(world, "c").id, summary="Mine")
    world.time.instant += timedelta(hours=20)
    (result,) = await world.submitter().recover()
    assert [m[0] for m in world.list_own_events()] == ["Mine"]
    assert "“c”" in " ".join(result.sentences)


@pytest.mark.parametrize("what", [{"summary": "Mine"}, {"start": at("20:00"), "end": at("21:00")}])
async def test_what_waited_is_looked_at_again(world: CalendarHarness, what: dict[str, object]) -> None:
    """Pitfall 11: the person was at the calendar while the rest of a transaction waited."""
    world.limits = Limits(concurrency=1)
    await world.submitter().submit_plan(PLAN, cause="1")
    wish = plan_of(block("a", "08:30", name="A!"), block("b", "10:00"))
    world.calendar.inject(Answer(Unauthorized("Your login expired.")), verb="update")
    assert (await world.submitter().submit_plan(wish, cause="2")).status == "paused"
    for key in ("a", "c"):
        world.store.user_edit(event(world, key).id, **what)
    (result,) = await world.submitter().recover()
    assert {name: getattr(event(world, key), name) for name in what for key in ("a", "c")} == what
    assert (event(world, "a").summary == "A!", event(world, "a").start == at("08:30")) == (
        "start" in what,
        "summary" in what,
    )
    assert (result.status, result.updated, result.deleted) == ("partial", 1, 0)
    assert "“c”: You changed it on your calendar in the meantime, so I kept it." in result.sentences


async def test_an_event_is_read_again_after_a_long_wait(world: CalendarHarness) -> None:
    await world.submitter().submit_plan(PLAN, cause="1")
    world.calendar.inject(Answer(Limited(30.0)), verb="create")
    since = len(world.calendar.calls)
    await world.submitter().submit_plan(plan_of(*PLAN.events[:2], block("d", "13:00")), cause="2")
    assert verbs(world, since) == ["window", "create", "create", "get", "delete", "window"]


async def test_what_was_read_some_seconds_ago_vouches_for_nothing(world: CalendarHarness) -> None:
    """P1: a block that became an event of another kind while the calendar wanted patience is not written to."""

    def take_over() -> None:
        world.store.user_edit(event(world, "a").id, event_type="focusTime")

    await world.submitter().submit_plan(plan_of(block("a")), cause="1")
    world.calendar.inject(Race(take_over), verb="update")
    world.calendar.inject(Answer(Limited(7.0)), verb="update")
    result = await world.submitter().submit_plan(plan_of(block("a", "10:00")), cause="2")
    assert (result.status, event(world, "a").start) == ("partial", at("09:00"))


async def test_an_update_that_lands_late_is_waited_for(world: CalendarHarness) -> None:
    """Pitfall 16: it is not repeated, and nothing that the person does later is overwritten by it."""
    await world.submitter().submit_plan(plan_of(block("a")), cause="1")
    world.calendar.inject(LateWrite(calls=2), verb="update")
    result = await world.submitter().submit_plan(plan_of(block("a", "10:00")), cause="2")
    assert (result.status, world.time.slept) == ("changed", [Limits().landing_grace])
    assert verbs(world).count("update") == 1


@pytest.mark.parametrize("reuses", [True, False])
async def test_where_ids_are_free_again_a_create_that_lands_late_is_waited_for(
    world: CalendarHarness,
    reuses: bool,  # noqa: FBT001
) -> None:
    """Without the wait, the next try could succeed, and this one bring back what the person has deleted meanwhile."""
    world.calendar.set_traits(CalendarTraits(reuses_ids=reuses))
    world.calendar.inject(LateWrite(calls=2), verb="create")
    result = await world.submitter().submit_plan(plan_of(block("a")), cause="1")
    assert (result.status, verbs(world).count("create")) == ("changed", 1 if reuses else 2)
    assert (Limits().landing_grace in world.time.slept) is reuses


async def test_a_write_that_never_arrives_fails_in_the_end(world: CalendarHarness) -> None:
    """P18"""
    storm(world, Answer(Unknown("reset")), "create", Limits().attempts)
    result = await world.submitter().submit_plan(plan_of(block("a")), cause="1")
    assert result.status == "partial"
    assert result.sentences == (
        "Nothing was written to your calendar.",
        "“a”: The calendar did not take it after 4 tries.",
    )


async def test_a_create_that_lands_after_it_was_given_up_is_removed(world: CalendarHarness) -> None:
    """It has our mark and our id, but no record: the next plan without it deletes it."""
    last = Limits().attempts - 1
    storm(world, Answer(Unknown("reset")), "create", last)
    world.calendar.inject(LateWrite(calls=3), verb="create", nth=last)
    assert (await world.submitter().submit_plan(plan_of(block("a")), cause="1")).status == "partial"
    world.calendar.calm()
    assert len(world.list_own_events()) == 1
    assert (await world.submitter().submit_plan(plan_of(), cause="2")).deleted == 1
    assert world.list_own_events() == []


async def test_events_that_are_not_listed_yet_are_asked_for(world: CalendarHarness) -> None:
    """Pitfall 1: the second look and the next plan do not take a lagging list for a deletion."""
    world.store.lag = 3
    assert (await world.submitter().submit_plan(PLAN, cause="1")).status == "changed"
    assert (await world.submitter().submit_plan(PLAN, cause="2")).status == "unchanged"
    assert len(world.list_own_events()) == 3


async def test_a_second_look_that_differs_is_said(world: CalendarHarness) -> None:
    def move() -> None:
        world.store.user_edit(event(world, "b").id, start=at("20:00"), end=at("21:00"))

    world.calendar.inject(Race(move, "before"), verb="window", nth=1)
    result = await world.submitter().submit_plan(PLAN, cause="1")
    assert (result.status, await states(world)) == ("partial", [("t0", "partial")])
    assert result.sentences[1] == "“b” was written, but your calendar shows it differently now."
    undone = await world.submitter().undo_last(cause="2")
    assert (undone.deleted, [m[0] for m in world.list_own_events()]) == (2, ["b"])


async def test_a_second_look_that_fails_is_said(world: CalendarHarness) -> None:
    world.calendar.inject(CallFailure(), verb="window", nth=1)
    result = await world.submitter().submit_plan(PLAN, cause="1")
    assert (result.status, await states(world)) == ("changed", [("t0", "committed")])
    assert result.sentences[1] == ("I could not look at your calendar again to check: The calendar does not answer.")


async def test_a_preview_writes_nothing(world: CalendarHarness) -> None:
    """S212"""
    await world.submitter().submit_plan(PLAN, cause="1")
    writes = len(world.calendar.writes)
    preview = await world.submitter().preview(NEXT)
    assert preview.counts() == {"create": 1, "update": 2, "delete": 1, "noop": 0, "skip": 0}
    assert (len(world.calendar.writes), await states(world)) == (writes, [("t0", "committed")])


async def test_an_emptied_calendar_needs_a_yes(world: CalendarHarness) -> None:
    """P15"""
    await world.submitter().submit_plan(PLAN, cause="1")
    for image in world.store.get_live_events().values():
        world.store.user_delete(image.id)
    with pytest.raises(ConfirmationNeeded, match="All 3 blocks") as refused:
        await world.submitter().submit_plan(NEXT, cause="2")
    assert refused.value.reasons == ("emptied_calendar",)
    assert (world.list_own_events(), await states(world)) == ([], [("t0", "committed")])
    result = await world.submitter().submit_plan(NEXT, cause="2", confirmed={SafetyCheckKind.EMPTIED_CALENDAR})
    assert result.created == 3


async def test_a_mass_deletion_needs_a_yes(world: CalendarHarness) -> None:
    """P15"""
    many = plan_of(*(block(f"b{n}", f"{8 + n:02d}:00") for n in range(6)))
    await world.submitter().submit_plan(many, cause="1")
    with pytest.raises(ConfirmationNeeded) as refused:
        await world.submitter().submit_plan(plan_of(many.events[0]), cause="2")
    assert refused.value.reasons == ("mass_deletion",)
    assert len(world.list_own_events()) == 6
    done = await world.submitter().submit_plan(plan_of(many.events[0]), cause="2", confirmed=set(SafetyCheckKind))
    assert done.deleted == 5


async def test_a_block_is_not_known_by_an_old_key(world: CalendarHarness) -> None:
    """S74: the event stays, its record follows the key of the plan, and goes back with it."""
    await world.submitter().submit_plan(PLAN, cause="1")
    ids = set(world.store.get_live_events())
    await world.submitter().submit_plan(
        plan_of(block("x", "09:00", name="a"), block("y", "10:00", name="b"), block("z", "11:30", name="c")), cause="2"
    )
    assert {h.key: h.base.summary for h in (await world.ledger()).heads} == {"x": "a", "y": "b", "z": "c"}
    await world.submitter().undo_last(cause="3")
    assert {h.key: h.base.summary for h in (await world.ledger()).heads} == {"a": "a", "b": "b", "c": "c"}
    assert set(world.store.get_live_events()) == ids


# --- undo and redo ---


async def test_a_group_is_taken_back_as_one(world: CalendarHarness) -> None:
    """Created and changed in one group means deleted once; every transaction of it is undone."""
    submitter = world.submitter()
    await submitter.submit_plan(PLAN, cause="0", group="earlier")
    before = world.list_own_events()
    await submitter.submit_plan(plan_of(*PLAN.events, block("d", "14:00")), cause="1", group="g")
    await submitter.submit_plan(plan_of(*PLAN.events[1:], block("d", "15:00")), cause="2", group="g")
    await submitter.submit_plan(plan_of(*PLAN.events[1:], block("d", "15:00", name="D")), cause="3", group="g")
    since = len(world.calendar.writes)
    result = await submitter.undo_group("g", cause="4")
    assert world.list_own_events() == before
    assert [c.verb for c in world.calendar.writes[since:]] == ["create", "delete"]
    assert result.transaction is not None
    assert result.transaction.context == {"undoes": ["t3", "t2", "t1"]}
    assert await states(world) == [
        ("t0", "committed"),
        ("t1", "undone"),
        ("t2", "undone"),
        ("t3", "undone"),
        ("t4", "committed"),
    ]
    with pytest.raises(NotUndoable, match="undone already"):
        await submitter.undo_group("g", cause="5")
    with pytest.raises(NotUndoable, match="nothing to undo"):
        await submitter.undo_group("nobody", cause="6")


async def test_a_group_undo_can_be_redone(world: CalendarHarness) -> None:
    """P6b: then the group is in place again, and can be undone whole or in part."""
    submitter = world.submitter()
    await submitter.submit_plan(PLAN, cause="1", group="g")
    await submitter.submit_plan(NEXT, cause="2", group="g")
    view = world.list_own_events()
    undone = await submitter.undo_group("g", cause="3")
    assert world.list_own_events() == []
    assert undone.transaction is not None
    redone = await submitter.undo_since(undone.transaction.id, cause="4")
    assert world.list_own_events() == view
    assert redone.transaction is not None
    assert [state for _, state in await states(world)] == ["committed", "committed", "undone", "committed"]
    await submitter.undo_group("g", cause="5")
    assert world.list_own_events() == []


async def test_undo_goes_back_step_by_step(world: CalendarHarness) -> None:
    """P17: an undo is not undone by the next one; a redo is."""
    submitter = world.submitter()
    views = [world.list_own_events()]
    for cause, plan in enumerate((PLAN, NEXT, plan_of(block("a", "20:00")))):
        await submitter.submit_plan(plan, cause=f"s{cause}")
        views.append(world.list_own_events())
    for step in (2, 1):
        await submitter.undo_last(cause=f"u{step}")
        assert world.list_own_events() == views[step]
    undo = await world.journal.by_cause(world.calendar.key, "u1")
    assert undo is not None
    await submitter.undo_since(undo.id, cause="redo")
    assert world.list_own_events() == views[2]
    for step in (1, 0):
        await submitter.undo_last(cause=f"v{step}")
        assert world.list_own_events() == views[step]
    with pytest.raises(NotUndoable):
        await submitter.undo_last(cause="w")


async def test_going_back_to_before_an_older_write(world: CalendarHarness) -> None:
    """P6b, P17: the older write and the later ones are undone as one transaction, and redone as one."""
    submitter = world.submitter()
    views = [world.list_own_events()]
    for cause, plan in enumerate((PLAN, NEXT, plan_of(block("a", "20:00")))):
        await submitter.submit_plan(plan, cause=f"s{cause}")
        views.append(world.list_own_events())
    undone = await submitter.undo_since("t1", cause="u", newest="t2")
    assert world.list_own_events() == views[1]
    assert [state for _, state in await states(world)] == ["committed", "undone", "undone", "committed"]
    assert undone.transaction is not None
    await submitter.undo_since(undone.transaction.id, cause="r")
    assert world.list_own_events() == views[3]
    assert [state for _, state in await states(world)] == [*["committed"] * 3, "undone", "committed"]
    await submitter.undo_since("t0", cause="v")
    assert world.list_own_events() == []


async def test_no_write_lies_too_far_back(world: CalendarHarness) -> None:
    """K13: an undo reads as much of the history as it takes, past any number of writes and undos."""
    world.limits = Limits(history=2)
    submitter = world.submitter()
    for minute in range(6):
        await submitter.submit_plan(plan_of(block("a", f"09:0{minute}")), cause=f"s{minute}")
    for step in range(3):
        await submitter.undo_last(cause=f"u{step}")
    assert [m[2] for m in world.list_own_events()] == [str(at("09:02"))]
    await submitter.undo_last(cause="u4")
    assert [m[2] for m in world.list_own_events()] == [str(at("09:01"))]
    await submitter.undo_since("t0", cause="u5")
    assert world.list_own_events() == []
    with pytest.raises(NotUndoable, match="nothing to undo"):
        await submitter.undo_last(cause="u6")


async def test_a_redo_takes_an_undo_without_writes_along(world: CalendarHarness) -> None:
    """P6b, P17: the changes that this undo had taken back are in place again, as they were before."""
    submitter = world.submitter()
    for cause, plan in enumerate((plan_of(block("a", "08:00")), plan_of(), plan_of(block("b", "10:00")))):
        await submitter.submit_plan(plan, cause=f"s{cause}", confirmed=set(SafetyCheckKind))
    view, stood = world.list_own_events(), await states(world)
    await submitter.undo_since("t2", cause="u3")
    assert (await submitter.undo_since("t0", cause="u4")).sentences == (
        "Taken back; there was nothing left to change.",
        "This also took back later writes: 1 made from the command line.",
    )
    assert [state for _, state in await states(world)] == [*["undone"] * 3, *["committed"] * 2]
    await submitter.undo_since("t3", cause="r5")
    assert (world.list_own_events(), await states(world)) == (
        view,
        [*stood, ("t3", "undone"), ("t4", "undone"), ("t5", "committed")],
    )


async def test_a_list_that_is_out_of_date_undoes_nothing(world: CalendarHarness) -> None:
    """S89: the list may miss another write or an undo, or hold an unknown name."""
    submitter = world.submitter()
    await submitter.submit_plan(PLAN, cause="1")
    await submitter.submit_plan(NEXT, cause="2")
    view = world.list_own_events()
    with pytest.raises(NotUndoable, match="Something was written after"):
        await submitter.undo_since("t0", cause="3", newest="t0")
    with pytest.raises(NotUndoable, match="no such change"):
        await submitter.undo_since("t9", cause="4")
    assert (world.list_own_events(), len(await states(world))) == (view, 2)
    await submitter.undo_since("t1", cause="5", newest="t1")
    with pytest.raises(NotUndoable, match="undone already"):
        await submitter.undo_since("t1", cause="6", newest="t2")


async def test_a_paused_write_is_settled_and_taken_back(world: CalendarHarness) -> None:
    """S236: its finished writes are undone and the waiting ones dropped; an undo since an older write includes it."""
    submitter = world.submitter()
    await submitter.submit_plan(PLAN, cause="1")
    view = world.list_own_events()
    world.calendar.inject(Answer(Unauthorized("expired")), verb="update", nth=1)
    paused = await submitter.submit_plan(NEXT, cause="2")
    assert paused.status == "paused"
    assert world.list_own_events() != view
    await submitter.undo_since("t1", cause="3", newest="t1")
    assert world.list_own_events() == view
    assert [state for _, state in await states(world)] == ["committed", "undone", "committed"]


async def test_a_partial_undo_can_be_tried_again(world: CalendarHarness) -> None:
    """S236"""
    submitter = world.submitter()
    await submitter.submit_plan(PLAN, cause="1")
    world.calendar.inject(Answer(Rejected("Forbidden.")), verb="delete")
    assert (await submitter.undo_last(cause="2")).status == "partial"
    assert len(world.list_own_events()) == 1
    assert (await submitter.undo_last(cause="3")).status == "undone"
    assert (world.list_own_events(), dict(await states(world))["t0"]) == ([], "undone")


async def test_undo_of_what_the_person_took_back_already(world: CalendarHarness) -> None:
    submitter = world.submitter()
    await submitter.submit_plan(PLAN, cause="1")
    for image in world.store.get_live_events().values():
        world.store.user_delete(image.id)
    result = await submitter.undo_last(cause="2")
    assert result.sentences == ("Taken back; there was nothing left to change.",)
    assert (await submitter.submit_plan(PLAN, cause="3")).created == 3


async def test_undo_of_one_day_leaves_the_others(world: CalendarHarness) -> None:
    submitter = world.submitter()
    tomorrow = PLAN.date + timedelta(days=1)
    await submitter.submit_plan(PLAN, cause="1")
    await submitter.submit_plan(TBPlan(date=tomorrow, tz=PLAN.tz, events=(block("z"),)), cause="2")
    await submitter.undo_last(cause="3", day=PLAN.date)
    assert [m[0] for m in world.list_own_events()] == ["z"]
    await submitter.undo_last(cause="4")
    assert world.list_own_events() == []


async def test_an_interrupted_change_can_be_undone(world: CalendarHarness) -> None:
    """S236: what was under way is found out first."""
    await world.submitter().submit_plan(PLAN, cause="1")
    before = world.list_own_events()
    world.calendar.inject(Crash(KeyError("gone"), "after"), verb="update")
    with pytest.raises(KeyError):
        await world.submitter().submit_plan(NEXT, cause="2")
    assert world.list_own_events() != before
    assert (await world.submitter().undo_last(cause="3")).status == "undone"
    assert world.list_own_events() == before


async def test_an_interrupted_submit_can_be_undone(world: CalendarHarness) -> None:
    """S236: what was under way is found out first."""
    world.calendar.inject(Crash(KeyError("gone"), "after"), verb="create", nth=1)
    with pytest.raises(KeyError):
        await world.submitter().submit_plan(PLAN, cause="1")
    assert len(world.list_own_events()) > 0
    assert (await world.submitter().undo_last(cause="2")).status == "undone"
    assert world.list_own_events() == []
    assert (await states(world))[0] == ("t0", TxState.UNDONE.value)
