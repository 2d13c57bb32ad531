"""The check of a calendar server, and the list of its calendars."""

from __future__ import annotations

import time
from contextlib import aclosing
from dataclasses import dataclass

from fateforger.adapters.calendar.budget import NoBudget, RequestBudget
from fateforger.adapters.calendar.connection import McpSession, read_endpoint
from fateforger.adapters.calendar.tools import CalendarTools, Refused
from fateforger.adapters.calendar.wire import CalendarsAnswer
from fateforger.calendar.directory import CalendarEntry, sort_entries


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
    budget: RequestBudget | None = None,
) -> ServerReport:
    """Open a separate session, list the calendars, and close it: the liveness check, and the list for settings.

    ``where`` is a URL or a command line. ``budget`` is the login's; without one nothing is counted. Raises ``BadInput``
    for anything else, and :class:`~fateforger.errors.CalendarError` when the server or the calendar behind it does not
    answer.
    """
    async with aclosing(CalendarTools(McpSession(read_endpoint(where)), budget or NoBudget())) as tools:
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
    return sort_entries(answer.calendars)
