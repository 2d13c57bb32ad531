"""List the calendars of a server and check that it works, for the doctor and for settings."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass

from fateforger.adapters.calendar.budget import NoBudget, RequestBudget
from fateforger.adapters.calendar.endpoint import read_endpoint
from fateforger.adapters.calendar.session import McpSession
from fateforger.adapters.calendar.tools import CalendarTools, Refused
from fateforger.adapters.calendar.wire import CalendarsAnswer, WireCalendar


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
