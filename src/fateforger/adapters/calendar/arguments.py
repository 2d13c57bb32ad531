"""The arguments of each tool call, in the forms with the fewest surprises.

Every call names one calendar and, where there is one, the account. Times are sent as instants *and* a zone, so that the
server never asks the calendar for its own zone and never falls back to UTC. Checks for duplicates and conflicts are
off, and no mail is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from fateforger.adapters.calendar.wire import SHOWN_FIELDS
from fateforger.sync.model import PLAIN, EventExtras, EventFields, Marker

Arguments = dict[str, Any]
_NAMES = {"summary": "summary", "description": "description", "color_id": "colorId"}


@dataclass(frozen=True, slots=True)
class Target:
    """The calendar a call is for. ``time_zone`` is an IANA name."""

    calendar_id: str
    account: str | None
    time_zone: str

    @property
    def name(self) -> str:
        """Return a name that is unique among all calendars of the server."""
        return self.calendar_id if self.account is None else f"{self.account}:{self.calendar_id}"

    @property
    def arguments(self) -> Arguments:
        account = {} if self.account is None else {"account": self.account}
        return {"calendarId": self.calendar_id, **account}


def build_list_arguments(target: Target, start: datetime, end: datetime) -> Arguments:
    """Return the arguments of ``list-events``, with the bounds widened to whole seconds."""
    return {
        **target.arguments,
        "timeMin": format_time(start),
        "timeMax": format_time(_round_up(end)),
        "timeZone": target.time_zone,
        "fields": list(SHOWN_FIELDS),
    }


def build_get_arguments(target: Target, event_id: str) -> Arguments:
    return {**target.arguments, "eventId": event_id, "fields": list(SHOWN_FIELDS)}


def build_create_arguments(
    target: Target, event_id: str, fields: EventFields, marker: Marker, extras: EventExtras = PLAIN
) -> Arguments:
    """Return the arguments of ``create-event``.

    An empty description, a missing colour and every extra with its usual value are left out, which gives the same event
    as leaving them unset by hand. Guests are added without a mail, since an undo is not an invitation.
    """
    described = {"description": fields.description} if fields.description else {}
    coloured = {} if fields.color_id is None else {"colorId": fields.color_id}
    return {
        **target.arguments,
        "eventId": event_id,
        "summary": fields.summary,
        "start": format_time(fields.start),
        "end": format_time(fields.end),
        "timeZone": target.time_zone,
        **described,
        **coloured,
        **build_extras_arguments(extras),
        "extendedProperties": {
            "private": {**extras.properties, **marker.properties()},
            **({"shared": dict(extras.shared_properties)} if extras.shared_properties else {}),
        },
        "sendUpdates": "none",
        "allowDuplicates": True,
        "calendarsToCheck": [],
    }


def build_extras_arguments(extras: EventExtras) -> Arguments:
    """Return the extras that the server accepts, except properties.

    The server can create a new video call but not restore the old one, and it accepts no status.
    """
    given: Arguments = {
        "location": extras.location,
        "attendees": [dict(guest) for guest in extras.guests],
        "attachments": [dict(attachment) for attachment in extras.attachments],
        "source": dict(extras.source),
        "visibility": "" if extras.visibility == "default" else extras.visibility,
        "transparency": "transparent" if extras.free else "",
        "otherProperties": list(extras.others),
        **extras.guest_rights,
    }
    if extras.reminders is not None:
        overrides = [{"method": method, "minutes": minutes} for method, minutes in extras.reminders]
        given["reminders"] = {"useDefault": False, "overrides": overrides}
    return {name: value for name, value in given.items() if value not in ("", [], {})}


def build_update_arguments(
    target: Target, event_id: str, changes: Mapping[str, Any], marker: Marker, if_match: str | None
) -> Arguments:
    """Return the arguments of ``update-event``.

    ``changes`` must hold both ends of the event or neither. Text is cleared by ``""``. A colour can be set but not
    removed, so ``color_id: None`` is left out.
    """
    fields = {_NAMES[name]: value for name, value in changes.items() if name in _NAMES and value is not None}
    times = {name: format_time(changes[name]) for name in ("start", "end") if name in changes}
    return {
        **target.arguments,
        "eventId": event_id,
        **fields,
        **times,
        "timeZone": target.time_zone,
        "extendedProperties": {"private": marker.properties()},
        "checkConflicts": False,
        "calendarsToCheck": [],
        "sendUpdates": "none",
        **_build_if_match(if_match),
    }


def build_delete_arguments(target: Target, event_id: str, if_match: str | None) -> Arguments:
    return {**target.arguments, "eventId": event_id, "sendUpdates": "none", **_build_if_match(if_match)}


def format_time(moment: datetime) -> str:
    """Format an instant as RFC 3339 in UTC, in whole seconds, since the server refuses fractions."""
    return f"{moment.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat()}Z"


def resolve_start(moment: datetime | date, time_zone: str) -> datetime:
    """Return the instant at which an event starts; a date starts at midnight in ``time_zone``."""
    if isinstance(moment, datetime):
        return moment.astimezone(UTC)
    return datetime(moment.year, moment.month, moment.day, tzinfo=ZoneInfo(time_zone)).astimezone(UTC)


def _build_if_match(if_match: str | None) -> Arguments:
    return {} if if_match is None else {"ifMatch": if_match}


def _round_up(moment: datetime) -> datetime:
    return moment + timedelta(seconds=1) if moment.microsecond else moment
