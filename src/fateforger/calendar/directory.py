"""The calendars that a login can see, days read from several of them, and events in Google's JSON.

An :class:`~fateforger.calendar.event.EventImage` keeps this JSON as its ``raw``.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from datetime import date as Date  # noqa: N812  the wire calls one of its fields ``date``
from typing import Any, Literal
from zoneinfo import ZoneInfo

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from fateforger.calendar.event import EventExtras, EventImage
from fateforger.errors import CalendarError, CalendarNotFound, CalendarUnreachable
from fateforger.text import gettext as _
from fateforger.text import quote_title


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


@dataclass(frozen=True, slots=True)
class CalendarEntry:
    """A calendar that the login can see.

    ``time_zone`` is an IANA name if the server reports one. ``access_role`` is one of Google's: ``owner``, ``writer``,
    ``reader``, ``freeBusyReader``.
    """

    id: str
    summary: str
    time_zone: str | None
    access_role: str
    primary: bool = False
    selected: bool = False
    """Ticked in Google Calendar's own page."""

    @property
    def readable(self) -> bool:
        """Check whether its events can be read, rather than only its busy times."""
        return self.access_role in ("owner", "writer", "reader")

    @property
    def writable(self) -> bool:
        return self.access_role in ("owner", "writer")


class WireCalendar(WireModel):
    """A calendar in Google's JSON."""

    id: str
    summary: str = ""
    summary_override: str | None = None
    time_zone: str | None = None
    access_role: str = "reader"
    primary: bool = False
    selected: bool = False


def sort_entries(calendars: Iterable[WireCalendar]) -> tuple[CalendarEntry, ...]:
    """Return the calendars of a login, the primary one first, then by name."""
    return tuple(sorted(map(_to_entry, calendars), key=lambda c: (not c.primary, c.summary.casefold(), c.id)))


def _to_entry(calendar: WireCalendar) -> CalendarEntry:
    return CalendarEntry(
        id=calendar.id,
        summary=calendar.summary_override or calendar.summary or calendar.id,
        time_zone=calendar.time_zone,
        access_role=calendar.access_role,
        primary=calendar.primary,
        selected=calendar.selected,
    )


MOST_READ = 20
"""Each calendar costs a request every time a day is read."""


def choose_read(entries: Sequence[CalendarEntry], wanted: str, *, written: str) -> tuple[CalendarEntry, ...]:
    """Return the calendars to read besides the one that is written to, each once, in the order of ``entries``.

    ``wanted`` is ``selected`` (the ones the person ticked), ``all``, or names and ids separated by commas. ``written``
    is an id, a name or ``primary``. Raises ``CalendarNotFound`` with a sentence about the first entry that names no
    calendar, or more than one.
    """
    word = wanted.strip().lower()
    if word in ("all", "selected"):
        meant = [entry for entry in entries if entry.readable and (entry.selected or word == "all")]
    else:
        meant = [find_calendar(entries, name) for name in wanted.split(",") if name.strip()]
    main = find_calendar(entries, written)
    chosen = tuple(entry for entry in entries if entry in meant and entry != main)
    if len(chosen) > MOST_READ:
        raise CalendarNotFound(
            f"FATEFORGER_CALENDARS_READ means {len(chosen)} calendars; I can read {MOST_READ} besides the one I write"
            " to. Name the ones that matter.",
            where="calendars_read",
        )
    return chosen


def find_calendar(entries: Sequence[CalendarEntry], name: str) -> CalendarEntry:
    """Return the calendar with this id or name, ignoring case if there is no exact match.

    Raises ``CalendarNotFound``.
    """
    name = name.strip()
    tests: tuple[Callable[[CalendarEntry], bool], ...] = (
        lambda e: e.id == name or (e.primary and name == "primary"),
        lambda e: e.summary == name,
        lambda e: e.summary.casefold() == name.casefold(),
    )
    for test in tests:
        found = [entry for entry in entries if test(entry)]
        if len(found) > 1:
            ids = ", ".join(entry.id for entry in found)
            raise CalendarNotFound(
                f"You have {len(found)} calendars called “{name}”; name the one you mean by its id: {ids}."
            )
        if found:
            return found[0]
    raise CalendarNotFound(f"You have no calendar called “{name}”. {_suggest_calendar(entries, name)}")


def _suggest_calendar(entries: Sequence[CalendarEntry], name: str) -> str:
    by_name = {entry.summary.casefold(): entry.summary for entry in entries}
    near = difflib.get_close_matches(name.casefold(), by_name, n=1, cutoff=0.7)
    if near:
        return f"Did you mean “{by_name[near[0]]}”?"
    listed = ", ".join(f"“{summary}”" for summary in list(by_name.values())[:MOST_READ])
    return f"There are: {listed}." if listed else "There are none at all."


def drop_copies(own: Iterable[EventImage], others: Iterable[EventImage]) -> list[EventImage]:
    """Return the events of other calendars that are not copies of an earlier one.

    The same meeting has the same ``iCalUID`` and the same time. A copy that takes up time is kept even if an earlier
    one was declined.
    """
    kept: list[EventImage] = []
    known: dict[tuple[object, ...], bool] = {}
    for event in own:
        known[_meeting_key(event)] = event.busy or known.get(_meeting_key(event), False)
    for event in others:
        meeting = _meeting_key(event)
        if meeting not in known or (event.busy and not known[meeting]):
            kept.append(event)
            known[meeting] = event.busy
    return kept


def _meeting_key(event: EventImage) -> tuple[object, ...]:
    return event.raw.get("iCalUID") or event.id, event.start, event.end


def name_unreadable(error: CalendarError, other: CalendarEntry) -> CalendarError:
    """Return the error of a calendar that was read along, with its name in the message."""
    said = _(
        "I cannot read your calendar {name}, so I do not know your whole day. {why}",
        name=quote_title(other.summary),
        why=error.message,
    )
    if isinstance(error, CalendarUnreachable):
        return CalendarUnreachable(said, where=error.where, retry_after=error.retry_after, reason=error.reason)
    return type(error)(said, where=error.where)
