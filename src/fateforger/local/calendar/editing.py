"""Changes to calendar objects, made line by line so that everything not named stays as it is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any

import icalendar

from .colors import EVENT_COLORS
from .content_lines import Component, line_name, read_lines, text_line, write_lines
from .event_json import COLOR_ID, UPDATED
from .guests import set_attendees
from .objects import OWN_ZONE, Resource
from .private_values import PRIVATE, SHARED, merge_properties, set_extras
from .reminders import set_reminders
from .times import Moment, rfc3339_milliseconds, zone_named

RECURRENCE_LINES = frozenset({"RRULE", "EXRULE", "RDATE", "EXDATE"})


@dataclass(frozen=True)
class Changes:
    """The fields to set on an event; None leaves a field alone, `""` clears a text."""

    start: Moment | None = None
    end: Moment | None = None
    texts: dict[str, str] = field(default_factory=dict)
    color_id: str | None = None
    transparency: str | None = None
    visibility: str | None = None
    recurrence: list[str] | None = None
    reminders: dict[str, Any] | None = None
    attendees: list[dict[str, Any]] | None = None
    private: dict[str, str] = field(default_factory=dict)
    shared: dict[str, str] = field(default_factory=dict)
    extras: dict[str, Any] = field(default_factory=dict)

    @property
    def moves(self) -> bool:
        return self.start is not None or self.end is not None or self.recurrence is not None


def new_object(uid: str, changes: Changes, now: datetime) -> str:
    """The iCalendar text of a new event."""
    head = (f"UID:{uid}", f"CREATED:{_utc(now)}", "STATUS:CONFIRMED", "SEQUENCE:0")
    event = stamped(changed(Component("VEVENT", head), changes), now)
    top = ("VERSION:2.0", "PRODID:-//fateforger//local calendar//EN", event)
    return write_lines(with_zones(Component("VCALENDAR", top)))


def changed(event: Component, changes: Changes) -> Component:
    """The event with the given fields set."""
    for name, value in changes.texts.items():
        event = event.having([text_line(name, value)]) if value else event.lacking({name})
    if changes.start is not None:
        event = event.having([time_line("DTSTART", changes.start)])
    if changes.end is not None:
        event = event.lacking({"DURATION"}).having([time_line("DTEND", changes.end)])
    if changes.recurrence is not None:
        event = event.lacking(RECURRENCE_LINES).adding(changes.recurrence)
    if changes.color_id is not None:
        css = EVENT_COLORS[changes.color_id].css
        event = event.having([f"{COLOR_ID}:{changes.color_id}", f"COLOR:{css}"])
    if changes.transparency is not None:
        event = event.having([f"TRANSP:{changes.transparency.upper()}"])
    if changes.visibility is not None:
        event = event.lacking({"CLASS"})
        event = event if changes.visibility == "default" else event.having([f"CLASS:{changes.visibility.upper()}"])
    return _with_lists(event, changes)


def _with_lists(event: Component, changes: Changes) -> Component:
    if changes.attendees is not None:
        event = set_attendees(event, changes.attendees)
    if changes.private:
        event = merge_properties(event, PRIVATE, changes.private)
    if changes.shared:
        event = merge_properties(event, SHARED, changes.shared)
    if changes.extras:
        event = set_extras(event, changes.extras)
    return event if changes.reminders is None else set_reminders(event, changes.reminders)


def stamped(event: Component, now: datetime, *, moved: bool = False) -> Component:
    """The event marked as changed now, and never earlier than it was marked before."""
    before = [line.partition(":")[2] for line in event.lines(UPDATED)]
    stamp = rfc3339_milliseconds(now)
    if before and before[0] >= stamp:
        now = datetime.fromisoformat(before[0]) + timedelta(milliseconds=1)
        stamp = rfc3339_milliseconds(now)
    lines = [f"DTSTAMP:{_utc(now)}", f"LAST-MODIFIED:{_utc(now)}", f"{UPDATED}:{stamp}"]
    if moved:
        old = [line.partition(":")[2] for line in event.lines("SEQUENCE")]
        lines.append(f"SEQUENCE:{int(old[0]) + 1 if old and old[0].isdigit() else 1}")
    return event.having(lines)


def change_event(text: str, changes: Changes, now: datetime) -> str:
    """Change the event itself (a series: all of it; moving a series lets go of its changed occurrences)."""

    def change(part: Component) -> Component | None:
        if part.name != "VEVENT":
            return part
        if part.lines("RECURRENCE-ID") and has_master:
            return None if changes.moves else part
        return stamped(changed(part, changes), now, moved=changes.moves)

    calendar = read_lines(text)
    has_master = any(c.name == "VEVENT" and not c.lines("RECURRENCE-ID") for c in calendar.components)
    return write_lines(with_zones(calendar.with_components(change)))


def time_line(name: str, moment: Moment) -> str:
    """A date or time property. A local time that happens twice is written in UTC when the second one is meant."""
    if moment.day is not None:
        return f"{name};VALUE=DATE:{moment.day:%Y%m%d}"
    zone = zone_named(moment.zone) or UTC
    local = moment.instant.astimezone(zone)
    if moment.zone == "UTC":
        return f"{name}:{_utc(moment.instant)}"
    if local.fold:
        return f"{name};{OWN_ZONE}={moment.zone}:{_utc(moment.instant)}"
    return f"{name};TZID={moment.zone}:{local:%Y%m%dT%H%M%S}"


def with_zones(calendar: Component) -> Component:
    """The calendar with a `VTIMEZONE` for each IANA zone that its events use and it lacks."""
    present = {line.partition(":")[2] for c in calendar.components for line in c.lines("TZID")}
    used: dict[str, set[int]] = {}
    endless = False
    for event in calendar.components:
        for line in (part for part in event.parts if isinstance(part, str)):
            head, _, value = line.partition(":")
            if ";TZID=" in head and value[:4].isdigit():
                used.setdefault(head.partition(";TZID=")[2], set()).add(int(value[:4]))
            endless |= line_name(line) == "RRULE"
    missing = [zone for zone in used if zone not in present and zone_named(zone)]
    zones = [_zone_component(z, min(used[z]) - 1, max(used[z]) + (30 if endless else 2)) for z in missing]
    return replace(calendar, parts=(*_lines_of(calendar), *zones, *calendar.components))


def _lines_of(calendar: Component) -> tuple[str, ...]:
    return tuple(part for part in calendar.parts if isinstance(part, str))


@lru_cache(maxsize=256)
def _zone_component(zone: str, first_year: int, last_year: int) -> Component:
    first, last = datetime(first_year, 1, 1, tzinfo=UTC).date(), datetime(last_year, 1, 1, tzinfo=UTC).date()
    timezone = icalendar.Timezone.from_tzid(zone, first_date=first, last_date=last)
    timezone.pop("COMMENT", None)
    return read_lines(timezone.to_ical().decode())


def _utc(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}"


def change_occurrence(resource: Resource, occurrence: icalendar.Event, changes: Changes, now: datetime) -> str:
    """Change one occurrence of a series, which then has a component of its own."""
    calendar, series, own = _taken_apart(resource, occurrence)
    if own is None:
        names = RECURRENCE_LINES | {"DURATION", "CREATED"}
        own = series.lacking(names).having([_like(series, "DTSTART", "RECURRENCE-ID", occurrence["RECURRENCE-ID"].dt)])
        own = own.having([_like(series, "DTSTART", "DTSTART", occurrence["DTSTART"].dt)])
        if "DTEND" in occurrence:
            own = own.having([_like(series, "DTEND", "DTEND", occurrence["DTEND"].dt)])
    own = stamped(changed(own, replace(changes, recurrence=None)), now, moved=changes.moves)
    return write_lines(with_zones(calendar.with_component(own)))


def without_occurrence(resource: Resource, occurrence: icalendar.Event, now: datetime) -> str:
    """Take one occurrence out of a series."""
    calendar, series, _ = _taken_apart(resource, occurrence)
    line = _like(series, "DTSTART", "EXDATE", occurrence["RECURRENCE-ID"].dt)
    thinned = stamped(series.adding([line]), now, moved=True)
    return write_lines(calendar.with_components(lambda part: thinned if part == series else part))


def _taken_apart(resource: Resource, occurrence: icalendar.Event) -> tuple[Component, Component, Component | None]:
    """The calendar without the occurrence's own component, the series' component, and the occurrence's own if any."""
    calendar = read_lines(resource.text)
    named = occurrence.content_line("RECURRENCE-ID", occurrence["RECURRENCE-ID"])
    events = [part for part in calendar.components if part.name == "VEVENT"]
    series = next((part for part in events if not part.lines("RECURRENCE-ID")), events[0])
    own = next((part for part in events if str(named) in part.lines("RECURRENCE-ID")), None)
    rest = calendar.with_components(lambda part: None if own is not None and part == own else part)
    return rest, series, own


def _like(series: Component, model: str, name: str, when: date | datetime) -> str:
    """A line `name` in the form (day, floating, UTC, zone) that the series' line `model` has."""
    models = series.lines(model) or series.lines("DTSTART")
    head, _, _ = models[0].partition(":")
    parameters = head[len(line_name(models[0])) :]
    if not isinstance(when, datetime):
        return f"{name}{parameters}:{when:%Y%m%d}"
    return f"{name}{parameters}:{when:%Y%m%dT%H%M%S}{'Z' if models[0].rstrip().endswith('Z') else ''}"
