"""Days to plan: blocks, plans, events, and a whole world around one calendar."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from tests.fakes.google_calendar import GoogleCalendarFake
from tests.fakes.google_store import GoogleStore

from fateforger.commit import CalendarSubmitter, Limits, Outside
from fateforger.plan import ET, FixedStart, TBEvent, TBPlan
from fateforger.ports import Calendar, Journal
from fateforger.sync.model import EventImage, Ledger, Snapshot

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
    """A block at a local time; its name is its key unless another is given."""
    timing = FixedStart(start=time.fromisoformat(start), duration=timedelta(minutes=minutes))
    return TBEvent(name=name or str(key), description=notes, type=kind, timing=timing, key=key)


def plan_of(*blocks: TBEvent, day: date = DAY, tz: str = TZ) -> TBPlan:
    return TBPlan(date=day, tz=tz, events=blocks)


def at(clock: str, day: date = DAY, tz: str = TZ) -> datetime:
    """A local time of the day as an instant."""
    return datetime.combine(day, time.fromisoformat(clock), ZoneInfo(tz)).astimezone(UTC)


def snapshot_of(*events: EventImage, day: date = DAY, tz: str = TZ, **fetched: EventImage | None) -> Snapshot:
    return Snapshot(day=day, tz=tz, events=events, fetched=fetched)


@dataclass
class Time:
    """A clock that moves when somebody sleeps, and only then."""

    instant: datetime = NOON
    slept: list[float] = field(default_factory=list)

    def now(self) -> datetime:
        return self.instant

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.instant += timedelta(seconds=seconds)


@dataclass
class World:
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
        outside = Outside(
            calendar or self.calendar, journal or self.journal, self.time, self.time.sleep, lambda: 0.0, self.limits
        )
        return CalendarSubmitter(outside, owner=owner, new_id=lambda: f"t{next(numbers)}")

    async def ledger(self, day: date = DAY) -> Ledger:
        return await self.journal.ledger(self.calendar.key, day)

    def managed(self) -> list[tuple[str, ...]]:
        """Our live events as the person sees them: ids and versions left out."""
        ours = [e for e in self.store.shown().values() if e.marker is not None and e.id.startswith("fftb")]
        return sorted((e.summary, e.description, str(e.start), str(e.end), str(e.color_id)) for e in ours)
