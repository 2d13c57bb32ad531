"""Read the calendar of a day, completely or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from typing import Protocol

from fateforger.commit.bounded import run_each
from fateforger.commit.limits import Limits
from fateforger.plan import local_day, zone
from fateforger.ports import Journal, Window
from fateforger.sync.model import EventImage, Ledger, Snapshot, Standing


class DayReads(Protocol):
    """The reads of a :class:`~fateforger.ports.Calendar`."""

    @property
    def key(self) -> str: ...

    async def window(self, start: datetime, end: datetime) -> tuple[EventImage, ...]: ...

    async def get(self, event_id: str) -> EventImage | None: ...


async def read_day(
    calendar: DayReads, journal: Journal, day: date, tz: str, *, limits: Limits | None = None
) -> tuple[Snapshot, Ledger]:
    """Return what the calendar shows for a local day, and our known writes.

    Raises ``CalendarError`` and ``StoreError``.
    """
    ledger = await journal.ledger(calendar.key, day)
    return await read_snapshot(calendar, ledger, day, tz, limits=limits or Limits()), ledger


async def read_snapshot(
    calendar: DayReads, ledger: Ledger, day: date, tz: str, *, limits: Limits, also: Iterable[str] = ()
) -> Snapshot:
    """Return all events from the start of the local day to some hours after its end.

    Every event that we hold, and those of ``also``, are requested by id if they are not among them: they may have been
    moved away or not be listed yet, and only the answer proves that they are gone.
    """
    start, end = local_day(day, zone(tz))
    events = await calendar.window(start, end + limits.window_after)
    seen = {event.id for event in events}
    held = [h.event_id for h in ledger.heads if h.standing in {Standing.HELD, Standing.RELEASED}]
    fetched: dict[str, EventImage | None] = {}

    async def fetch(event_id: str) -> None:
        fetched[event_id] = await calendar.get(event_id)

    missing = dict.fromkeys(i for i in (*held, *also) if i not in seen)
    await run_each(missing, fetch, at_once=limits.concurrency)
    left_out = events.left_out if isinstance(events, Window) else ()
    return Snapshot(day=day, tz=tz, events=events, fetched={i: fetched[i] for i in missing}, left_out=left_out)
