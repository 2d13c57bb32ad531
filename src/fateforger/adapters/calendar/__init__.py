"""Calendars behind google-calendar-mcp, or behind anything else with the same tools.

calendar.py    the port, and what it refuses        window.py     a span of time read whole
tools.py       a tool call and what came of it      arguments.py  what is sent
budget.py      what calls cost, reserved first      several.py    other calendars that are only read
choosing.py    which of them the settings mean
session.py     the connection, and its loss         wire.py       what is answered
refusals.py    error texts -> refusals              outcomes.py   refusals -> outcomes and errors
endpoint.py    URLs and command lines               directory.py  which calendars there are; is the server well
"""

from fateforger.adapters.calendar.budget import GOOGLE_LIMIT, LoginBudget, RequestBudget
from fateforger.adapters.calendar.calendar import McpCalendar
from fateforger.adapters.calendar.choosing import choose_read, find_calendar
from fateforger.adapters.calendar.directory import CalendarEntry, ServerReport, look_at_server
from fateforger.adapters.calendar.endpoint import read_endpoint
from fateforger.adapters.calendar.opening import open_mcp_calendar
from fateforger.adapters.calendar.several import SeveralCalendars

__all__ = [
    "GOOGLE_LIMIT",
    "CalendarEntry",
    "LoginBudget",
    "McpCalendar",
    "RequestBudget",
    "ServerReport",
    "SeveralCalendars",
    "choose_read",
    "find_calendar",
    "look_at_server",
    "open_mcp_calendar",
    "read_endpoint",
]
