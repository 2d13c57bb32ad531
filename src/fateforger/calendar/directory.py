"""The calendars that a login can see, and days that are read from several of them."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from fateforger.calendar.event import EventImage
from fateforger.calendar.event_json import WireModel
from fateforger.errors import CalendarError, CalendarNotFound, CalendarUnreachable
from fateforger.text import gettext as _
from fateforger.text import quote_title


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
