"""Models of the JSON that the calendar server answers, and the conversion of an event to an :class:`EventImage`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date as Date  # noqa: N812  the wire calls one of its fields ``date``
from datetime import datetime
from typing import Any, Literal, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from fateforger.sync.model import EventImage

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
