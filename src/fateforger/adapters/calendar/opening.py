"""A calendar from the words of a settings file."""

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
    """A calendar behind the MCP server at ``where``: a URL, or a command line to start it by (which gets
    ``environment`` in addition to the least a program needs).

    ``time_zone`` is the IANA zone of the person, in which all-day events are placed. ``account`` names the login when
    the server has several. ``key`` is what the journal knows the calendar by; give one when ``where`` may be another
    address after a restart, else it is made of the address and the calendar's id. ``budget`` is shared by all that use
    the same login; without one nothing is counted. ``patience`` is how many seconds a read waits for it before it is
    refused. Nothing is connected yet. Raises
    :class:`~fateforger.errors.BadInput`.
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
