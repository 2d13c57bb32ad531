"""The contract over the unmodified google-calendar-mcp, with Google itself replaced by a stand-in.

Runs only when ``CALENDAR_TEST_SERVER`` names the server's ``build/index.js`` (version 2.6.3, ``npm install
@cocal/google-calendar-mcp@2.6.3``) and ``node`` is there.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest
import pytest_asyncio
from tests.contracts.calendar_contract import CalendarContract, fields, make_owned_id, put
from tests.contracts.calendar_people import GooglePerson, Person
from tests.contracts.real_server import SERVER, answering, free_port, settings_in
from tests.emulators.google.emulator import Fault, GoogleEmulator
from tests.factories.days import Time, eleven_changes, engine_over, twelve_blocks
from tests.fakes.asgi_server import serve_app
from tests.fakes.google_mcp import Google
from tests.fakes.google_store import GoogleStore
from tests.fakes.memory_journal import MemoryJournal
from tests.unit.adapters.calendar.test_faults import ABORTED, BACKEND, REFUSED, RESET, UNAVAILABLE, attempt, titles

from fateforger.adapters.calendar.calendars import McpCalendar, SeveralCalendars, open_mcp_calendar, probe_server
from fateforger.calendar.ports import Calendar, Done, Gone, Outcome, Rejected, Stale, Unknown, WriteKind
from fateforger.errors import CalendarNotFound

if not SERVER:
    pytest.skip("CALENDAR_TEST_SERVER does not name a google-calendar-mcp to run", allow_module_level=True)

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.process]
METHODS: dict[WriteKind, str] = {"create": "POST", "update": "PATCH", "delete": "DELETE"}
Opened = tuple[GoogleEmulator, McpCalendar]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Opened]:
    folder = tmp_path_factory.mktemp("server")
    google = GoogleEmulator(check_tokens=False)
    async with serve_app(google.app()) as base:
        port = free_port()
        server = await asyncio.create_subprocess_exec(
            *("node", SERVER, "--transport", "http", "--port", str(port)),
            env={**os.environ, "STAND_IN": base, **settings_in(folder)},
            cwd=folder,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            url = f"http://127.0.0.1:{port}/mcp"
            await answering(url, server)
            async with aclosing(open_mcp_calendar(url, time_zone="Europe/Berlin", account="normal")) as calendar:
                yield google, calendar
        finally:
            server.terminate()
            await server.wait()


@pytest.fixture
def google(opened: Opened) -> GoogleEmulator:
    google, _ = opened
    google.calm()
    google.calendars = {"primary": GoogleStore()}
    return google


@pytest.fixture
def store(google: GoogleEmulator) -> GoogleStore:
    return google.calendars["primary"]


@pytest.fixture
def adapter(opened: Opened, google: GoogleEmulator) -> McpCalendar:
    return opened[1]


def _to_fault(said: Google) -> Fault:
    return Fault(said.status, said.message, said.reason)


class TestMcpCalendarOverTheRealServer(CalendarContract):
    @pytest.fixture
    def calendar(self, adapter: McpCalendar) -> Calendar:
        return adapter

    @pytest.fixture
    def person(self, store: GoogleStore) -> Person:
        return GooglePerson(store)


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("write", METHODS)
async def test_a_write_that_google_refuses(
    adapter: McpCalendar, google: GoogleEmulator, store: GoogleStore, write: WriteKind, case: str
) -> None:
    fault, outcomes = REFUSED[case]
    if write != "create":
        await put(adapter)
    google.inject(_to_fault(fault), method=METHODS[write])
    outcome = await attempt(adapter, write)
    expected = outcomes[list(METHODS).index(write)]
    # Met only once, what is stale is made good by the second look.
    assert type(outcome) is (Done if expected is Stale else expected)
    if not isinstance(outcome, Done):
        assert titles(store) == ([] if write == "create" else ["Deep work"])


@pytest.mark.parametrize("fault", [BACKEND, UNAVAILABLE, RESET, ABORTED], ids=["500", "503", "reset", "aborted"])
@pytest.mark.parametrize("write", METHODS)
async def test_a_write_whose_answer_google_lost(
    adapter: McpCalendar, google: GoogleEmulator, store: GoogleStore, write: WriteKind, fault: Google
) -> None:
    if write != "create":
        await put(adapter)
    google.inject(_to_fault(fault), method=METHODS[write], applied=True)
    outcome: Outcome = await attempt(adapter, write)
    assert type(outcome) is (Gone if write == "delete" and fault is not ABORTED else Unknown)
    assert titles(store) == {"create": ["Deep work"], "update": ["Other"], "delete": []}[write]


async def test_a_commit_costs_google_no_more_than_it_must(adapter: McpCalendar, google: GoogleEmulator) -> None:
    """Counts requests to Google for 8 updates, 2 creates and 1 delete, including the reads before and after."""
    engine = engine_over(adapter, MemoryJournal(), Time())
    await engine.submit_plan(twelve_blocks(), cause="1")
    before = google.requests
    result = await engine.submit_plan(eleven_changes(), cause="2")
    assert (result.updated, result.created, result.deleted) == (8, 2, 1)
    assert google.requests - before == 30


async def test_other_calendars_are_read_and_the_login_is_named(adapter: McpCalendar, google: GoogleEmulator) -> None:
    """No account is given: the only one is found out, and one look costs a request for each calendar."""
    google.calendars["family@example.com"] = GoogleStore()
    await put(adapter)
    google.calendars["family@example.com"].user_create("Swimming", start=fields().start, end=fields().end)
    where = adapter.key.partition("#")[0]
    async with aclosing(open_mcp_calendar(where, time_zone="Europe/Berlin")) as main:
        several = SeveralCalendars(main, "family@example.com")
        looked = await several.window(fields().start, fields().end)
        assert [(e.summary, e.calendar) for e in looked] == [
            ("Swimming", "family@example.com"),
            ("Deep work", None),
        ]
        before = google.requests
        assert await several.window(fields().start, fields().end) == looked
        assert google.requests - before == 2
        del google.calendars["family@example.com"]
        with pytest.raises(CalendarNotFound, match="I cannot read your calendar “family@"):
            await several.window(fields().start, fields().end)


async def test_an_unknown_calendar(adapter: McpCalendar, google: GoogleEmulator) -> None:
    google.calendars.clear()
    with pytest.raises(CalendarNotFound):
        await adapter.get(make_owned_id())
    with pytest.raises(CalendarNotFound):
        await adapter.window(fields().start, fields().end)
    assert [type(await attempt(adapter, write)) for write in METHODS] == [Rejected] * 3


async def test_the_server_reports_itself(adapter: McpCalendar, google: GoogleEmulator) -> None:
    where = adapter.key.partition("#")[0]
    report = await probe_server(where, account="normal")
    assert (report.server, report.version, report.conditional_write) == ("google-calendar", "2.6.3", False)
    assert [calendar.id for calendar in report.calendars] == ["owner@example.com"]
