"""Days to plan: blocks, plans, events, and a whole world around one calendar."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from tests.fakes.google_calendar import GoogleCalendarFake
from tests.fakes.google_store import GoogleStore

from fateforger.calendar.access import CommitContext, Limits
from fateforger.calendar.event import EventImage
from fateforger.calendar.model import Ledger, Snapshot
from fateforger.calendar.ports import Calendar, Journal
from fateforger.calendar.submitter import CalendarSubmitter
from fateforger.planning.plan import ET, TBEvent, TBPlan
from fateforger.planning.timing import FixedStart

DAY = date(2026, 3, 2)
TZ = "Europe/Berlin"
NOON = datetime(2026, 3, 2, 11, 0, tzinfo=UTC)


def block(
    key: str | None,
    start: str = "09:00",
    minutes: int = 60,
    *,
    name: str | None = None,
    notes: str = "",
    kind: ET = ET.DEEP_WORK,
) -> TBEvent:
    """Return a block at a local time; its name is its key by default."""
    timing = FixedStart(start=time.fromisoformat(start), duration=timedelta(minutes=minutes))
    return TBEvent(name=name or str(key), description=notes, type=kind, timing=timing, key=key)


def plan_of(*blocks: TBEvent, day: date = DAY, tz: str = TZ) -> TBPlan:
    return TBPlan(date=day, tz=tz, events=blocks)


def twelve_blocks() -> TBPlan:
    """Return a plan of twelve blocks of a quarter of an hour each, from eight."""
    return plan_of(*(block(f"k{n}", _clock(480 + 15 * n), 15) for n in range(12)))


def eleven_changes() -> TBPlan:
    """Return :func:`twelve_blocks` with 8 updates, 2 creates and 1 delete."""
    renamed = [block(f"k{n}", _clock(480 + 15 * n), 15, name=f"k{n}!") for n in range(1, 9)]
    same = [block(f"k{n}", _clock(480 + 15 * n), 15) for n in range(9, 12)]
    return plan_of(block("x", "06:00", 15), block("y", "06:30", 15), *renamed, *same)


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def at(clock: str, day: date = DAY, tz: str = TZ) -> datetime:
    """Return a local time of the day as an instant."""
    return datetime.combine(day, time.fromisoformat(clock), ZoneInfo(tz)).astimezone(UTC)


def snapshot_of(*events: EventImage, day: date = DAY, tz: str = TZ, **fetched: EventImage | None) -> Snapshot:
    return Snapshot(day=day, tz=tz, events=events, fetched=fetched)


@dataclass
class Time:
    """A clock that moves only in sleeps."""

    instant: datetime = NOON
    slept: list[float] = field(default_factory=list)

    def now(self) -> datetime:
        return self.instant

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.instant += timedelta(seconds=seconds)
        await asyncio.sleep(0)  # others get their turn here


def engine_over(
    calendar: Calendar, journal: Journal, time: Time, *, limits: Limits | None = None, owner: str = "test"
) -> CalendarSubmitter:
    """Return the engine over any calendar; its transactions are t0, t1, ..."""
    ids = itertools.count()
    outside = CommitContext(calendar, journal, time, time.sleep, lambda: 0.0, limits or Limits())
    return CalendarSubmitter(outside, owner=owner, new_id=lambda: f"t{next(ids)}")


@dataclass
class CalendarHarness:
    """One calendar, one journal, and time."""

    journal: Journal
    calendar: GoogleCalendarFake = field(default_factory=GoogleCalendarFake)
    time: Time = field(default_factory=Time)
    limits: Limits = field(default_factory=Limits)
    ids: Iterable[int] = field(default_factory=itertools.count)

    @property
    def store(self) -> GoogleStore:
        return self.calendar.store

    def submitter(
        self, *, owner: str = "test", calendar: Calendar | None = None, journal: Journal | None = None
    ) -> CalendarSubmitter:
        numbers = iter(self.ids)
        outside = CommitContext(
            calendar or self.calendar, journal or self.journal, self.time, self.time.sleep, lambda: 0.0, self.limits
        )
        return CalendarSubmitter(outside, owner=owner, new_id=lambda: f"t{next(numbers)}")

    async def ledger(self, day: date = DAY) -> Ledger:
        return await self.journal.ledger(self.calendar.key, day)

    def list_own_events(self) -> list[tuple[str, ...]]:
        """Return our live events as the person sees them, without ids and versions."""
        ours = [e for e in self.store.get_live_events().values() if e.marker is not None and e.id.startswith("fftb")]
        return sorted((e.summary, e.description, str(e.start), str(e.end), str(e.color_id)) for e in ours)
