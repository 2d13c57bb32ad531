"""Calendar objects as read from a CalDAV collection, and their times."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any
from zoneinfo import ZoneInfo

import icalendar

from caldav_mcp.content_lines import Component, read_lines, write_lines
from caldav_mcp.ids import id_of
from caldav_mcp.limits import MAX_OBJECT_CHARS
from caldav_mcp.recurrence import has_plain_zones, is_plain
from caldav_mcp.times import Moment, day_moment, zone_named
from caldav_mcp.values import first, span_of, text, time_of

_ANY_ZONE = ZoneInfo("UTC")
_MICROSECOND = timedelta(microseconds=1)
_log = logging.getLogger(__name__)

OWN_ZONE = "X-FATEFORGER-TZID"
"""Parameter naming the zone of a time that had to be written in UTC."""


@dataclass(frozen=True)
class Resource:
    """One stored calendar object: where it is, which state of it, and its iCalendar text.

    `overtaken` says that another program may have changed it since our own write, in whose answer it is.
    """

    href: str
    etag: str
    text: str
    overtaken: bool = False

    @cached_property
    def calendar(self) -> icalendar.Calendar:
        """The parsed object, without the rules of IANA zones: the parser knows them, and reads them slowly.

        One malformed alarm would make the whole object unreadable, so it is then read without alarms.
        """
        object_ = read_lines(self.text).with_components(_unless_known_zone)
        try:
            return icalendar.Calendar.from_ical(write_lines(object_))
        except ValueError:
            return icalendar.Calendar.from_ical(write_lines(object_.with_components(_without_alarms)))

    @cached_property
    def events(self) -> list[icalendar.Component]:
        """All `VEVENT`s: the event or series itself and its changed occurrences."""
        return [event for event in self.calendar.walk("VEVENT") if "DTSTART" in event]

    @cached_property
    def is_readable(self) -> bool:
        """Check whether it holds an event that can be shown. An unreadable object is logged once."""
        if not self.may_be_parsed:
            return False
        try:
            for event in self.events:
                start_of(event, _ANY_ZONE), end_of(event, _ANY_ZONE)
                if "RECURRENCE-ID" in event:
                    moment_of(event, "RECURRENCE-ID", _ANY_ZONE)
            return bool(self.events)
        except (ValueError, TypeError, OverflowError) as error:
            _log.warning("calendar object %s cannot be read: %s", self.href, error)
            return False

    @cached_property
    def may_be_parsed(self) -> bool:
        """Check whether parsing ends in good time. Endless time zones prevent that."""
        return len(self.text) <= MAX_OBJECT_CHARS and has_plain_zones(self.text)

    @cached_property
    def is_plain(self) -> bool:
        """Check whether it is expanded in good time, whatever the span."""
        return len(self.text) <= MAX_OBJECT_CHARS and is_plain(self.text)

    @property
    def master(self) -> icalendar.Component:
        """The event itself (for a lone changed occurrence of somebody's series: that one)."""
        return next((event for event in self.events if "RECURRENCE-ID" not in event), self.events[0])

    @property
    def uid(self) -> str:
        return text(self.master, "UID") or ""

    @property
    def event_id(self) -> str:
        return id_of(self.uid)

    @property
    def is_series(self) -> bool:
        return any(name in event for event in self.events for name in ("RRULE", "RDATE", "RECURRENCE-ID"))

    @property
    def is_cancelled(self) -> bool:
        return "RECURRENCE-ID" not in self.master and is_cancelled(self.master)


def _unless_known_zone(part: Component) -> Component | None:
    names = [line.partition(":")[2] for line in part.lines("TZID")]
    return None if part.name == "VTIMEZONE" and names and zone_named(names[0]) else part


def _without_alarms(part: Component) -> Component:
    return part.with_components(lambda nested: None if nested.name == "VALARM" else nested)


def is_cancelled(event: icalendar.Component) -> bool:
    return text(event, "STATUS", str.upper) == "CANCELLED"


def start_of(event: icalendar.Component, calendar_zone: ZoneInfo) -> Moment:
    return moment_of(event, "DTSTART", calendar_zone)


def end_of(event: icalendar.Component, calendar_zone: ZoneInfo) -> Moment:
    """Return the end from DTEND or DURATION; without either a day lasts one day and a time no time.

    A day that ends at a time ends with that day, and a time that ends on a day at its midnight.
    """
    start = start_of(event, calendar_zone)
    if "DTEND" in event:
        end = moment_of(event, "DTEND", calendar_zone)
        if start.day is not None and end.day is None:
            last = (end.instant - _MICROSECOND).astimezone(calendar_zone).date()
            return day_moment(max(last, start.day) + timedelta(days=1), calendar_zone)
        return replace(end, day=None) if start.day is None else end
    duration = span_of(event, "DURATION")
    if start.day is not None:
        return day_moment(start.day + (duration or timedelta(days=1)), calendar_zone)
    when = time_of(event, "DTSTART")
    if duration is None or not isinstance(when, datetime):
        return start
    return Moment(_later(when, duration, calendar_zone), None, start.zone)


def moment_of(event: icalendar.Component, name: str, calendar_zone: ZoneInfo) -> Moment:
    """Return a date or time property of an event. Floating times are read in the calendar's zone.

    Raises `ValueError` if it cannot be read.
    """
    value = first(event, name)
    if value is None:
        raise ValueError(f"its {name} is not a time")
    when = value.dt
    if not isinstance(when, datetime):
        return day_moment(when, calendar_zone)
    if when.tzinfo is None:
        return Moment(when.replace(tzinfo=calendar_zone).astimezone(UTC), None, calendar_zone.key)
    return Moment(when.astimezone(UTC), None, _zone_name(value, when) or calendar_zone.key)


def _zone_name(value: Any, when: datetime) -> str | None:
    """Return the IANA name of a time's zone; None when it was written in one that has no such name."""
    name = value.params.get(OWN_ZONE) or getattr(when.tzinfo, "key", None)
    if name is None and when.tzinfo is UTC:
        return "UTC"
    return str(name) if name is not None and zone_named(str(name)) else None


def _later(when: datetime, duration: timedelta, calendar_zone: ZoneInfo) -> datetime:
    """Add a duration as RFC 5545 says: whole days by the clock on the wall, the rest exactly."""
    aware = when.replace(tzinfo=calendar_zone) if when.tzinfo is None else when
    days = timedelta(days=duration.days)
    return (aware + days).astimezone(UTC) + (duration - days)
