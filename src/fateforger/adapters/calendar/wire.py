"""The JSON of the calendar server: models of its answers, and the arguments of each tool call.

Every call names one calendar and, where there is one, the account. Times are sent as instants *and* a zone, so that the
server never asks the calendar for its own zone and never falls back to UTC. Checks for duplicates and conflicts are
off, and no mail is sent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError

from fateforger.calendar.directory import (
    Unreadable,
    WireCalendar,
    WireModel,
    build_extras,
    describe_first_problem,
    format_time,
)
from fateforger.calendar.event import PLAIN, EventExtras, EventFields, Marker

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


class EventAnswer(WireModel):
    """The answer of ``get-event``, ``create-event`` and ``update-event``.

    ``overtaken`` comes only from our local calendar: another program may have changed the event since the write.
    """

    event: Mapping[str, Any]
    overtaken: bool = False


class LeftOut(WireModel):
    summary: str = ""


class EventsAnswer(WireModel):
    """The answer of ``list-events``.

    ``accounts`` is present only when several were queried. ``left_out`` comes only from our local calendar, for events
    whose recurrence it could not compute in time.
    """

    events: tuple[Mapping[str, Any], ...]
    total_count: int
    partial_failures: tuple[Any, ...] = ()
    accounts: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


class DeleteAnswer(WireModel):
    """The answer of ``delete-event``."""

    success: Literal[True]


class Account(WireModel):
    account_id: str = Field(alias="account_id")


class AccountsAnswer(WireModel):
    """The answer of ``manage-accounts`` to the action ``list``."""

    accounts: tuple[Account, ...]


class CalendarsAnswer(WireModel):
    """The answer of ``list-calendars``."""

    calendars: tuple[WireCalendar, ...]


Answer = TypeVar("Answer", bound=BaseModel)


def read_answer(text: str, model: type[Answer]) -> Answer:
    """Parse an answer as ``model``. Raises :class:`Unreadable`."""
    try:
        return model.model_validate(json.loads(text))
    except ValidationError as error:
        raise Unreadable(describe_first_problem(error)) from None
    except ValueError:
        raise Unreadable("it is not JSON") from None


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

    An empty description, a missing color and every extra with its usual value are left out, which gives the same event
    as leaving them unset by hand. Guests are added without a mail, since an undo is not an invitation.
    """
    described = {"description": fields.description} if fields.description else {}
    colored = {} if fields.color_id is None else {"colorId": fields.color_id}
    return {
        **target.arguments,
        "eventId": event_id,
        "summary": fields.summary,
        "start": format_time(fields.start),
        "end": format_time(fields.end),
        "timeZone": target.time_zone,
        **described,
        **colored,
        **build_extras(extras),
        "extendedProperties": {
            "private": {**extras.properties, **marker.properties()},
            **({"shared": dict(extras.shared_properties)} if extras.shared_properties else {}),
        },
        "sendUpdates": "none",
        "allowDuplicates": True,
        "calendarsToCheck": [],
    }


def build_update_arguments(
    target: Target, event_id: str, changes: Mapping[str, Any], marker: Marker, if_match: str | None
) -> Arguments:
    """Return the arguments of ``update-event``.

    ``changes`` must hold both ends of the event or neither. Text is cleared by ``""``. A color can be set but not
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


def _build_if_match(if_match: str | None) -> Arguments:
    return {} if if_match is None else {"ifMatch": if_match}


def _round_up(moment: datetime) -> datetime:
    return moment + timedelta(seconds=1) if moment.microsecond else moment
