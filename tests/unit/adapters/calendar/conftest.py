"""A stand-in server on a real socket and a calendar of it: opened once a module, empty for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest
import pytest_asyncio
from tests.fakes.google_mcp import GoogleMcp
from tests.fakes.google_store import GoogleStore
from tests.fakes.google_tools import GoogleTools, OneCalendar

from fateforger.adapters.calendar.calendars import McpCalendar, open_mcp_calendar

BERLIN = "Europe/Berlin"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def opened() -> AsyncIterator[tuple[GoogleMcp, McpCalendar]]:
    async with GoogleMcp() as server, aclosing(open_mcp_calendar(server.url, time_zone=BERLIN)) as calendar:
        yield server, calendar


@pytest.fixture
def server(opened: tuple[GoogleMcp, McpCalendar]) -> GoogleMcp:
    server, _ = opened
    server.calm()
    server.two_gaxios = False
    server.tools = GoogleTools({"primary": OneCalendar(GoogleStore())})
    return server


@pytest.fixture
def store(server: GoogleMcp) -> GoogleStore:
    return server.tools.calendars["primary"].store


@pytest.fixture
def calendar(opened: tuple[GoogleMcp, McpCalendar], server: GoogleMcp) -> McpCalendar:
    return opened[1]
