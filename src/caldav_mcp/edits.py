"""Changes to one event's content lines. Everything not named stays exactly as it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from caldav_mcp.colors import EVENT_COLORS
from caldav_mcp.content_lines import Component, text_line
from caldav_mcp.event_json import COLOR_ID, UPDATED
from caldav_mcp.guests import set_attendees
from caldav_mcp.objects import OWN_ZONE
from caldav_mcp.other_properties import add_others
from caldav_mcp.private_values import PRIVATE, SHARED, merge_properties, set_extras
from caldav_mcp.reminders import set_reminders
from caldav_mcp.times import Moment, rfc3339_milliseconds, zone_named

RECURRENCE_LINES = frozenset({"RRULE", "EXRULE", "RDATE", "EXDATE"})


@dataclass(frozen=True)
class Changes:
    """The fields to set on an event; None and an empty mapping leave a field alone, `""` clears a text.

    `texts` are by iCalendar name. `private`, `shared` and `extras` are merged key by key; `others` are added.
    """

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
    others: list[str] = field(default_factory=list)

    @property
    def moves(self) -> bool:
        return self.start is not None or self.end is not None or self.recurrence is not None


def change_event(event: Component, changes: Changes, now: datetime) -> Component:
    """Return the event with the given fields set, marked as changed now."""
    return stamp_event(_with_lists(_with_lines(event, changes), changes), now, moved=changes.moves)


def _with_lines(event: Component, changes: Changes) -> Component:
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
    if changes.visibility == "default":
        return event.lacking({"CLASS"})
    return event if changes.visibility is None else event.having([f"CLASS:{changes.visibility.upper()}"])


def _with_lists(event: Component, changes: Changes) -> Component:
    if changes.attendees is not None:
        event = set_attendees(event, changes.attendees)
    if changes.private:
        event = merge_properties(event, PRIVATE, changes.private)
    if changes.shared:
        event = merge_properties(event, SHARED, changes.shared)
    if changes.extras:
        event = set_extras(event, changes.extras)
    if changes.reminders is not None:
        event = set_reminders(event, changes.reminders)
    return add_others(event, changes.others)


def stamp_event(event: Component, now: datetime, *, moved: bool) -> Component:
    """Return the event marked as changed now, never earlier than it was marked before; SEQUENCE counts its moves."""
    before = [line.partition(":")[2] for line in event.lines(UPDATED)]
    if before and before[0] >= rfc3339_milliseconds(now):
        now = datetime.fromisoformat(before[0]) + timedelta(milliseconds=1)
    lines = [f"DTSTAMP:{utc_text(now)}", f"LAST-MODIFIED:{utc_text(now)}", f"{UPDATED}:{rfc3339_milliseconds(now)}"]
    if moved:
        old = [line.partition(":")[2] for line in event.lines("SEQUENCE")]
        lines.append(f"SEQUENCE:{int(old[0]) + 1 if old and old[0].isdecimal() else 1}")
    return event.having(lines)


def time_line(name: str, moment: Moment) -> str:
    """Return a date or time property. Where a local time happens twice, the second one can only be written in UTC."""
    if moment.day is not None:
        return f"{name};VALUE=DATE:{moment.day:%Y%m%d}"
    zone = zone_named(moment.zone)
    if zone is None or moment.zone == "UTC":
        return f"{name}:{utc_text(moment.instant)}"
    local = moment.instant.astimezone(zone)
    if local.fold:
        return f"{name};{OWN_ZONE}={moment.zone}:{utc_text(moment.instant)}"
    return f"{name};TZID={moment.zone}:{local:%Y%m%dT%H%M%S}"


def utc_text(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}"
