"""From a plan to what the calendar should show."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.factories.days import DAY, TZ, at, block, plan_of

from fateforger.calendar.engine import build_desired_day
from fateforger.calendar.event import EventFields
from fateforger.calendar.model import DesiredBlock, DesiredDay
from fateforger.errors import PlanInvalid
from fateforger.planning.plan import COLOR_BY_TYPE, ET, TBEvent
from fateforger.planning.timing import AfterPrevious, FixedStart


def test_blocks_become_events() -> None:
    """S63, S70: canonical text, instants, the color of the type, the place in the plan."""
    plan = plan_of(
        block("a", "09:00", 90, name="  Deep work ", notes=" first\r\nsecond \n"),
        TBEvent(name="Mail", type=ET.SHALLOW_WORK, timing=AfterPrevious(duration=timedelta(minutes=30)), key="b"),
    )
    first = EventFields(
        summary="Deep work", description="first\nsecond", start=at("09:00"), end=at("10:30"), color_id="9"
    )
    then = EventFields(summary="Mail", start=at("10:30"), end=at("11:00"), color_id="8")
    assert build_desired_day(plan) == DesiredDay(
        day=DAY,
        tz=TZ,
        blocks=(
            DesiredBlock(key="a", index=0, type=ET.DEEP_WORK, fields=first),
            DesiredBlock(key="b", index=1, type=ET.SHALLOW_WORK, fields=then),
        ),
    )


@pytest.mark.parametrize("kind", [k for k in ET if k is not ET.BACKGROUND] + [ET.BACKGROUND])
def test_each_type_has_its_color(kind: ET) -> None:
    """S63"""
    (made,) = build_desired_day(plan_of(block("a", kind=kind))).blocks
    assert made.fields.color_id == COLOR_BY_TYPE[kind]


def test_overlapping_blocks_are_refused() -> None:
    """S67"""
    with pytest.raises(PlanInvalid):
        build_desired_day(plan_of(block("a", "09:00"), block("b", "09:30")))


def test_calendars_count_in_seconds() -> None:
    timing = FixedStart(start="09:00:00.600", duration="PT1.5S")
    (made,) = build_desired_day(plan_of(TBEvent(name="x", type=ET.HABIT, timing=timing))).blocks
    assert (made.fields.start, made.fields.end) == (at("09:00"), at("09:00") + timedelta(seconds=2))
    blink = FixedStart(start="09:00", duration="PT0.4S")
    with pytest.raises(PlanInvalid, match="less than a second"):
        build_desired_day(plan_of(TBEvent(name="x", type=ET.HABIT, timing=blink)))
