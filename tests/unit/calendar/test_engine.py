"""The table of decisions (S80-S82), one row at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.factories.days import DAY, at
from tests.factories.paper import Paper, day_of, event, fields, make_block

from fateforger.calendar.conflicts import Answer, Choices, Keep
from fateforger.calendar.decision import STAYS_DELETED, mint
from fateforger.calendar.engine import number_ops, plan_sync
from fateforger.calendar.event import Marker, OwnedId
from fateforger.calendar.model import Adopted, Head, Ledger, Merged, Snapshot, Standing, SyncPlan, Verb
from fateforger.errors import CalendarIncomplete, InternalError

FOCUS = fields("Focus", 540, 60, "notes")
LATER = fields("Focus", 600, 60, "notes")
PLAN = day_of(make_block("a", FOCUS))
EMPTY = day_of()


def submit_plan() -> Paper:
    return Paper().submit(PLAN)[0]


def ops(plan: SyncPlan) -> list[tuple[str, str]]:
    return [(op.verb.value, op.reason) for op in plan.ops]


def test_new_in_the_plan() -> None:
    (op,) = Paper().plan(PLAN).ops
    assert (op.verb, op.op_id, op.key, op.generation) == (Verb.CREATE, "t-0", "a", 0)
    assert (op.seed, op.event_id) == ("2026-03-02|Focus|09:00:00|0", mint("2026-03-02|Focus|09:00:00|0"))
    assert op.changes == {
        "summary": (None, "Focus"),
        "description": (None, "notes"),
        "start": (None, at("09:00")),
        "end": (None, at("10:00")),
        "color_id": (None, "9"),
    }
    assert (op.before, op.after) == (None, FOCUS)


def test_as_it_was() -> None:
    """S82"""
    plan = submit_plan().plan(PLAN)
    assert ops(plan) == [("noop", "Already up to date.")]
    assert plan.idle
    assert plan.counts() == {"create": 0, "update": 0, "delete": 0, "noop": 1, "skip": 0}


def test_the_plan_changed() -> None:
    (op,) = submit_plan().plan(day_of(make_block("a", LATER))).ops
    assert op.verb is Verb.UPDATE
    assert op.changes == {
        "start": (at("09:00"), at("10:00")),
        "end": (at("10:00"), at("11:00")),
    }
    assert (op.before, op.after) == (submit_plan().get_event("a"), LATER)


@pytest.mark.parametrize(
    "what", [{"version": "other"}, {"raw": {"sequence": 7}}, {"html_link": "x"}, {"raw": {"location": "Room 5"}}]
)
def test_what_does_not_count_as_a_change(what: dict[str, Any]) -> None:
    """S81"""
    paper = submit_plan()
    assert paper.edit(paper.get_event("a").id, **what).plan(PLAN).idle


@pytest.mark.parametrize("text", ["notes", " notes\n", "notes\r\n"])
def test_space_around_text_is_no_change(text: str) -> None:
    """Pitfall 8"""
    paper = submit_plan()
    plan = paper.edit(paper.get_event("a").id, description=text, summary=" Focus ").plan(PLAN)
    assert (plan.idle, plan.adopted) == (True, ())


def test_the_persons_change_stays_and_is_told() -> None:
    """S242"""
    paper = submit_plan()
    plan = paper.edit(paper.get_event("a").id, start=at("14:00"), end=at("15:00")).plan(PLAN)
    assert ops(plan) == [("noop", "Your own change on the calendar stays.")]
    assert plan.adopted == (
        Adopted(
            key="a",
            summary="Focus",
            field="start",
            plan="2026-03-02T09:00:00+01:00",
            calendar="2026-03-02T14:00:00+01:00",
        ),
        Adopted(
            key="a",
            summary="Focus",
            field="end",
            plan="2026-03-02T10:00:00+01:00",
            calendar="2026-03-02T15:00:00+01:00",
        ),
    )


@pytest.mark.parametrize("keep", ["open", "calendar"])
def test_a_conflict_stays_as_the_calendar_shows_it(keep: Keep) -> None:
    """S200, S201: there is no choice yet, or the person chose the calendar."""
    paper = submit_plan()
    paper = paper.edit(paper.get_event("a").id, summary="Mine")
    plan = paper.plan(day_of(make_block("a", fields("Plan", 540, 60, "notes"))), keep=keep)
    told = {"key": "a", "field": "summary", "base": "Focus", "calendar": "Mine", "plan": "Plan"}
    assert plan.merged == (Merged.model_validate({**told, "summary": "Mine", "winner": keep}),)
    assert plan.writes == ()
    assert [a.field for a in plan.adopted] == (["summary"] if keep == "calendar" else [])


def test_a_conflict_that_the_plan_wins() -> None:
    """S201"""
    paper = submit_plan()
    paper = paper.edit(paper.get_event("a").id, summary="Mine", description="Mine, too")
    plan = paper.plan(day_of(make_block("a", fields("Plan", 540, 60, "notes"))), keep="plan")
    assert [(m.field, m.winner) for m in plan.merged] == [("summary", "plan")]
    assert [op.changes for op in plan.writes] == [{"summary": ("Mine", "Plan")}]
    assert [a.field for a in plan.adopted] == ["description"]


def test_no_longer_in_the_plan() -> None:
    (op,) = submit_plan().plan(EMPTY).ops
    assert (op.verb, op.reason, op.before) == (
        Verb.DELETE,
        "It is no longer in the plan.",
        submit_plan().get_event("a"),
    )
    assert op.changes["summary"] == ("Focus", None)


@pytest.mark.parametrize(
    ("what", "because"),
    [
        ({"summary": "Mine"}, "you changed it on your calendar"),
        ({"raw": {"attendees": [{"email": "a@b.example"}]}}, "you added guests on your calendar"),
        ({"raw": {"location": "Room 5"}}, "you added a place on your calendar"),
        ({"raw": {"transparency": "transparent"}}, "you changed the free or busy setting on your calendar"),
        ({"start": DAY, "end": DAY}, "it is an all-day event now"),
        ({"raw": {"recurrence": ["RRULE:FREQ=DAILY"]}}, "it repeats now"),
        ({"event_type": "focusTime"}, "it is a special kind of event now, such as focus time"),
        ({"organized_by_me": False}, "it is an invitation now"),
        ({"properties": {}}, "it lost the mark that makes it ours"),
    ],
)
def test_what_the_person_made_theirs_is_released(what: dict[str, Any], because: str) -> None:
    """Pitfall 4; and then it is not looked at again."""
    paper = submit_plan()
    paper = paper.edit(paper.get_event("a").id, **what)
    plan = paper.plan(EMPTY)
    assert ops(plan) == [("release", f"It is no longer in the plan, but {because}, so I left it to you.")]
    assert paper.perform(plan, "t")[0].plan(EMPTY).ops == ()


@pytest.mark.parametrize("what", [{"start": DAY, "end": DAY}, {"event_type": "focusTime"}, {"properties": {}}])
def test_what_must_not_be_written_to_stays(what: dict[str, Any]) -> None:
    paper = submit_plan()
    plan = paper.edit(paper.get_event("a").id, **what).plan(day_of(make_block("a", LATER)))
    assert [(op.verb, op.event_id) for op in plan.ops] == [(Verb.SKIP, paper.get_event("a").id)]


def test_deleted_by_the_person() -> None:
    """P8: it stays deleted, as long as the plan asks for nothing new; then it gets a new id."""
    paper = submit_plan()
    paper = paper.without(paper.get_event("a").id)
    plan = paper.plan(PLAN)
    assert ops(plan) == [("adopt", "It is no longer on your calendar, so it stays off.")]
    assert [(a.field, a.calendar) for a in plan.adopted] == [("deleted", None)]
    paper = paper.perform(plan, "t")[0]
    assert ops(paper.plan(PLAN)) == [("skip", "It is no longer on your calendar, so it stays off.")]
    (again,) = paper.plan(day_of(make_block("a", LATER))).ops
    assert (again.verb, again.seed, again.reason) == (
        Verb.CREATE,
        "2026-03-02|Focus|10:00:00|0",
        "The plan asks for it again.",
    )
    forgotten = paper.submit(EMPTY)[0]
    assert [h.standing for h in forgotten.ledger.heads] == [Standing.REMOVED]
    (same,) = forgotten.plan(PLAN).ops
    assert (same.verb, same.generation) == (Verb.CREATE, 1)


def test_deleted_by_the_person_and_changed_by_the_plan() -> None:
    """S201: asked, and only a yes that knew of the deletion brings it back."""
    paper = submit_plan()
    gone = paper.get_event("a").id
    paper = paper.without(gone)
    plan = paper.plan(day_of(make_block("a", LATER)))
    assert ops(plan) == [("skip", "You changed it, too; it stays as your calendar shows it until you choose.")]
    assert [(m.field, m.winner) for m in plan.merged] == [("deleted", "open")]
    assert paper.perform(plan, "t")[0].ledger == paper.ledger
    stays = paper.submit(day_of(make_block("a", LATER)), keep="calendar")[0]
    assert ops(stays.plan(day_of(make_block("a", LATER)))) == [("skip", STAYS_DELETED)]
    known = Choices(seen={gone: None})
    again = plan_sync(
        day_of(make_block("a", LATER)), paper.snapshot(), paper.ledger, op_ids=number_ops("t"), choices=known
    )
    assert [op.verb for op in again.ops] == [Verb.CREATE]


def test_an_answer_is_about_what_the_calendar_showed() -> None:
    """A choice says nothing once the calendar shows something else, or about another field."""
    paper = submit_plan()
    image = paper.get_event("a")
    paper = paper.edit(image.id, summary="Mine", description="Mine, too")
    both = day_of(make_block("a", fields("Plan", 540, 60, "planned")))
    mine = paper.get_event("a").fields
    said = Answer(event_id=image.id, topic="summary", keep="plan", calendar=mine)
    plan = plan_sync(both, paper.snapshot(), paper.ledger, op_ids=number_ops("t"), choices=Choices(answers=(said,)))
    assert [op.changes for op in plan.writes] == [{"summary": ("Mine", "Plan")}]
    later = paper.edit(image.id, summary="Mine again")
    plan = plan_sync(both, later.snapshot(), later.ledger, op_ids=number_ops("t"), choices=Choices(answers=(said,)))
    assert (plan.writes, {m.winner for m in plan.merged}) == ((), {"open"})


def test_brought_back_by_the_person() -> None:
    paper = submit_plan()
    gone = paper.get_event("a").id
    paper = paper.submit(EMPTY)[0].edit(gone, status="confirmed")
    plan = paper.plan(EMPTY)
    assert ops(plan) == [("release", "You brought it back, so I left it to you.")]
    assert ops(paper.plan(PLAN)) == [("adopt", "The calendar shows it already.")]


def test_moved_out_of_the_window_is_not_deleted() -> None:
    """Pitfall 1: the person dragged it to another day; asking for it by id tells."""
    paper = submit_plan()
    image = paper.get_event("a").model_copy(
        update={"start": at("09:00", date_after()), "end": at("10:00", date_after())}
    )
    snapshot = Snapshot(day=DAY, tz=paper.tz, events=(), fetched={image.id: image})
    plan = plan_sync(PLAN, snapshot, paper.ledger, op_ids=number_ops("t"))
    assert ops(plan) == [("skip", "It stays as it is: it is on Tuesday 3 March now.")]
    assert [change.field for change in plan.adopted] == ["released"]


def date_after() -> Any:
    return DAY.replace(day=3)


def test_absence_without_asking_proves_nothing() -> None:
    """P15"""
    paper = submit_plan()
    with pytest.raises(CalendarIncomplete, match="what became of “Focus”"):
        plan_sync(PLAN, Snapshot(day=DAY, tz=paper.tz, events=()), paper.ledger, op_ids=number_ops("t"))


def test_days_and_zones_must_agree() -> None:
    with pytest.raises(InternalError):
        plan_sync(PLAN, Snapshot(day=DAY, tz="UTC", events=()), Ledger(), op_ids=number_ops("t"))


def test_known_by_its_mark_only() -> None:
    """A lost database: adopted as it is, updated two-way, never deleted."""
    events = submit_plan().events
    lost = Paper(events=events)
    assert ops(lost.plan(PLAN)) == [("adopt", "The calendar shows it already.")]
    assert ops(lost.plan(day_of(make_block("a", LATER)))) == [("update", "The plan has it differently.")]
    reason = "It has fateforger's mark, but is not in this database; I left it alone."
    assert ops(lost.plan(EMPTY)) == [("skip", reason)]


def test_a_create_that_landed_late() -> None:
    """An id that this ledger minted, our mark, and no record: ours to delete."""
    paper = submit_plan()
    late = replace(paper, ledger=Ledger(generations=paper.ledger.generations))
    assert ops(late.plan(EMPTY)) == [("delete", "It is no longer in the plan.")]


@pytest.mark.parametrize(
    "event_id", ["user1", "fftb" + "0" * 32 + "_20260302T080000Z", "fftbshort", OwnedId("fftb" + "1" * 32)]
)
def test_foreign_events_are_never_acted_upon(event_id: str) -> None:
    """S75, P1: this covers foreign ids, and ids of the program without its mark for this day."""
    marker = None if OwnedId.is_one(event_id) else Marker(key="a", generation=0, day=DAY, op_id="x")
    paper = Paper().with_event(event(event_id, FOCUS, marker))
    assert paper.plan(EMPTY).ops == ()
    assert event_id not in {op.event_id for op in paper.plan(day_of(make_block("a", LATER))).writes}


def test_another_days_event_is_foreign() -> None:
    """S230: a night that began yesterday belongs to yesterday's plan."""
    night = event(mint("yesterday"), FOCUS, Marker(key="n", generation=0, day=DAY.replace(day=1), op_id="x"))
    assert Paper().with_event(night).plan(EMPTY).ops == ()


def test_a_series_made_of_an_event_is_left_alone() -> None:
    """Pitfall 4: its occurrences have ids of their own; the first event represents all of them."""
    paper = submit_plan()
    master = paper.get_event("a")
    occurrence = master.model_copy(update={"id": master.id + "_20260302T080000Z", "series_id": master.id})
    snapshot = Snapshot(day=DAY, tz=paper.tz, events=(occurrence,), fetched={master.id: master})
    plan = plan_sync(day_of(make_block("a", LATER)), snapshot, paper.ledger, op_ids=number_ops("t"))
    assert [(op.verb, op.reason) for op in plan.ops] == [(Verb.SKIP, "It stays as it is: it repeats now.")]


def test_another_key_for_the_same_event() -> None:
    """A plan without keys gets new ones for a renamed block: the record follows."""
    paper = submit_plan()
    ops = paper.plan(day_of(make_block("b", fields("Focus", 540, 60, "notes")))).ops
    assert [(op.verb, op.key, op.event_id) for op in ops] == [(Verb.ADOPT, "b", paper.get_event("a").id)]
    after = paper.submit(day_of(make_block("b", fields("Focus", 555))))[0]
    assert [h.key for h in after.ledger.heads] == ["b"]


def test_order_of_the_ops() -> None:
    """Blocks in the plan's order, then what goes, by time."""
    before = Paper().submit(
        day_of(*(make_block(key, fields(key, 60 * n, 30), index=n) for n, key in enumerate("zyxw")))
    )[0]
    plan = before.plan(
        day_of(make_block("y", fields("y", 60, 30), index=1), make_block("new", fields("new", 700, 30), index=0))
    )
    assert [(op.op_id, op.key) for op in plan.ops] == [
        ("t-0", "new"),
        ("t-1", "y"),
        ("t-2", "z"),
        ("t-3", "x"),
        ("t-4", "w"),
    ]


def test_a_plan_survives_json() -> None:
    """The journal holds exactly the decided plan."""
    paper = submit_plan().with_event(event("user1", fields("Dentist", 700)))
    plan = paper.edit(paper.get_event("a").id, summary="Mine").plan(
        day_of(make_block("a", LATER), make_block("b", fields("Dentist", 705), index=1))
    )
    assert SyncPlan.model_validate_json(plan.model_dump_json()) == plan


def test_what_is_known_after_a_write() -> None:
    paper = submit_plan()
    assert paper.ledger.heads == (
        Head(key="a", event_id=paper.get_event("a").id, generation=0, day=DAY, base=FOCUS, wanted=None, version=None),
    )
