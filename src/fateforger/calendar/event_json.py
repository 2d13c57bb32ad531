"""Events in Google's JSON, in which each calendar keeps what it read: reading them, and writing their parts.

An :class:`~fateforger.calendar.event.EventImage` keeps this JSON as its ``raw``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from datetime import date as Date  # noqa: N812  the wire calls one of its fields ``date``
from typing import Any, Literal
from zoneinfo import ZoneInfo

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from fateforger.calendar.event import EventExtras, EventImage


class Unreadable(Exception):
    """An answer that does not match the server's contract."""


class WireModel(BaseModel):
    """Unknown fields are ignored: the server may add new ones."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True)


class Point(WireModel):
    """A start or an end: an instant, or a date for all-day events. Neither for a removed occurrence."""

    date: Date | None = None
    date_time: AwareDatetime | None = None

    @property
    def moment(self) -> datetime | Date | None:
        return self.date_time or self.date


class Person(WireModel):
    self: bool = False
    response_status: str | None = None


class Properties(WireModel):
    private: Mapping[str, str] = Field(default_factory=dict)


class WireEvent(WireModel):
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


def read_event(shown: Mapping[str, Any]) -> EventImage:
    """Convert an event of an answer. Raises :class:`Unreadable`."""
    try:
        event = WireEvent.model_validate(shown)
    except ValidationError as error:
        raise Unreadable(describe_first_problem(error)) from None
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


def describe_first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part) for part in problem["loc"])
    return f"{problem['msg']} at {where}" if where else problem["msg"]


def build_extras(extras: EventExtras) -> dict[str, Any]:
    """Return the extras that the server accepts, except properties.

    The server can create a new video call but not restore the old one, and it accepts no status.
    """
    given: dict[str, Any] = {
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


def format_time(moment: datetime) -> str:
    """Format an instant as RFC 3339 in UTC, in whole seconds, since the server refuses fractions."""
    return f"{moment.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat()}Z"


def resolve_start(moment: datetime | date, time_zone: str) -> datetime:
    """Return the instant at which an event starts; a date starts at midnight in ``time_zone``."""
    if isinstance(moment, datetime):
        return moment.astimezone(UTC)
    return datetime(moment.year, moment.month, moment.day, tzinfo=ZoneInfo(time_zone)).astimezone(UTC)


def order_window(events: Iterable[EventImage], start: datetime, end: datetime, time_zone: str) -> list[EventImage]:
    """Return the live events that end after ``start`` and begin before ``end``, each once, by start, then id.

    All-day events are kept as they are: the calendar's own zone, which may be another one, decided about them.
    """

    def is_inside(event: EventImage) -> bool:
        begins, ends = (resolve_start(moment, time_zone) for moment in (event.start, event.end))
        return not event.gone and (not event.is_timed or (begins < end and ends > start))

    found = {event.id: event for event in events}
    return sorted(filter(is_inside, found.values()), key=lambda e: (resolve_start(e.start, time_zone), e.id))
