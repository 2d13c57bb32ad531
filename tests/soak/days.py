"""The day that a history happens on: a zone, a date, a calendar with its manners; and what a person may plan there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from random import Random
from typing import Literal
from zoneinfo import ZoneInfo

from tests.fakes.quirky_caldav import Habit

from fateforger.calendar.engine import build_desired_day
from fateforger.calendar.event import EventFields
from fateforger.errors import PlanInvalid
from fateforger.planning.plan import ET, TBEvent, TBPlan
from fateforger.planning.timing import FixedStart, local_day, zone

ZONES = (
    "Europe/Berlin", "Europe/London", "America/New_York", "America/Santiago", "America/St_Johns", "Asia/Kolkata",
    "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Auckland", "Pacific/Apia", "Africa/Cairo", "UTC",
)  # fmt: skip
WORDS = ("report", "mail", "talk", "review", "lunch", "focus")
KINDS = (ET.DEEP_WORK, ET.DEEP_WORK, ET.SHALLOW_WORK, ET.HABIT, ET.REGENERATION, ET.BACKGROUND)
YEAR = 2026
Kind = Literal["fake", "google", "microsoft", "caldav"]
HABITS: tuple[tuple[Habit, ...], ...] = (
    (), (), ("no etag",), ("early etag",), ("weak etag",), ("rewrites",), ("no uid filter", "uid is 400"), ("ignores time",),
)  # fmt: skip
"""Behaviors of CalDAV servers that are not in the RFC, and that never cost a write."""


@cache
def odd_days(name: str) -> tuple[date, ...]:
    """Return the days of the year that are not 24 hours long."""
    days = [date(YEAR, 1, 1) + timedelta(days=n) for n in range(365)]
    spans = [(day, local_day(day, zone(name))) for day in days]
    return tuple(day for day, (start, end) in spans if end.astimezone(UTC) - start.astimezone(UTC) != timedelta(days=1))


def as_html(fields: EventFields) -> EventFields:
    """Return the fields as a calendar that rewrites notes does, like Google's page."""
    return fields.model_copy(update={"description": fields.description.replace("\n", "<br>")})


def as_given(fields: EventFields) -> EventFields:
    return fields


@dataclass(frozen=True)
class Setting:
    """The place, the day and the behavior of the calendar.

    ``conditional``: conditional writes. ``lag``: delay of its lists. ``html``: HTML notes. ``habits``: those of a
    CalDAV server. ``kind`` is the calendar: the fake of the port, or an adapter in front of the emulator of a
    provider.
    """

    tz: str
    day: date
    conditional: bool
    lag: int
    html: bool
    concurrency: int
    sql: bool
    kind: Kind = "fake"
    habits: tuple[Habit, ...] = ()

    @classmethod
    def draw(cls, rng: Random, *, sql_share: float, kind: Kind = "fake") -> Setting:
        tz = rng.choice(ZONES)
        odd = odd_days(tz)
        day = rng.choice(odd) if odd and rng.random() < 0.4 else date(YEAR, 1, 1) + timedelta(days=rng.randrange(365))
        sql = rng.random() < sql_share
        conditional, lag = rng.random() < 0.5, rng.choice((0, 0, 0, 1, 2))
        return cls(
            tz=tz,
            day=day,
            conditional=conditional or kind != "fake",
            lag=0 if kind in {"microsoft", "caldav"} else lag,
            html=rng.random() < 0.25,
            # Threads of a database come back in any order, and a history has to be the same each time.
            concurrency=1 if sql else rng.choice((1, 2, 4)),
            sql=sql,
            kind=kind,
            habits=rng.choice(HABITS) if kind == "caldav" else (),
        )

    @property
    def zone(self) -> ZoneInfo:
        return zone(self.tz)

    @property
    def start(self) -> datetime:
        return local_day(self.day, self.zone)[0].astimezone(UTC)

    def some_time(self, rng: Random, *, step: int = 5) -> datetime:
        """Return an instant of the day."""
        start, end = (moment.astimezone(UTC) for moment in local_day(self.day, self.zone))
        minutes = int((end - start).total_seconds() // 60)
        return start + timedelta(minutes=rng.randrange(0, minutes, step))

    def plan_of(self, blocks: tuple[TBEvent, ...]) -> TBPlan:
        return TBPlan(date=self.day, tz=self.tz, events=blocks)


def some_block(rng: Random, number: int) -> TBEvent:
    """Return a new block, at any quarter of the wall clock, even in a skipped or repeated hour, or over midnight."""
    return TBEvent(
        name=f"Write the {rng.choice(WORDS)} {number}",
        description=rng.choice(("", "", f"notes {number}", f"first & {number}\nsecond")),
        type=rng.choice(KINDS),
        timing=some_timing(rng),
        key=f"b{number}",
    )


def some_timing(rng: Random) -> FixedStart:
    quarter = rng.randrange(96)
    length = timedelta(minutes=rng.choice((15, 15, 30, 30, 45, 60, 90)))
    return FixedStart(start=time(quarter // 4, quarter % 4 * 15), duration=length)


def fits(plan: TBPlan) -> bool:
    """Return true if a plan can be written: its blocks do not overlap."""
    try:
        build_desired_day(plan)
    except PlanInvalid:
        return False
    return True


def repair_plan(plan: TBPlan, rng: Random) -> TBPlan:
    """Repair a plan that cannot be written, as a person would: move the blocks that overlap, or drop them."""
    for _ in range(60):
        try:
            build_desired_day(plan)
        except PlanInvalid as error:
            at = rng.choice(error.events) if error.events else rng.randrange(len(plan.events))
            events = list(plan.events)
            events[at] = events[at].model_copy(update={"timing": some_timing(rng)})
            plan = plan.replace(events)
        else:
            return plan
    return repair_plan(plan.replace(plan.events[:-1]), rng)
