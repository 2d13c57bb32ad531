"""One event as the tools answer it: Google's field names, in the order of google-calendar-mcp."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import icalendar

from .colors import color_id_of
from .guests import address_of, read_attendees
from .ids import instance_id
from .objects import end_of, is_cancelled, moment_of, start_of
from .private_values import PRIVATE, SHARED, read_extras, read_properties
from .reminders import read_reminders
from .times import rfc3339_milliseconds

COLOR_ID = "X-FATEFORGER-COLOR-ID"
UPDATED = "X-FATEFORGER-UPDATED"

DEFAULT_FIELDS = (
    "id", "summary", "start", "end", "status", "htmlLink", "location", "attendees", "reminders", "recurrence"
)  # fmt: skip
_ALWAYS = frozenset({"start", "end", "startDayOfWeek", "endDayOfWeek", "etag", "calendarId", "accountId", "id"})
_RULES = ("RRULE", "EXRULE", "RDATE", "EXDATE")
_STANDARD = {"transparency": "opaque", "visibility": "default"}


@dataclass(frozen=True)
class Showing:
    """What an event's JSON says besides the event itself.

    `calendar_id` is the calendar as the caller named it, `owners` the lower-case addresses that are the calendar's owner
    (the first one is shown as creator), `link` the event's address, `etag` the state it was read in.
    """

    calendar_id: str
    zone: ZoneInfo
    owners: tuple[str, ...]
    link: str
    etag: str | None


def event_json(event: icalendar.Event, event_id: str, showing: Showing, *, occurrence: bool = False) -> dict[str, Any]:
    """All fields of an event; with `occurrence`, of one occurrence of the series `event_id`."""
    start, end = start_of(event, showing.zone), end_of(event, showing.zone)
    color = color_id_of(_text(event, COLOR_ID), _text(event, "COLOR"))
    shown: dict[str, Any] = {
        "id": event_id,
        "summary": _text(event, "SUMMARY"),
        "description": _text(event, "DESCRIPTION"),
        "location": _text(event, "LOCATION"),
        "start": start.json(showing.zone),
        "end": end.json(showing.zone),
        "startDayOfWeek": start.weekday,
        "endDayOfWeek": end.weekday,
        "status": _status(event),
        "htmlLink": showing.link,
        "created": _stamp(event, "CREATED"),
        "updated": updated_text(event),
        "colorId": color,
        **_people(event, showing.owners),
        "recurrence": None if occurrence else _recurrence(event),
        **(_place_in_series(event, event_id, showing.zone) if occurrence else {}),
        "transparency": "transparent" if _text(event, "TRANSP") == "TRANSPARENT" else None,
        "visibility": _text(event, "CLASS", str.lower),
        "iCalUID": _text(event, "UID"),
        "sequence": int(event.get("SEQUENCE", 0)),
        "reminders": read_reminders(event),
        "eventType": "default",
        **read_extras(event),
        "extendedProperties": _extended(event),
        "etag": showing.etag,
        "calendarId": showing.calendar_id,
        "accountId": "normal",
    }
    return {k: v for k, v in shown.items() if v is not None and v != [] and _STANDARD.get(k) != v}


def only_fields(event: dict[str, Any], fields: list[str] | None) -> dict[str, Any]:
    """Without `fields` everything; with it the default fields and those named."""
    if not fields:
        return event
    wanted = _ALWAYS | set(DEFAULT_FIELDS) | set(fields)
    return {name: value for name, value in event.items() if name in wanted}


def updated_text(event: icalendar.Event) -> str | None:
    """When the event was last changed, with our own milliseconds as long as nobody else changed it since."""
    own, stamped = _text(event, UPDATED), _stamp(event, "LAST-MODIFIED") or _stamp(event, "DTSTAMP")
    return own if own is not None and stamped is not None and own[:19] == stamped[:19] else stamped


def _people(event: icalendar.Event, owners: tuple[str, ...]) -> dict[str, Any]:
    own = {"email": owners[0], "self": True}
    if "ORGANIZER" not in event:
        return {"creator": own, "organizer": own, "attendees": read_attendees(event, frozenset(owners))}
    address = address_of(event["ORGANIZER"])
    organizer: dict[str, Any] = {"email": address}
    if "CN" in event["ORGANIZER"].params:
        organizer["displayName"] = str(event["ORGANIZER"].params["CN"])
    if address.lower() in owners:
        organizer["self"] = True
    return {"creator": organizer, "organizer": organizer, "attendees": read_attendees(event, frozenset(owners))}


def _place_in_series(event: icalendar.Event, event_id: str, zone: ZoneInfo) -> dict[str, Any]:
    original = moment_of(event["RECURRENCE-ID"], zone)
    return {
        "id": instance_id(event_id, original.day or original.instant),
        "recurringEventId": event_id,
        "originalStartTime": original.json(zone),
    }


def _recurrence(event: icalendar.Event) -> list[str]:
    rules = []
    for name in _RULES:
        values = event.get(name, [])
        for value in values if isinstance(values, list) else [values]:
            rules.append(str(event.content_line(name, value)))
    return rules


def _extended(event: icalendar.Event) -> dict[str, dict[str, str]] | None:
    kinds = {"private": read_properties(event, PRIVATE), "shared": read_properties(event, SHARED)}
    return {kind: values for kind, values in kinds.items() if values} or None


def _status(event: icalendar.Event) -> str:
    if is_cancelled(event):
        return "cancelled"
    return "tentative" if str(event.get("STATUS", "")).upper() == "TENTATIVE" else "confirmed"


def _text(event: icalendar.Event, name: str, change: Any = str) -> str | None:
    value = event.get(name)
    if isinstance(value, list):
        value = value[0]
    return change(str(value)) if value is not None and str(value) else None


def _stamp(event: icalendar.Event, name: str) -> str | None:
    value = event.get(name)
    when = getattr(value, "dt", None)
    if not isinstance(when, datetime):
        return None
    return rfc3339_milliseconds(when if when.tzinfo else when.replace(tzinfo=UTC))
