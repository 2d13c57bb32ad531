"""The three-way merge, case by case (S201)."""

from __future__ import annotations

import pytest
from tests.factories.paper import fields

from fateforger.calendar.conflicts import FieldMerge, Keep, Rules, merge
from fateforger.calendar.event import Canon

BASE = fields("Focus", 540, 60, "notes").canon


def change_fields(**values: object) -> Canon:
    return BASE._replace(**values)  # type: ignore[arg-type]  # the names are fields


def times(start: int, minutes: int) -> dict[str, object]:
    shape = fields("x", start, minutes).canon
    return {"start": shape.start, "end": shape.end}


Fields = dict[str, object]
CASES: dict[str, tuple[Fields, Fields, Fields, set[str], set[str]]] = {
    "nobody": ({}, {}, {}, set(), set()),
    "plan": ({"summary": "P"}, {}, {"summary": "P"}, set(), set()),
    "person": ({}, {"summary": "C"}, {"summary": "C"}, {"summary"}, set()),
    "both, the same": ({"summary": "S"}, {"summary": "S"}, {"summary": "S"}, set(), set()),
    "both": ({"summary": "P"}, {"summary": "C"}, {"summary": "C"}, set(), {"summary"}),
    "different fields": (
        {"summary": "P"},
        {"description": "C"},
        {"summary": "P", "description": "C"},
        {"description"},
        set(),
    ),
    "plan moves, person writes": (
        times(600, 60),
        {"description": "C"},
        times(600, 60) | {"description": "C"},
        {"description"},
        set(),
    ),
    "plan starts earlier, person ends later": (
        times(510, 90),
        times(540, 90),
        times(510, 120),
        {"end"},
        set(),
    ),
    "both move": (times(600, 60), times(660, 60), times(660, 60), set(), {"start", "end"}),
    "plan moves, person ends later": (times(600, 60), times(540, 75), times(540, 75), set(), {"start", "end"}),
    "plan starts later than the person ends": (times(570, 30), times(540, 20), times(540, 20), set(), {"start", "end"}),
}


@pytest.mark.parametrize("name", CASES)
def test_who_changed_what(name: str) -> None:
    plan, person, result, adopted, conflicts = CASES[name]
    merged = merge(wanted=BASE, base=BASE, theirs=change_fields(**person), ours=change_fields(**plan))
    assert merged == FieldMerge(change_fields(**result), frozenset(adopted), dict.fromkeys(conflicts, "open"))


@pytest.mark.parametrize(("keep", "summary"), [("calendar", "C"), ("plan", "P"), ("open", "C")])
def test_who_wins_a_conflict(keep: Keep, summary: str) -> None:
    theirs = change_fields(summary="C")
    rules = Rules(theirs, {"summary": keep})
    merged = merge(wanted=BASE, base=BASE, theirs=theirs, ours=change_fields(summary="P"), rules=rules)
    assert merged == FieldMerge(change_fields(summary=summary), frozenset(), {"summary": keep})


def test_a_wish_made_with_the_calendar_in_view_wins() -> None:
    """As long as the calendar still shows what was in view."""
    theirs, ours = change_fields(summary="C"), change_fields(summary="P")
    seen = Rules(theirs, known=True, seen=theirs)
    stale = Rules(theirs, known=True, seen=BASE)
    assert merge(wanted=BASE, base=BASE, theirs=theirs, ours=ours, rules=seen).conflicts == {"summary": "plan"}
    assert merge(wanted=BASE, base=BASE, theirs=theirs, ours=ours, rules=stale).conflicts == {"summary": "open"}


def test_what_was_asked_is_not_written_before_it_is_answered() -> None:
    """Even where the record says that only the plan changed: after an undo it does."""
    ours = change_fields(summary="P")
    asked = Rules(BASE, {"summary": "open"})
    assert merge(wanted=BASE, base=BASE, theirs=BASE, ours=ours, rules=asked) == FieldMerge(
        BASE, frozenset(), {"summary": "open"}
    )
    chosen = Rules(change_fields(summary="C"), {"summary": "plan"})
    back = merge(wanted=BASE, base=BASE, theirs=change_fields(summary="C"), ours=BASE, rules=chosen)
    assert back.result == BASE


def test_a_time_conflict_goes_to_one_side_as_a_whole() -> None:
    merged = merge(
        wanted=BASE,
        base=BASE,
        theirs=change_fields(**times(660, 60)),
        ours=change_fields(**times(600, 30)),
        rules=Rules(rest="plan"),
    )
    assert merged.result == change_fields(**times(600, 30))


def test_text_that_the_calendar_rewrote_is_nobodys_change() -> None:
    """P5: the plan asked for one thing, the calendar made another of it, and neither changed since."""
    made = change_fields(description="<p>notes</p>")
    assert merge(wanted=BASE, base=made, theirs=made, ours=BASE) == FieldMerge(made)
