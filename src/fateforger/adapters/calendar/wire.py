"""The JSON of the calendar server: models of its answers, and the arguments of each tool call.

Every call names one calendar and, where there is one, the account. Times are sent as instants *and* a zone, so that the
server never asks the calendar for its own zone and never falls back to UTC. Checks for duplicates and conflicts are
off, and no mail is sent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from datetime import date as Date  # noqa: N812  the wire calls one of its fields ``date``
from typing import Any, Literal, TypeVar
from zoneinfo import ZoneInfo

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from fateforger.calendar.event import PLAIN, EventExtras, EventFields, EventImage, Marker

SHOWN_FIELDS = (
    "description",
    "colorId",
    "transparency",
    "extendedProperties",
    "conferenceData",
    "attachments",
    "created",
    "updated",
    "creator",
    "organizer",
    "recurringEventId",
    "originalStartTime",
    "visibility",
    "iCalUID",
    "sequence",
    "hangoutLink",
    "source",
    "eventType",
    "anyoneCanAddSelf",
    "guestsCanInviteOthers",
    "guestsCanModify",
    "guestsCanSeeOtherGuests",
)
"""The fields to request in addition to those always included (id, summary, start, end, status, htmlLink, location,
attendees, reminders, recurrence): everything that is compared or needed to recreate an event."""


class Unreadable(Exception):
    """An answer that does not match the server's contract."""


class _Wire(BaseModel):
    """Unknown fields are ignored: the server may add new ones."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True)


class Point(_Wire):
    """A start or an end: an instant, or a date for all-day events. Neither for a removed occurrence."""

    date: Date | None = None
    date_time: AwareDatetime | None = None

    @property
    def moment(self) -> datetime | Date | None:
        return self.date_time or self.date


class Person(_Wire):
    self: bool = False
    response_status: str | None = None


class Properties(_Wire):
    private: Mapping[str, str] = Field(default_factory=dict)


class WireEvent(_Wire):
    """An event in the form of the tools."""

    id: str = Field(min_length=1)
    summary: str = ""
    description: str = ""
    start: Point = Point()
    end: Point = Point()
    original_start_time: Point = Point()
    color_id: str | None = None
    status: Literal["confirmed", "tentative", "cancelled"] = "confirmed"
    transparency: Literal["opaque", "transparent"] = "opaque"
    organizer: Person | None = None
    attendees: tuple[Person, ...] = ()
    recurring_event_id: str | None = None
    recurrence: tuple[str, ...] = ()
    event_type: str = "default"
    extended_properties: Properties = Properties()
    updated: str | None = None
    etag: str | None = None
    html_link: str | None = None


class EventAnswer(_Wire):
    """The answer of ``get-event``, ``create-event`` and ``update-event``."""

    event: Mapping[str, Any]


class LeftOut(_Wire):
    summary: str = ""


class EventsAnswer(_Wire):
    """The answer of ``list-events``.

    ``accounts`` is present only when several were queried. ``left_out`` comes only from our local calendar, for events
    whose recurrence it could not compute in time.
    """

    events: tuple[Mapping[str, Any], ...]
    total_count: int
    partial_failures: tuple[Any, ...] = ()
    accounts: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


class DeleteAnswer(_Wire):
    """The answer of ``delete-event``."""

    success: Literal[True]


class WireCalendar(_Wire):
    id: str
    summary: str = ""
    summary_override: str | None = None
    time_zone: str | None = None
    access_role: str = "reader"
    primary: bool = False
    selected: bool = False


class Account(_Wire):
    account_id: str = Field(alias="account_id")


class AccountsAnswer(_Wire):
    """The answer of ``manage-accounts`` to the action ``list``."""

    accounts: tuple[Account, ...]


class CalendarsAnswer(_Wire):
    """The answer of ``list-calendars``."""

    calendars: tuple[WireCalendar, ...]


Answer = TypeVar("Answer", bound=BaseModel)


def read_answer(text: str, model: type[Answer]) -> Answer:
    """Parse an answer as ``model``. Raises :class:`Unreadable`."""
    try:
        return model.model_validate(json.loads(text))
    except ValidationError as error:
        raise Unreadable(_describe_first_problem(error)) from None
    except ValueError:
        raise Unreadable("it is not JSON") from None


def read_event(shown: Mapping[str, Any]) -> EventImage:
    """Convert an event of an answer. Raises :class:`Unreadable`."""
    try:
        event = WireEvent.model_validate(shown)
    except ValidationError as error:
        raise Unreadable(_describe_first_problem(error)) from None
    start = event.start.moment or event.original_start_time.moment
    end = event.end.moment or start
    if start is None or end is None or isinstance(start, datetime) is not isinstance(end, datetime):
        raise Unreadable(f"event {event.id} has no start and end")
    image = EventImage(
        id=event.id,
        summary=event.summary,
        description=event.description,
        start=start,
        end=end,
        color_id=event.color_id,
        status=event.status,
        busy=event.transparency == "opaque" and not _is_declined(event),
        organized_by_me=event.organizer is None or event.organizer.self,
        # A series counts as a series like its occurrences: writing to it would change them all.
        series_id=event.recurring_event_id or (event.id if event.recurrence else None),
        event_type=event.event_type,
        properties=event.extended_properties.private,
        version=event.etag or event.updated,
        html_link=event.html_link,
        raw=dict(shown),
    )
    try:
        image.extras  # noqa: B018  fails here if it cannot be read
    except (ValueError, TypeError, KeyError) as problem:
        raise Unreadable(f"event {event.id}: {problem}") from None
    return image


def _is_declined(event: WireEvent) -> bool:
    return any(guest.self and guest.response_status == "declined" for guest in event.attendees)


def _describe_first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part) for part in problem["loc"])
    return f"{problem['msg']} at {where}" if where else problem["msg"]


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
