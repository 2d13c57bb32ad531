"""Journeys among the events of a calendar: each takes the person to another time zone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from fateforger.calendar.event import EventImage
from fateforger.planning.timing import zone


@dataclass(frozen=True, slots=True)
class ZoneChange:
    """From ``at`` on, the person is in the zone ``tz``; ``journey`` is the event that took them there."""

    at: datetime
    tz: str
    journey: EventImage


def find_zone_changes(events: Iterable[EventImage]) -> tuple[ZoneChange, ...]:
    """Return the changes of zone, in order.

    An event whose start and end are in zones with different clocks is a journey, as calendars keep flights.
    """
    found = [
        ZoneChange(event.end.astimezone(UTC), tz, event)
        for event in events
        if event.busy and not event.gone and isinstance(event.end, datetime)
        for tz in _read_arrivals(event, event.end)
    ]
    return tuple(sorted(found, key=lambda change: (change.at, change.journey.id)))


def _read_arrivals(event: EventImage, end: datetime) -> Iterator[str]:
    """Yield the zone in which a journey ends; nothing for any other event."""
    names = [str(side["timeZone"]) for side in event.raw_zones.values()]
    # Only places move a person: some programs write one end of an event in UTC.
    if len(names) != 2 or any("/" not in name or name.startswith("Etc/") for name in names):
        return
    try:
        start_zone, end_zone = map(zone, names)
    except ValueError:
        return
    if end.astimezone(start_zone).utcoffset() != end.astimezone(end_zone).utcoffset():
        yield names[1]
