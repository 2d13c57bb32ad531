"""Open a calendar from the values of the settings."""

from __future__ import annotations

from collections.abc import Mapping

from fateforger.adapters.calendar.arguments import Target
from fateforger.adapters.calendar.budget import NoBudget, RequestBudget
from fateforger.adapters.calendar.calendar import McpCalendar
from fateforger.adapters.calendar.endpoint import read_endpoint
from fateforger.adapters.calendar.limits import BUDGET_PATIENCE, CALL_SECONDS, WRITE_SECONDS
from fateforger.adapters.calendar.session import McpSession
from fateforger.adapters.calendar.tools import CalendarTools
from fateforger.errors import BadInput
from fateforger.plan.zones import zone


def open_mcp_calendar(
    where: str,
    *,
    time_zone: str,
    calendar_id: str = "primary",
    account: str | None = None,
    key: str | None = None,
    environment: Mapping[str, str] | None = None,
    budget: RequestBudget | None = None,
    patience: float = BUDGET_PATIENCE,
    call_seconds: float = CALL_SECONDS,
    write_seconds: float = WRITE_SECONDS,
) -> McpCalendar:
    """Return a calendar behind the MCP server at ``where``. Nothing is connected yet.

    ``where`` is a URL, or a command line that is started with ``environment`` added to a minimal environment.
    ``time_zone`` is the person's IANA zone, in which all-day events are placed. ``account`` names the login when the
    server has several. ``key`` identifies the calendar in the journal; pass one when the address may change after a
    restart, otherwise it is built from the address and the calendar's id. ``budget`` is shared by everything that uses
    the same login; without one nothing is counted. ``patience`` is the number of seconds a read waits for the budget
    before it is refused. Raises :class:`~fateforger.errors.BadInput`.
    """
    endpoint = read_endpoint(where, environment)
    try:
        target = Target(calendar_id, account, zone(time_zone).key)
    except ValueError as problem:
        raise BadInput(f"{problem}.", where="time_zone") from None
    if not calendar_id.strip():
        raise BadInput("A calendar needs an id; “primary” is the main one.", where="calendar_id")
    session = McpSession(endpoint, call_seconds=call_seconds)
    tools = CalendarTools(session, budget or NoBudget(), patience=patience)
    return McpCalendar(tools, target, key=key, write_seconds=write_seconds)
