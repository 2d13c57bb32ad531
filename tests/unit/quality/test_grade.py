"""The rubric, level by level (S50, S206-S208)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.quality.days import day, make_rule, plan

from fateforger.drafting.model import UnplacedItem
from fateforger.planning.plan import TBPlan
from fateforger.quality.model import LABELS, Criterion
from fateforger.quality.rubric import grade_plan

LEFT = (UnplacedItem("x", "Taxes", "the day is full"),)
LONG = {"frame": {"start": "09:00", "end": "17:00"}}
SHORT: dict[str, Any] = {}
ONE = {"tasks": [{"id": "a", "title": "a", "minutes": 60, "one_thing": True}]}
MEETING = {"immovables": [{"title": "M", "start": "09:30", "end": "10:00"}]}
EARLY = [
    make_rule("must", "09:00", "09:30"),
    make_rule("should", "10:00", "10:30"),
    make_rule("prefer", "11:00", "11:30"),
]


@pytest.mark.parametrize(
    ("the_plan", "the_day", "left", "level", "step"),
    [
        (plan(), SHORT, (), 0, "Add at least one block of work."),
        (plan("R 12:00 45 lunch"), SHORT, (), 0, "Add at least one block of work."),
        (plan("DW 09:00 60 a", "SW 09:30 60 b"), SHORT, (), 1, "“a” and “b” overlap; give each a time of its own."),
        (plan("DW 09:00 60 a"), MEETING, (), 1, "Move “a” away from the meeting it runs into."),
        (plan("DW 09:00 60 a"), SHORT, LEFT, 1, "Find a place for “Taxes”, or take it off today's list."),
        (plan("DW 12:00 60 a"), ONE, (), 1, "Start “a” in the first half of the day."),
        (plan("DW 12:00 60 b"), ONE, (), 1, "Give “a” a block: it is the one thing that matters."),
        (plan("DW 09:00 60 a", "SW 10:00 15 b"), ONE, (), 2, "Leave ten minutes between “a” and “b”."),
        (plan("DW 09:00 60 a"), {**ONE, **LONG}, (), 2, "Put a meal or a real pause into the day."),
        (plan("DW 09:00 60 a", "R 10:00 10 b"), {**ONE, **LONG}, (), 2, "Put a meal or a real pause into the day."),
        (plan("DW 09:00 60 a"), SHORT, (), 3, "Say which task is the one thing that matters."),
        (
            plan("DW 09:00 180 a"), ONE, (), 3,
            "Split “a”: 1 h 30 min is about as long as anyone can focus.",
        ),
        (
            plan("DW 09:00 60 a", "SW 10:10 60 b"), ONE, (), 3,
            "Shallow work takes more than 30% of your working time; give deep work more room.",
        ),
        (
            plan("DW 09:00 30 a", "DW 09:40 30 b", "DW 10:20 30 c", "DW 11:00 30 d"), ONE, (), 3,
            "There are 4 blocks of deep work. Two or three of about 90 minutes are enough for a day.",
        ),
        (
            plan("DW 09:00 60 a", "SW 10:10 20 b", "DW 10:35 60 c"), ONE, (), 3,
            "Leave ten minutes before “c”, your next deep work.",
        ),
        (
            plan("DW 09:00 60 a", "R 12:00 30 l", "SW 12:35 20 b"), ONE, (), 3,
            "Leave ten minutes between “l” and “b”.",
        ),
        (
            plan("DW 09:00 60 a", "R 12:30 45 l"), {**ONE, **LONG}, (), 3,
            "End the day with half an hour to look back and shut down.",
        ),
        (
            plan("DW 09:00 90 a", "SW 10:40 30 b"), ONE, (), 4,
            "There is nothing to improve.",
        ),
        (
            plan("DW 09:00 90 a", "R 12:30 45 l", "PR 16:30 30 z"), {**ONE, **LONG}, (), 4,
            "There is nothing to improve.",
        ),
    ],
)  # fmt: skip
def test_levels(
    the_plan: TBPlan, the_day: dict[str, Any], left: tuple[UnplacedItem, ...], level: int, step: str
) -> None:
    got = grade_plan(day(**the_day), the_plan, left)
    assert (got.level, got.label, got.next_step) == (level, LABELS[level], step)


@pytest.mark.parametrize(("clock", "level"), [("09:00", 1), ("10:00", 2), ("11:00", 3), ("12:00", 4)])
def test_what_was_said_counts_by_how_binding_it_is(clock: str, level: int) -> None:
    """S208: a must keeps a plan from Okay, a should from Detailed, a wish from Ultra."""
    got = grade_plan(
        day(**ONE, **LONG, constraints=EARLY, policy={"lunch": None, "shutdown": 0}), plan(f"DW {clock} 30 a")
    )
    assert got.level == level
    assert [f.cause for f in got.findings] == ([] if level == 4 else [EARLY[level - 1]["uid"]])


def test_every_finding_is_listed_with_its_blocks_the_lowest_level_first() -> None:
    got = grade_plan(day(**LONG), plan("DW 09:00 60 a", "DW 10:00 60 b", "SW 11:00 60 c"))
    assert [(f.criterion, f.level, f.keys) for f in got.findings] == [
        (Criterion.AFTER_DEEP, 3, ("a", "b")),
        (Criterion.AFTER_DEEP, 3, ("b", "c")),
        (Criterion.MEAL, 3, ()),
        (Criterion.ONE_THING, 4, ()),
        (Criterion.SHALLOW, 4, ("c",)),
        (Criterion.SHUTDOWN, 4, ()),
    ]


DECLINED = {"lunch": None, "after_deep": 0, "before_deep": 0, "after_meal": 0, "shutdown": 0, "shallow_percent": None,
            "one_thing_early": False, "longest_focus": None, "deep_blocks": None}  # fmt: skip


def test_what_is_declined_is_not_asked_for() -> None:
    """S207: each part of the policy."""
    crowded = plan("DW 09:00 180 a", "DW 12:00 60 b", "SW 13:00 120 c", "DW 15:00 60 d", "DW 16:00 60 e")
    assert grade_plan(day(**LONG, policy=DECLINED), crowded).level == 4


def test_what_was_left_out_and_is_on_the_plan_now_is_not_missed() -> None:
    got = grade_plan(day(), plan("DW 09:00 60 taxes"), LEFT)
    assert Criterion.UNPLACED not in {f.criterion for f in got.findings}
