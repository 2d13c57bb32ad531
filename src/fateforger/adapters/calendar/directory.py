"""The calendars of a server: their list, the check of the server, and those that the settings name."""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from fateforger.adapters.calendar.budget import NoBudget, RequestBudget
from fateforger.adapters.calendar.connection import McpSession, read_endpoint
from fateforger.adapters.calendar.tools import CalendarTools, Refused
from fateforger.adapters.calendar.wire import CalendarsAnswer, WireCalendar
from fateforger.errors import CalendarNotFound


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


@dataclass(frozen=True, slots=True)
class ServerReport:
    """The identity of a server, its response time, and its calendars."""

    server: str
    version: str
    seconds: float
    conditional_write: bool
    calendars: tuple[CalendarEntry, ...]


async def probe_server(
    where: str,
    *,
    account: str | None = None,
    environment: Mapping[str, str] | None = None,
    budget: RequestBudget | None = None,
) -> ServerReport:
    """Open a separate session, list the calendars, and close it: the liveness check, and the list for settings.

    ``where`` is a URL or a command line. ``budget`` is the login's; without one nothing is counted. Raises ``BadInput``
    for anything else, and :class:`~fateforger.errors.CalendarError` when the server or the calendar behind it does not
    answer.
    """
    async with aclosing(CalendarTools(McpSession(read_endpoint(where, environment)), budget or NoBudget())) as tools:
        begun = time.monotonic()
        calendars = await list_calendars(tools, account=account)
        welcome = await tools.session.open()
        return ServerReport(
            server=welcome.server,
            version=welcome.version,
            seconds=time.monotonic() - begun,
            conditional_write=welcome.conditional_write,
            calendars=calendars,
        )


async def list_calendars(tools: CalendarTools, *, account: str | None = None) -> tuple[CalendarEntry, ...]:
    """Return the calendars of an account, or of all accounts, the primary one first, then by name.

    Raises :class:`~fateforger.errors.CalendarError`.
    """
    answer = await tools.ask("list-calendars", {} if account is None else {"account": account}, CalendarsAnswer)
    if isinstance(answer, Refused):
        raise answer.error
    return tuple(sorted(map(_to_entry, answer.calendars), key=lambda c: (not c.primary, c.summary.casefold(), c.id)))


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
