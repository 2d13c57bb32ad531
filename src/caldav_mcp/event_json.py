"""One event as the tools answer it: Google's field names, in the order of google-calendar-mcp."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import icalendar

from caldav_mcp.colors import color_id_of
from caldav_mcp.guests import read_attendees, read_organizer
from caldav_mcp.ids import instance_id
from caldav_mcp.objects import end_of, is_cancelled, moment_of, start_of
from caldav_mcp.other_properties import read_others
from caldav_mcp.private_values import PRIVATE, SHARED, read_extras, read_properties
from caldav_mcp.reminders import read_reminders
from caldav_mcp.times import rfc3339_milliseconds
from caldav_mcp.values import first, text, values

COLOR_ID = "X-FATEFORGER-COLOR-ID"
UPDATED = "X-FATEFORGER-UPDATED"

DEFAULT_FIELDS = (
    "id", "summary", "start", "end", "status", "htmlLink", "location", "attendees", "reminders", "recurrence"
)  # fmt: skip
_ALWAYS = frozenset(
    {"otherProperties", "start", "end", "startDayOfWeek", "endDayOfWeek", "etag", "calendarId", "accountId", "id"}
)
_RULES = ("RRULE", "EXRULE", "RDATE", "EXDATE")
_UNSAID = {
    "transparency": "opaque", "visibility": "default", "guestsCanInviteOthers": True, "guestsCanModify": False,
    "guestsCanSeeOtherGuests": True, "anyoneCanAddSelf": False, "attendees": [],
}  # fmt: skip


@dataclass(frozen=True)
class Showing:
    """Context of an event's JSON.

    `calendar_id` is the calendar as the caller named it, `owners` the lower-case addresses that are the calendar's
    owner (the first one is shown as creator), `link` the event's address, `etag` the state it was read in.
    """

    calendar_id: str
    zone: ZoneInfo
    owners: tuple[str, ...]
    link: str
    etag: str | None


def event_json(
    event: icalendar.Component, event_id: str, showing: Showing, *, occurrence: bool = False
) -> dict[str, Any]:
    """All fields of an event; with `occurrence`, of one occurrence of the series `event_id`.

    Fields without a value and those that have their standard value are left out, as Google does.
    """
    start, end = start_of(event, showing.zone), end_of(event, showing.zone)
    organizer = read_organizer(event, showing.owners)
    shown: dict[str, Any] = {
        "id": event_id,
        "summary": text(event, "SUMMARY"),
        "description": text(event, "DESCRIPTION"),
        "location": text(event, "LOCATION"),
        "start": start.json(showing.zone),
        "end": end.json(showing.zone),
        "startDayOfWeek": start.weekday,
        "endDayOfWeek": end.weekday,
        "status": _status(event),
        "htmlLink": showing.link,
        "created": _stamp(event, "CREATED"),
        "updated": updated_text(event),
        "colorId": color_id_of(text(event, COLOR_ID), text(event, "COLOR")),
        "creator": organizer,
        "organizer": organizer,
        "attendees": read_attendees(event, showing.owners),
        "recurrence": None if occurrence else _recurrence(event),
        **(_place_in_series(event, event_id, showing.zone) if occurrence else {}),
        "transparency": "transparent" if text(event, "TRANSP", str.upper) == "TRANSPARENT" else "opaque",
        "visibility": text(event, "CLASS", str.lower),
        "iCalUID": text(event, "UID"),
        "sequence": int(first(event, "SEQUENCE") or 0),
        "reminders": read_reminders(event),
        "eventType": "default",
        **read_extras(event),
        "extendedProperties": _dump_properties(event),
        "otherProperties": read_others(event),
        "etag": showing.etag,
        "calendarId": showing.calendar_id,
        "accountId": "normal",
    }
    return {name: value for name, value in shown.items() if value is not None and value != _UNSAID.get(name)}


def only_fields(event: dict[str, Any], fields: list[str] | None) -> dict[str, Any]:
    """Without `fields` everything; with it the default fields and those named."""
    if not fields:
        return event
    wanted = _ALWAYS | set(DEFAULT_FIELDS) | set(fields)
    return {name: value for name, value in event.items() if name in wanted}


def updated_text(event: icalendar.Component) -> str | None:
    """Return the time of the last change, with our own milliseconds unless another program changed it since."""
    own, stamped = text(event, UPDATED), _stamp(event, "LAST-MODIFIED") or _stamp(event, "DTSTAMP")
    return own if own is not None and stamped is not None and own[:19] == stamped[:19] else stamped


def _place_in_series(event: icalendar.Component, event_id: str, zone: ZoneInfo) -> dict[str, Any]:
    original = moment_of(event, "RECURRENCE-ID", zone)
    return {
        "id": instance_id(event_id, original.day or original.instant),
        "recurringEventId": event_id,
        "originalStartTime": original.json(zone),
    }


def _recurrence(event: icalendar.Component) -> list[str] | None:
    return [str(event.content_line(name, value)) for name in _RULES for value in values(event, name)] or None


def _dump_properties(event: icalendar.Component) -> dict[str, dict[str, str]] | None:
    kinds = {"private": read_properties(event, PRIVATE), "shared": read_properties(event, SHARED)}
    return {kind: pairs for kind, pairs in kinds.items() if pairs} or None


def _status(event: icalendar.Component) -> str:
    if is_cancelled(event):
        return "cancelled"
    return "tentative" if text(event, "STATUS", str.upper) == "TENTATIVE" else "confirmed"


def _stamp(event: icalendar.Component, name: str) -> str | None:
    when = getattr(first(event, name), "dt", None)
    if not isinstance(when, datetime):
        return None
    return rfc3339_milliseconds(when if when.tzinfo else when.replace(tzinfo=UTC))
