"""What a calendar object shows in a span of time: the event, or the occurrences of the series."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import icalendar
import recurring_ical_events  # type: ignore[import-untyped]  # it ships no types

from fateforger.local.calendar.objects import Resource, end_of, is_cancelled, moment_of, start_of
from fateforger.local.calendar.times import Moment, day_moment
from fateforger.local.calendar.values import time_of, values

MOST = 250
"""At most this many events are listed, as at Google."""

_log = logging.getLogger(__name__)
_MARGIN = timedelta(days=2)
_DENSE = frozenset({"SECONDLY", "MINUTELY"})


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
    """Everything of an object that ends after `earliest` and starts before `latest`; cancelled ones are left out.

    Without a `latest` only the first occurrences of a series, as many as can be listed. A series that cannot be
    computed shows its first occurrence only.
    """
    shown = []
    for occurrence in _all(resource, earliest, latest, zone):
        starts_in_time = latest is None or occurrence.start.instant < latest
        ends_in_time = earliest is None or occurrence.end.instant > earliest
        if starts_in_time and ends_in_time and not is_cancelled(occurrence.event):
            shown.append(occurrence)
    return shown


def occurrence_at(resource: Resource, stamp: str, zone: ZoneInfo) -> Occurrence | None:
    """The occurrence whose original start is `stamp`: `20270308T080000Z`, or `20270308` for an all-day series."""
    original = _stamp_time(stamp, zone)
    if original is None or not resource.is_series:
        return None
    own = next((event for event in resource.events if stamp_of(event, zone) == stamp), None)
    if own is not None:
        return Occurrence(resource, own, start_of(own, zone), end_of(own, zone), in_series=True)
    near = _all(resource, original - _MARGIN, original + _MARGIN, zone)
    return next((found for found in near if stamp_of(found.event, zone) == stamp), None)


def stamp_of(event: icalendar.Component, zone: ZoneInfo) -> str | None:
    """How an occurrence is named in its id; None for what is no occurrence."""
    if "RECURRENCE-ID" not in event:
        return None
    original = moment_of(event, "RECURRENCE-ID", zone)
    return f"{original.day:%Y%m%d}" if original.day is not None else f"{original.instant:%Y%m%dT%H%M%SZ}"


def removed_stamps(resource: Resource, zone: ZoneInfo) -> set[str]:
    """The stamps of occurrences that were taken out of a series."""
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
    found = _expanded(resource, earliest, latest, zone) if resource.is_series else [resource.master]
    for event in found:
        yield Occurrence(resource, event, start_of(event, zone), end_of(event, zone), "RECURRENCE-ID" in event)


def _expanded(
    resource: Resource, earliest: datetime | None, latest: datetime | None, zone: ZoneInfo
) -> list[icalendar.Component]:
    """Occurrences in order of their starts, some more than asked for: floating times have no exact place here."""
    try:
        return _computed(resource, earliest, latest, zone)
    except (ValueError, OverflowError) as error:
        _log.warning("the series %s cannot be expanded: %s", resource.href, error)
        return [resource.master]


def _computed(
    resource: Resource, earliest: datetime | None, latest: datetime | None, zone: ZoneInfo
) -> list[icalendar.Component]:
    if _is_dense(resource):
        raise ValueError("it repeats too often")
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


def _is_dense(resource: Resource) -> bool:
    """Whether a single day may hold more occurrences than anybody wants to see, or a program to compute."""
    rules = [rule for event in resource.events for rule in values(event, "RRULE")]
    return any(str(f).upper() in _DENSE for rule in rules for f in rule.get("FREQ", []))


def _stamp_time(stamp: str, zone: ZoneInfo) -> datetime | None:
    try:
        if "T" in stamp:
            return datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        return day_moment(datetime.strptime(stamp, "%Y%m%d").replace(tzinfo=UTC).date(), zone).instant
    except ValueError:
        return None
