"""The pairing of blocks and events (S74, S77)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.factories.paper import Paper, day_of, fields, make_block

from fateforger.calendar.event import EventFields
from fateforger.calendar.matching import assign
from fateforger.calendar.model import Verb, normalize_title
from fateforger.planning.plan import ET, type_of_color


def outcome(there: list[EventFields], plan: list[EventFields]) -> list[tuple[str, int | None, int | None]]:
    """Return ``(verb, wish, event)`` for each op of the plan, by place, when no key helps with the pairing."""
    paper = Paper().submit(day_of(*(make_block(f"old{n}", f, index=n) for n, f in enumerate(there))))[0]
    ids = {h.event_id: int(h.key[3:]) for h in paper.ledger.heads}
    kinds = [type_of_color(f.color_id) for f in plan]
    ops = paper.plan(day_of(*(make_block(f"new{n}", f, index=n, kind=kinds[n]) for n, f in enumerate(plan)))).ops
    return [(op.verb.value, int(op.key[3:]) if op.key.startswith("new") else None, ids.get(op.event_id)) for op in ops]


def test_the_key_decides_first() -> None:
    """S74: a block that is renamed and moved keeps its event, even if another event looks alike."""
    paper = Paper().submit(
        day_of(make_block("a", fields("Focus", 540)), make_block("b", fields("Lunch", 720), index=1))
    )[0]
    swapped = day_of(make_block("a", fields("Lunch", 720)), make_block("b", fields("Focus", 540), index=1))
    after = paper.submit(swapped)[0]
    assert after.events.keys() == paper.events.keys()
    assert after.get_event("a").summary == "Lunch"


def test_equal_ones_need_nothing() -> None:
    """S77"""
    assert outcome([fields("Focus", 540)], [fields("Focus", 540)]) == [("adopt", 0, 0)]


def test_shifted_blocks_are_moved_not_replaced() -> None:
    """Two Focus blocks 45 minutes later are two updates, in order; a greedy choice needs three ops."""
    there = [fields("Focus", 540, 60), fields("Focus", 600, 60)]
    plan = [fields("Focus", 585, 60), fields("Focus", 645, 60)]
    assert outcome(there, plan) == [("update", 0, 0), ("update", 1, 1)]


def test_a_rename_without_its_key_is_a_new_event() -> None:
    """S78"""
    assert outcome([fields("Focus", 540)], [fields("Write report", 540)]) == [("create", 0, None), ("delete", None, 0)]


def test_another_thing_at_another_time_is_a_new_event() -> None:
    """Turning Lunch into Deep work would save an op and be wrong."""
    assert outcome([fields("Lunch", 720)], [fields("Deep work", 540)]) == [("create", 0, None), ("delete", None, 0)]


@pytest.mark.parametrize(
    ("before", "after", "verb"),
    [
        ("Write report", "write  REPORT", "update"),
        ("Write report", "Write the report", "create"),
        ("Focus", "Fokus", "create"),
    ],
)
def test_titles_are_the_same_but_for_case_and_space(before: str, after: str, verb: str) -> None:
    """S78: half of the words are not enough."""
    assert outcome([fields(before, 540)], [fields(after, 570)])[0][0] == verb


def test_the_title_decides_and_not_the_time() -> None:
    """Each block is paired with the event of its title, although the other one is nearer."""
    there = [fields("Focus", 540), fields("Lunch", 600)]
    plan = [fields("Lunch", 555, 50), fields("Focus", 605, 30)]
    assert [o[0] for o in outcome(there, plan)] == ["update", "create", "delete"]


def test_the_nearest_of_several_is_taken() -> None:
    there = [fields("Focus", 540), fields("Focus", 900)]
    assert outcome(there, [fields("Focus", 870)]) == [("update", 0, 1), ("delete", None, 0)]


def test_as_many_pairs_as_possible() -> None:
    """The best pair for one block is not taken when it leaves another without any."""
    there = [fields("Focus", 540, 60), fields("Focus", 605, 20)]
    plan = [fields("Focus", 570, 50), fields("Focus", 620, 80)]
    assert [o[0] for o in outcome(there, plan)] == ["update", "update"]


@pytest.mark.parametrize(
    ("after", "verb"),
    [
        (fields("Write report", 610, 20), "update"),
        (fields("Write report", 620, 20), "update"),
        (fields("Write report", 621, 20), "create"),
        (fields("Write report", 580, 20), "update"),
        (fields("Write report", 579, 20), "create"),
        (fields("Write report", 610, 20, kind=ET.SHALLOW_WORK), "update"),
        (fields("Write the report", 600, 20), "create"),
    ],
)
def test_the_same_title_nearby_is_the_same_thing(after: EventFields, verb: str) -> None:
    """S78: near is shared time or a start within 20 minutes."""
    assert outcome([fields("Write report", 600, 20)], [after])[0][0] == verb


MADE_OWN = {
    "a place": {"raw": {"location": "Room 5"}},
    "guests": {"raw": {"attendees": [{"email": "bob@example.com"}]}},
    "an attachment": {"raw": {"attachments": [{"fileUrl": "https://example.com/x"}]}},
    "reminders": {"raw": {"reminders": {"useDefault": False, "overrides": [{"minutes": 5}]}}},
    "notes": {"description": "ask for the invoice"},
    "a title": {"summary": "Answer the mail of Bob"},
}


@pytest.mark.parametrize("made", MADE_OWN.values(), ids=MADE_OWN.keys())
def test_an_event_that_a_person_made_their_own_becomes_nothing_else(made: dict[str, Any]) -> None:
    """K12: another block at its time is a new event, the person keeps theirs, and hears that both are there."""
    paper = Paper().submit(day_of(make_block("a", fields("Answer mail", 540))))[0]
    mine = paper.get_event("a").id
    other = day_of(make_block("b", fields("Call the plumber", 540)))
    assert [op.verb for op in paper.plan(other).ops] == [Verb.CREATE, Verb.DELETE]
    paper = paper.edit(mine, **made)
    plan = paper.plan(other)
    assert [(op.verb, op.event_id == mine) for op in plan.ops] == [(Verb.CREATE, False), (Verb.RELEASE, True)]
    (warning,) = plan.warnings
    assert warning.startswith("“Call the plumber”, 09:00–10:00, overlaps “Answer")
    same = paper.plan(day_of(make_block("b", fields(paper.events[mine].summary, 570))))
    assert [(op.verb, op.event_id == mine) for op in same.ops] == [(Verb.UPDATE, True)]


def test_assignment_of_nothing() -> None:
    assert assign([], 0) == []
    assert assign([{}, {}], 3) == [None, None]
    assert assign([{0: 5}, {0: 1}], 1) == [None, 0]


def test_titles_are_compared_without_case_and_space() -> None:
    """S78"""
    assert normalize_title("  Deep\t WORK ") == normalize_title("deep work")


def test_nothing_matches_a_released_event() -> None:
    paper = Paper().submit(day_of(make_block("a", fields("Focus", 540))))[0]
    paper = paper.edit(paper.get_event("a").id, description="mine").submit(day_of())[0]
    plan = paper.plan(day_of(make_block("b", fields("Focus", 900))))
    assert [op.verb for op in plan.ops] == [Verb.CREATE]
