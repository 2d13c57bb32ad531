"""New states of whole calendar objects: a single event, a series, one occurrence of it, or its later part."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

import icalendar

from caldav_mcp.content_lines import Component, line_name, read_lines, write_lines
from caldav_mcp.edits import RECURRENCE_LINES, Changes, change_event, stamp_event, utc_text
from caldav_mcp.objects import Resource
from caldav_mcp.times import zone_named
from caldav_mcp.values import time_of

_ENDINGS = re.compile(r";(?:COUNT|UNTIL)=[^;]*", re.IGNORECASE)
_PRODUCT = ("VERSION:2.0", "PRODID:-//fateforger//local calendar//EN")


def new_object(uid: str, changes: Changes, now: datetime) -> str:
    """Return the iCalendar text of a new event."""
    head = (f"UID:{uid}", f"CREATED:{utc_text(now)}", "STATUS:CONFIRMED")
    event = change_event(Component("VEVENT", head), changes, now).having(["SEQUENCE:0"])
    return _write_calendar(Component("VCALENDAR", (*_PRODUCT, event)))


def with_changes(resource: Resource, changes: Changes, now: datetime) -> str:
    """Return the event changed, or the whole series. A series with a new start loses its changed occurrences."""

    def change(part: Component) -> Component | None:
        if part == series:
            return change_event(part, changes, now)
        is_stale = part.name == "VEVENT" and (changes.start is not None or changes.recurrence is not None)
        return None if is_stale else part

    calendar = read_lines(resource.text)
    series = _series(calendar)
    return _write_calendar(calendar.with_components(change))


def with_occurrence(resource: Resource, occurrence: icalendar.Component, changes: Changes, now: datetime) -> str:
    """One occurrence changed, which from then on has a component of its own."""
    calendar = read_lines(resource.text)
    series, own = _series(calendar), _own(calendar, occurrence)
    if own is None:
        own = _as_occurrence(series, occurrence)
        return _write_calendar(calendar.with_component(change_event(own, replace(changes, recurrence=None), now)))
    renewed = change_event(own, replace(changes, recurrence=None), now)
    return _write_calendar(calendar.with_components(lambda part: renewed if part == own else part))


def without_occurrence(resource: Resource, occurrence: icalendar.Component, now: datetime) -> str:
    """Return the series with one occurrence taken out."""
    calendar = read_lines(resource.text)
    series, own = _series(calendar), _own(calendar, occurrence)
    line = _like(series, "DTSTART", "EXDATE", time_of(occurrence, "RECURRENCE-ID"))
    thinned = stamp_event(series.adding([line]), now, moved=True)

    def change(part: Component) -> Component | None:
        return thinned if part == series else None if part == own else part

    return _write_calendar(calendar.with_components(change))


def ended_before(resource: Resource, first_left_out: datetime, now: datetime) -> str:
    """Return the series with no occurrence at or after an instant; what was changed there is gone with it."""
    until = utc_text(first_left_out - timedelta(seconds=1))
    calendar = read_lines(resource.text)
    series = _series(calendar)
    rules = [f"{_ENDINGS.sub('', rule)};UNTIL={until}" for rule in series.lines("RRULE")]
    ended = stamp_event(series.having(rules), now, moved=True)
    return _write_calendar(calendar.with_components(lambda part: ended if part == series else part))


def copy_series(resource: Resource, uid: str, changes: Changes, now: datetime) -> str:
    """Return a new event with everything that a series has, and the changes: its continuation under another UID."""
    calendar = read_lines(resource.text)
    series = _series(calendar)
    rules = [_ENDINGS.sub("", rule) if "UNTIL=" in rule.upper() else rule for rule in series.lines("RRULE")]
    bare = series.lacking({"EXDATE", "RDATE", "DURATION"}).having([f"UID:{uid}", f"CREATED:{utc_text(now)}", *rules])
    event = change_event(bare, changes, now).having(["SEQUENCE:0"])
    return _write_calendar(Component("VCALENDAR", (*_PRODUCT, event)))


def zone_object(zone: str, now: datetime) -> str:
    """Return a calendar object with nothing but the rules of an IANA zone for the coming years."""
    return write_lines(Component("VCALENDAR", (*_PRODUCT, _zone_component(zone, now.year - 1, now.year + 10))))


def _series(calendar: Component) -> Component:
    events = [part for part in calendar.components if part.name == "VEVENT"]
    return next((part for part in events if not part.lines("RECURRENCE-ID")), events[0])


def _own(calendar: Component, occurrence: icalendar.Component) -> Component | None:
    named = _value(str(occurrence.content_line("RECURRENCE-ID", occurrence["RECURRENCE-ID"])))
    own = (part for part in calendar.components if named in map(_value, part.lines("RECURRENCE-ID")))
    return next(own, None)


def _value(line: str) -> str:
    return line.rpartition(":")[2]


def _as_occurrence(series: Component, occurrence: icalendar.Component) -> Component:
    own = series.lacking(RECURRENCE_LINES | {"DURATION"})
    own = own.having([_like(series, "DTSTART", "RECURRENCE-ID", time_of(occurrence, "RECURRENCE-ID"))])
    own = own.having([_like(series, "DTSTART", "DTSTART", time_of(occurrence, "DTSTART"))])
    if "DTEND" not in occurrence:
        return own
    return own.having([_like(series, "DTEND", "DTEND", time_of(occurrence, "DTEND"))])


def _like(series: Component, model: str, name: str, when: date | datetime) -> str:
    """Return a line `name` in the form (day, floating, UTC, zone) that the series' line `model` has."""
    line = (series.lines(model) or series.lines("DTSTART"))[0]
    head, _, value = line.partition(":")
    parameters = head[len(line_name(line)) :]
    if not isinstance(when, datetime):
        return f"{name}{parameters}:{when:%Y%m%d}"
    if value.rstrip().endswith("Z"):
        return f"{name}{parameters}:{utc_text(when)}"
    return f"{name}{parameters}:{when:%Y%m%dT%H%M%S}"


def _write_calendar(calendar: Component) -> str:
    """Return the text of a calendar, with a `VTIMEZONE` for each IANA zone that its events use and it lacks."""
    present = {line.partition(":")[2] for part in calendar.components for line in part.lines("TZID")}
    used: dict[str, set[int]] = {}
    goes_on = False
    for event in calendar.components:
        for line in (part for part in event.parts if isinstance(part, str)):
            head, _, value = line.partition(":")
            if ";TZID=" in head and value[:4].isdecimal():
                used.setdefault(head.partition(";TZID=")[2].partition(";")[0], set()).add(int(value[:4]))
            goes_on |= line_name(line) == "RRULE"
    lacking = [zone for zone in used if zone not in present and zone_named(zone)]
    zones = [_zone_component(z, min(used[z]) - 1, max(used[z]) + (30 if goes_on else 2)) for z in lacking]
    lines = tuple(part for part in calendar.parts if isinstance(part, str))
    return write_lines(replace(calendar, parts=(*lines, *zones, *calendar.components)))


@lru_cache(maxsize=256)
def _zone_component(zone: str, first_year: int, last_year: int) -> Component:
    """Return the zone's rules for some years, for programs that do not know IANA names."""
    first, last = (datetime(max(year, 1), 1, 1, tzinfo=UTC).date() for year in (first_year, min(last_year, 9999)))
    timezone = icalendar.Timezone.from_tzid(zone, first_date=first, last_date=last)
    timezone.pop("COMMENT", None)
    return read_lines(timezone.to_ical().decode())
