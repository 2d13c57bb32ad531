"""The list of calendars, and whether the server is well."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest
from tests.fakes.google_mcp import Answers, ErrorText, GoogleMcp
from tests.fakes.google_store import GoogleStore
from tests.fakes.google_tools import OneCalendar

from fateforger.adapters.calendar.calendars import probe_server
from fateforger.calendar.directory import CalendarEntry
from fateforger.errors import BadInput, CalendarAuthFailed, CalendarIncomplete, CalendarUnreachable

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_server_that_is_well(server: GoogleMcp) -> None:
    server.tools.calendars |= {
        "zoo@example.com": OneCalendar(GoogleStore("Asia/Tokyo"), "zoo", "writer"),
        "holidays@example.com": OneCalendar(GoogleStore(), "Holidays", "reader"),
    }
    report = await probe_server(server.url, account="normal")
    assert (report.server, report.version, report.conditional_write) == ("google-calendar", "2.6.3", False)
    assert report.calendars == (
        CalendarEntry("owner@example.com", "owner@example.com", "Europe/Berlin", "owner", primary=True, selected=True),
        CalendarEntry("holidays@example.com", "Holidays", "Europe/Berlin", "reader", selected=True),
        CalendarEntry("zoo@example.com", "zoo", "Asia/Tokyo", "writer", selected=True),
    )
    assert [entry.writable for entry in report.calendars] == [True, False, True]
    assert 0 < report.seconds < 60
    assert server.list_calls("list-calendars") == [{"account": "normal"}]


async def test_without_an_account_none_is_named(server: GoogleMcp) -> None:
    await probe_server(server.url)
    assert server.list_calls("list-calendars") == [{}]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (ErrorText("MCP error -32600: No authenticated accounts available."), CalendarAuthFailed),
        (ErrorText("MCP error -32602: Tool list-calendars not found"), CalendarIncomplete),
        (ErrorText("MCP error -32603: Google API server error: Backend Error"), CalendarUnreachable),
        (Answers("nothing to see"), CalendarIncomplete),
    ],
)
async def test_a_server_that_is_not(server: GoogleMcp, fault: ErrorText | Answers, error: type[Exception]) -> None:
    server.inject(fault)
    with pytest.raises(error) as raised:
        await probe_server(server.url)
    assert type(raised.value) is error


async def test_nobody_there() -> None:
    with pytest.raises(
        CalendarUnreachable, match=r"^I cannot reach the calendar server at http://127\.0\.0\.1:9/mcp: "
    ):
        await probe_server("http://127.0.0.1:9/mcp")


async def test_no_address_at_all() -> None:
    with pytest.raises(BadInput):
        await probe_server("gopher://example.com")


@pytest.mark.process
async def test_the_room_opens_without_the_protocol_package() -> None:
    """The package is heavy; a command that needs no calendar must not pay for it."""
    program = (
        "import sys, fateforger.adapters.calendar; print(sorted({'mcp', 'mcp_types', 'httpx2'} & sys.modules.keys()))"
    )
    ran = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", program], capture_output=True, check=True)
    assert ran.stdout.decode().strip() == "[]"
