"""The rubric, level by level (S50)."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

import pytest

from fateforger.drafting import Busy, Day, Left, Work, grade
from fateforger.plan import ET, FixedStart, TBEvent, TBPlan, instant_of, zone

MONDAY = date(2026, 3, 2)
TZ = "Europe/Amsterdam"


def at(clock: str) -> datetime:
    return instant_of(datetime.combine(MONDAY, time.fromisoformat(clock)), zone(TZ))


def plan(*blocks: str) -> TBPlan:
    """``DW 09:00 90 key``"""
    events = []
    for block in blocks:
        kind, start, minutes, key = block.split()
        timing = FixedStart(start=time.fromisoformat(start), duration=timedelta(minutes=int(minutes)))
        events.append(TBEvent(name=key, type=ET(kind), timing=timing, key=key))
    return TBPlan(date=MONDAY, tz=TZ, events=tuple(events))


def day(*, end: str = "13:00", busy: tuple[Busy, ...] = (), one: str | None = None) -> Day:
    works = () if one is None else (Work(one, one, 60, deep=True, first=True),)
    return Day(date=MONDAY, tz=TZ, start=at("09:00"), end=at(end), busy=busy, works=works)


@pytest.mark.parametrize(
    ("the_plan", "the_day", "left", "level", "label", "step"),
    [
        (plan(), day(), (), 0, "Insufficient", "Add at least one block of work."),
        (plan("R 12:00 45 lunch"), day(), (), 0, "Insufficient", "Add at least one block of work."),
        (
            plan("DW 09:00 60 a"),
            day(busy=(Busy(at("09:30"), at("10:00")),)),
            (),
            1,
            "Minimal",
            "Move “a” away from the meeting it runs into.",
        ),
        (
            plan("DW 09:00 60 a"),
            day(),
            (Left("x", "Taxes", "the day is full"),),
            1,
            "Minimal",
            "Make room for “Taxes”, or take it off today's list.",
        ),
        (plan("DW 12:00 60 a"), day(one="a"), (), 1, "Minimal", "Start “a” in the first half of the day."),
        (plan("DW 12:00 60 b"), day(one="a"), (), 1, "Minimal", "Give “a” a block: it is your one thing."),
        (
            plan("DW 09:00 60 a", "SW 10:00 15 b"),
            day(one="a"),
            (),
            2,
            "Okay",
            "Leave ten minutes between “a” and “b”.",
        ),
        (
            plan("DW 09:00 60 a"),
            day(end="17:00", one="a"),
            (),
            2,
            "Okay",
            "Put a meal or a real pause into the day.",
        ),
        (plan("DW 09:00 60 a"), day(), (), 3, "Detailed", "Say which task is the one thing that matters."),
        (
            plan("DW 09:00 180 a"),
            day(one="a"),
            (),
            3,
            "Detailed",
            "Split “a”: two hours of focus in one piece is about what anyone can do.",
        ),
        (
            plan("DW 09:00 60 a", "SW 10:10 60 b"),
            day(one="a"),
            (),
            3,
            "Detailed",
            "Shallow work takes more than 30% of your working time; give deep work more room.",
        ),
        (
            plan("DW 09:00 90 a", "SW 10:40 30 b"),
            day(one="a"),
            (),
            4,
            "Ultra",
            "Nothing is missing; commit it when you are happy with it.",
        ),
    ],
)
def test_levels(the_plan: TBPlan, the_day: Day, left: tuple[Left, ...], level: int, label: str, step: str) -> None:
    got = grade(the_day, the_plan, left)
    assert (got.level, got.label, got.next_step) == (level, label, step)
