"""Occurrences of a calendar object in a span of time: the event, or the occurrences of the series."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import icalendar
import recurring_ical_events  # type: ignore[import-untyped]  # it ships no types

from caldav_mcp.objects import Resource, end_of, is_cancelled, moment_of, start_of
from caldav_mcp.times import Moment, day_moment
from caldav_mcp.values import time_of, values

MOST = 250
"""At most this many events are listed, as at Google."""

_MARGIN = timedelta(days=2)
_DAY = timedelta(days=1)


class TooMany(Exception):
    """A series has more occurrences in a span of time than a person or a program can deal with."""


@dataclass(frozen=True)
class Occurrence:
    """Something to show: a single event, or (`in_series`) one occurrence of a series."""

    resource: Resource
    event: icalendar.Component
    start: Moment
    end: Moment
    in_series: bool


def occurrences(
    resource: Resource, earliest: datetime | None, latest: datetime | None, zone: ZoneInfo
) -> list[Occurrence]:
    """Return everything of an object that ends after `earliest` and starts before `latest`, but what is cancelled.

    Without a `latest` only the first occurrences of a series, as many as can be listed. This takes as long as it takes:
    `expansion` keeps to a budget. Raises `TooMany` for a series that fills its days, and `ValueError`, `TypeError` or
    `OverflowError` for one whose recurrence is malformed.
    """
    shown = []
    for occurrence in _all(resource, earliest, latest, zone):
        starts_in_time = latest is None or occurrence.start.instant < latest
        ends_in_time = earliest is None or occurrence.end.instant > earliest
        if starts_in_time and ends_in_time and not is_cancelled(occurrence.event):
            shown.append(occurrence)
    if (
        earliest is not None
        and latest is not None
        and len(shown) > MOST * max(1, math.ceil((latest - earliest) / _DAY))
    ):
        raise TooMany
    return shown


def own_occurrence(resource: Resource, stamp: str, zone: ZoneInfo) -> Occurrence | None:
    """Return the occurrence of that original start if it was changed by itself and is therefore in the object."""
    own = next((event for event in resource.events if stamp_of(event, zone) == stamp), None)
    if own is None:
        return None
    return Occurrence(resource, own, start_of(own, zone), end_of(own, zone), in_series=True)


def around(stamp: str, zone: ZoneInfo) -> tuple[datetime, datetime] | None:
    """Return a span of time about an original start like `20270308T080000Z`, or `20270308` for an all-day series."""
    original = _stamp_time(stamp, zone)
    return None if original is None else (original - _MARGIN, original + _MARGIN)


def stamp_of(event: icalendar.Component, zone: ZoneInfo) -> str | None:
    """Return the stamp that names an occurrence in its id; None for any other event."""
    if "RECURRENCE-ID" not in event:
        return None
    original = moment_of(event, "RECURRENCE-ID", zone)
    return f"{original.day:%Y%m%d}" if original.day is not None else f"{original.instant:%Y%m%dT%H%M%SZ}"


def removed_stamps(resource: Resource, zone: ZoneInfo) -> set[str]:
    """Return the stamps of occurrences that were taken out of a series."""
    stamps = set()
    for removed in (entry.dt for value in values(resource.master, "EXDATE") for entry in value.dts):
        if isinstance(removed, datetime):
            aware = removed if removed.tzinfo else removed.replace(tzinfo=zone)
            stamps.add(f"{aware.astimezone(UTC):%Y%m%dT%H%M%SZ}")
        else:
            stamps.add(f"{removed:%Y%m%d}")
    return stamps


def _all(
    resource: Resource, earliest: datetime | None, latest: datetime | None, zone: ZoneInfo
) -> Iterator[Occurrence]:
    found = _expand(resource, earliest, latest, zone) if resource.is_series else [resource.master]
    for event in found:
        yield Occurrence(resource, event, start_of(event, zone), end_of(event, zone), "RECURRENCE-ID" in event)


def _expand(
    resource: Resource, earliest: datetime | None, latest: datetime | None, zone: ZoneInfo
) -> list[icalendar.Component]:
    """Occurrences in order of their starts, some more than asked for: floating times have no exact place here."""
    margin = _MARGIN if _is_floating(resource) else timedelta()
    first = (earliest or min(start_of(event, zone).instant for event in resource.events)) - margin
    query = recurring_ical_events.of(resource.calendar, components=["VEVENT"])
    if latest is not None:
        return sorted(query.between(first, latest + margin), key=lambda event: start_of(event, zone).instant)
    coming = (event for event in query.after(first) if end_of(event, zone).instant > (earliest or first))
    return list(islice(coming, MOST + 1))


def _is_floating(resource: Resource) -> bool:
    starts = (time_of(event, "DTSTART") for event in resource.events)
    return any(not isinstance(start, datetime) or start.tzinfo is None for start in starts)


def _stamp_time(stamp: str, zone: ZoneInfo) -> datetime | None:
    try:
        if "T" in stamp:
            return datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        return day_moment(datetime.strptime(stamp, "%Y%m%d").replace(tzinfo=UTC).date(), zone).instant
    except ValueError:
        return None
