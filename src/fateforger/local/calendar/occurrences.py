"""What a calendar object shows in a span of time: the event, or the occurrences of the series."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import islice, takewhile
from zoneinfo import ZoneInfo

import icalendar
import recurring_ical_events

from .objects import Resource, end_of, is_cancelled, moment_of, start_of
from .times import Moment

MOST = 250
"""At most this many events are listed, as at Google."""

_log = logging.getLogger(__name__)
_MARGIN = timedelta(days=2)


@dataclass(frozen=True)
class Occurrence:
    """Something to show: a single event, or (`in_series`) one occurrence of a series."""

    resource: Resource
    event: icalendar.Event
    start: Moment
    end: Moment
    in_series: bool


def occurrences(
    resource: Resource, earliest: datetime | None, latest: datetime | None, zone: ZoneInfo
) -> list[Occurrence]:
    """Everything of an object that ends after `earliest` and starts before `latest`; cancelled ones are left out.

    An open end gives the first occurrences only, as many as can be listed.
    """
    found = _expanded(resource, earliest, latest, zone) if resource.is_series else iter([resource.master])
    shown = []
    for event in found:
        start, end = start_of(event, zone), end_of(event, zone)
        inside = (earliest is None or end.instant > earliest) and (latest is None or start.instant < latest)
        if inside and not is_cancelled(event):
            shown.append(Occurrence(resource, event, start, end, resource.is_series))
    return shown


def occurrence_at(resource: Resource, stamp: str, zone: ZoneInfo) -> Occurrence | None:
    """The occurrence whose original start is `stamp`: `20270308T080000Z`, or `20270308` for an all-day series."""
    original = _stamp_time(stamp)
    if original is None:
        return None
    near = [original - timedelta(days=400), original + timedelta(days=400)]
    moved = [moment_of(event["DTSTART"], zone).instant for event in resource.events if "RECURRENCE-ID" in event]
    for event in _expanded(resource, min([*moved, near[0]]) if moved else original - _MARGIN, original + _MARGIN, zone):
        if "RECURRENCE-ID" in event and stamp_of(event, zone) == stamp:
            return Occurrence(resource, event, start_of(event, zone), end_of(event, zone), in_series=True)
    return None


def stamp_of(event: icalendar.Event, zone: ZoneInfo) -> str:
    """How an occurrence is named in its id."""
    original = moment_of(event["RECURRENCE-ID"], zone)
    if original.day is not None:
        return f"{original.day:%Y%m%d}"
    return f"{original.instant:%Y%m%dT%H%M%SZ}"


def _stamp_time(stamp: str) -> datetime | None:
    try:
        return datetime.strptime(stamp, "%Y%m%dT%H%M%SZ" if "T" in stamp else "%Y%m%d").replace(tzinfo=UTC)
    except ValueError:
        return None


def _expanded(
    resource: Resource, earliest: datetime | None, latest: datetime | None, zone: ZoneInfo
) -> Iterator[icalendar.Event]:
    query = recurring_ical_events.of(resource.calendar, components=["VEVENT"])
    if earliest is not None and latest is not None:
        yield from query.between(earliest - _MARGIN, latest + _MARGIN)
        return
    first = earliest or _first_start(resource, zone)
    coming = query.after(first - _MARGIN)
    if latest is not None:
        limit = latest + _MARGIN
        coming = takewhile(lambda event: start_of(event, zone).instant < limit, coming)
    yield from islice(coming, MOST + 50)


def _first_start(resource: Resource, zone: ZoneInfo) -> datetime:
    return min(start_of(event, zone).instant for event in resource.events)


def is_date(value: date | datetime) -> bool:
    return not isinstance(value, datetime)
