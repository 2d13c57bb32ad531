"""Fixes for a plan, as patches that were tried (S50, S206-S208)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.quality.days import day, make_rule, plan

from fateforger.drafting.model import UnplacedItem
from fateforger.planning.patch import apply
from fateforger.planning.plan import TBPlan, resolve
from fateforger.quality.fixes import find_fixes
from fateforger.quality.rubric import grade_plan

LONG: dict[str, Any] = {"frame": {"start": "09:00", "end": "17:00"}}
ONE = {"tasks": [{"id": "a", "title": "a", "minutes": 60, "one_thing": True}]}
NONE: dict[str, Any] = {"shutdown": 0, "lunch": None, "shallow_percent": None, "one_thing_early": False}


def meeting(start: str, end: str) -> dict[str, Any]:
    return {"title": "M", "start": start, "end": end}


def list_blocks(plan: TBPlan) -> list[str]:
    blocks = sorted(resolve(plan), key=lambda b: b.start)
    return [f"{b.start:%H:%M}-{b.end:%H:%M} {b.event.name}" for b in blocks]


@pytest.mark.parametrize(
    ("the_plan", "the_day", "label", "after"),
    [
        (
            plan("DW 09:00 60 a", "SW 10:00 30 b", "SW 12:00 30 c"), {"policy": NONE},
            "Add a break after “a”",
            ["09:00-10:00 a", "10:00-10:10 Break", "10:10-10:40 b", "12:00-12:30 c"],
        ),
        (
            plan("DW 09:00 60 a", "SW 10:05 30 b"), {"policy": NONE, "immovables": [meeting("10:35", "11:00")]},
            "Add a break after “a”",
            ["09:00-10:00 a", "10:00-10:10 Break", "11:00-11:30 b"],
        ),
        (
            plan("DW 09:00 60 a", "SW 10:00 180 b"), {"policy": NONE},
            "Shorten “a” by 10 min for a break",
            ["09:00-09:50 a", "09:50-10:00 Break", "10:00-13:00 b"],
        ),
        (
            plan("DW 09:00 60 a", "R 12:00 30 l"), {"policy": NONE, "immovables": [meeting("12:00", "12:15")]},
            "Move “l” to 12:15",
            ["09:00-10:00 a", "12:15-12:45 l"],
        ),
        (
            plan("DW 09:00 60 a", "SW 09:30 30 b"), {"policy": {**NONE, "after_deep": 0}},
            "Move “b” to 10:00",
            ["09:00-10:00 a", "10:00-10:30 b"],
        ),
        (
            plan("DW 10:00 60 a"), {"policy": NONE, "constraints": [make_rule("must", "10:00", "11:00")]},
            "Move “a” to 09:00",
            ["09:00-10:00 a"],
        ),
        (
            plan("DW 10:00 60 a"), {"policy": NONE, "constraints": [make_rule("should", "10:00", "10:30")]},
            "Move “a” to 10:30",
            ["10:30-11:30 a"],
        ),
        (
            plan("SW 09:00 60 b", "DW 15:00 60 a"), {**LONG, **ONE, "policy": {**NONE, "one_thing_early": True}},
            "Move “a” to 10:00",
            ["09:00-10:00 b", "10:00-11:00 a"],
        ),
        (
            plan("SW 09:00 120 b", "SW 11:00 125 c", "DW 15:00 60 a"),
            {**LONG, **ONE, "policy": {**NONE, "one_thing_early": True}},
            "Swap “a” and “b”",
            ["09:00-10:00 a", "11:00-13:05 c", "14:00-16:00 b"],
        ),
        (
            plan("SW 09:00 60 b", "SW 10:30 170 c", "DW 15:00 90 a"),
            {**LONG, **ONE, "immovables": [meeting("10:00", "10:30")], "policy": {**NONE, "one_thing_early": True}},
            "Swap “a” and “c”",
            ["09:00-10:00 b", "10:30-12:00 a", "13:40-16:30 c"],
        ),
        (
            plan("SW 09:00 60 b"), {**LONG, **ONE, "policy": {**NONE, "one_thing_early": True}},
            "Add “a” at 10:00",
            ["09:00-10:00 b", "10:00-11:00 a"],
        ),
        (
            plan("DW 09:00 60 a"), {**LONG, "policy": {**NONE, "lunch": {}}},
            "Add lunch at 12:30",
            ["09:00-10:00 a", "12:30-13:15 Lunch"],
        ),
        (
            plan("DW 09:00 60 a"), {**LONG, "policy": {**NONE, "shutdown": 30}},
            "Add 30 min to shut down at 16:30",
            ["09:00-10:00 a", "16:30-17:00 Shut down"],
        ),
        (
            plan("DW 09:00 150 a"), {**LONG, "policy": NONE},
            "Split “a” in two",
            ["09:00-10:15 a", "10:25-11:40 a"],
        ),
        (
            plan("SW 09:00 30 b", "R 12:00 30 l", "SW 12:30 30 c"), {**LONG, "policy": NONE},
            "Move “c” to 12:40",
            ["09:00-09:30 b", "12:00-12:30 l", "12:40-13:10 c"],
        ),
        (
            plan("DW 09:00 30 a", "SW 10:00 30 b", "DW 10:30 60 c"), {"policy": NONE},
            "Move “c” to 10:40",
            ["09:00-09:30 a", "10:00-10:30 b", "10:40-11:40 c"],
        ),
    ],
)  # fmt: skip
def test_the_first_fix(the_plan: TBPlan, the_day: dict[str, Any], label: str, after: list[str]) -> None:
    instance = day(**the_day)
    first = find_fixes(instance, the_plan)[0]
    assert first.label == label
    assert list_blocks(apply(the_plan, first.patch).plan) == after
    assert first.level == grade_plan(instance, apply(the_plan, first.patch).plan).level


def test_what_found_no_place_is_put_where_there_is_room_now() -> None:
    instance = day(**LONG, tasks=[{"id": "x", "title": "Taxes", "minutes": 60, "type": "SW"}], policy=NONE)
    before = plan("DW 09:00 60 a")
    (fix,) = find_fixes(instance, before, (UnplacedItem("x", "Taxes", "the day was full"),))
    assert fix.label == "Add “Taxes” at 10:10"
    assert list_blocks(apply(before, fix.patch).plan) == ["09:00-10:00 a", "10:10-11:10 Taxes"]


def test_three_at_most_and_the_most_helpful_first() -> None:
    crowded = plan("DW 09:00 150 a", "DW 11:30 60 b", "SW 12:30 30 c", "DW 13:00 60 d")
    found = find_fixes(day(**LONG), crowded)
    assert len(found) == 3
    assert [fix.level for fix in found] == sorted((fix.level for fix in found), reverse=True)


def test_while_the_plan_cannot_be_followed_nothing_else_is_offered() -> None:
    broken = plan("DW 09:00 60 a", "SW 09:30 60 b", "DW 11:00 60 c", "SW 12:00 30 d")
    assert [fix.criterion.value for fix in find_fixes(day(**LONG), broken)] == ["overlap"]


def test_what_is_pinned_or_past_stays() -> None:
    """S207: there is no room for a break without moving b; then a is shortened, unless it stays, too."""
    both = plan("DW 09:00 60 a", "SW 10:00 30 b")
    free = {"policy": NONE}
    pinned = day(**free, pinned=[{"key": "b"}])
    assert [fix.label for fix in find_fixes(pinned, both)] == ["Shorten “a” by 10 min for a break"]
    assert find_fixes(day(**free, pinned=[{"key": "a"}, {"key": "b"}]), both) == ()
    assert find_fixes(day(**free, now="10:05"), both) == ()


def test_a_plan_that_is_as_good_as_can_be_needs_nothing() -> None:
    assert find_fixes(day(policy=NONE), plan("DW 09:00 60 a", "SW 10:10 20 b")) == ()


def test_the_same_change_has_the_same_name_whatever_blocks_are_called() -> None:
    def name_block(title: str) -> TBPlan:
        before = plan("DW 09:00 60 a", "SW 10:00 30 b")
        return before.replace(event.model_copy(update={"name": title}) for event in before.events)

    ids = [[fix.id for fix in find_fixes(day(policy=NONE), name_block(title))] for title in ("Report", "Slides")]
    assert ids[0] == ids[1] != []
