"""The three-way merge, case by case (S201)."""

from __future__ import annotations

from typing import Literal

import pytest
from tests.factories.paper import fields

from fateforger.sync.canonical import Canon, canon
from fateforger.sync.merge import FieldMerge, merge

BASE = canon(fields("Focus", 540, 60, "notes"))


def changed(**values: object) -> Canon:
    return BASE._replace(**values)  # type: ignore[arg-type]  # the names are fields


def times(start: int, minutes: int) -> dict[str, object]:
    shape = canon(fields("x", start, minutes))
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
    merged = merge(wanted=BASE, base=BASE, theirs=changed(**person), ours=changed(**plan))
    assert merged == FieldMerge(changed(**result), frozenset(adopted), frozenset(conflicts))


@pytest.mark.parametrize(("prefer", "summary"), [("calendar", "C"), ("plan", "P")])
def test_who_wins_a_conflict(prefer: Literal["calendar", "plan"], summary: str) -> None:
    merged = merge(wanted=BASE, base=BASE, theirs=changed(summary="C"), ours=changed(summary="P"), prefer=prefer)
    assert merged == FieldMerge(changed(summary=summary), frozenset(), frozenset({"summary"}))


def test_a_time_conflict_goes_to_one_side_as_a_whole() -> None:
    merged = merge(
        wanted=BASE, base=BASE, theirs=changed(**times(660, 60)), ours=changed(**times(600, 30)), prefer="plan"
    )
    assert merged.result == changed(**times(600, 30))


def test_text_that_the_calendar_rewrote_is_nobodys_change() -> None:
    """P5: the plan asked for one thing, the calendar made another of it, and neither changed since."""
    made = changed(description="<p>notes</p>")
    assert merge(wanted=BASE, base=made, theirs=made, ours=BASE) == FieldMerge(made)
