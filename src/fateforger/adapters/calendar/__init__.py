"""Calendars behind google-calendar-mcp or another server with the same tools.

calendar.py    the port and its refusals             window.py     reads a whole span of time
tools.py       one tool call and its result          arguments.py  arguments of each tool call
budget.py      request costs, reserved in advance    several.py    further calendars, read-only
choosing.py    selects calendars from the settings   wire.py       models of the answers
session.py     reconnecting session                  connection.py one open session
refusals.py    error texts -> refusals               outcomes.py   refusals -> outcomes and errors
endpoint.py    URLs and command lines                directory.py  lists calendars, checks the server
"""

from fateforger.adapters.calendar.budget import GOOGLE_LIMIT, LoginBudget, RequestBudget
from fateforger.adapters.calendar.calendar import McpCalendar
from fateforger.adapters.calendar.choosing import choose_read, find_calendar
from fateforger.adapters.calendar.directory import CalendarEntry, ServerReport, probe_server
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
    "open_mcp_calendar",
    "probe_server",
    "read_endpoint",
]
