"""The fake, Google's own interface, and the MCP adapter over two servers and both transports, keep the contract.

The servers and the sessions with them are opened once; each test gets an empty calendar behind them.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urljoin

import httpx
import pytest
import pytest_asyncio
from tests.contracts.calendar_contract import CalendarContract, fields, make_owned_id, marker, put, read
from tests.contracts.calendar_people import CalDavPerson, GooglePerson, Person
from tests.emulators.google.connected import connect_person
from tests.emulators.google.emulator import GoogleEmulator
from tests.fakes.asgi_server import serve_app
from tests.fakes.google_calendar import GoogleCalendarFake
from tests.fakes.google_mcp import GoogleMcp
from tests.fakes.google_store import GoogleStore
from tests.fakes.google_tools import GoogleTools, OneCalendar
from tests.fakes.quirky_caldav import Habit, QuirkyCalDav

from caldav_mcp import LocalCalendarConfig, open_local_calendar
from fateforger.adapters.calendar.calendars import McpCalendar, SeveralCalendars, open_mcp_calendar
from fateforger.adapters.clock import SystemClock
from fateforger.adapters.google.calendars import GoogleCalendar
from fateforger.adapters.google.client import GoogleClient
from fateforger.calendar.ports import Calendar, Create, Delete, Done, Exists, Gone, Update

pytestmark = pytest.mark.asyncio(loop_scope="module")
BERLIN = "Europe/Berlin"


def _now() -> datetime:
    return datetime.now(UTC)


Opened = tuple[GoogleTools, McpCalendar]


class OverMemory(CalendarContract):
    """The calendar's content is a store in memory."""

    @pytest.fixture
    def store(self) -> GoogleStore:
        return GoogleStore(time_zone=BERLIN)

    @pytest.fixture
    def person(self, store: GoogleStore) -> Person:
        return GooglePerson(store)


class TestFake(OverMemory):
    @pytest.fixture
    def calendar(self, store: GoogleStore) -> Calendar:
        return GoogleCalendarFake(store)


class TestFakeWithConditionalWrites(OverMemory):
    @pytest.fixture
    def calendar(self, store: GoogleStore) -> Calendar:
        return GoogleCalendarFake(store, conditional_write=True)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def plain() -> AsyncIterator[Opened]:
    """Yield a calendar with only the required settings."""
    tools = GoogleTools()
    async with GoogleMcp(tools) as server, aclosing(open_mcp_calendar(server.url, time_zone=BERLIN)) as calendar:
        yield tools, calendar


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def particular() -> AsyncIterator[Opened]:
    """Yield a server with ETags, a named account, a calendar that is not the primary one, a reader in another zone."""
    tools = GoogleTools(conditional=True)
    async with (
        GoogleMcp(tools) as server,
        aclosing(
            open_mcp_calendar(server.url, time_zone="Europe/Vienna", calendar_id="team@example.com", account="normal")
        ) as calendar,
    ):
        yield tools, calendar


class TestMcpCalendarOverGoogleMcp(OverMemory):
    @pytest.fixture
    def calendar(self, plain: Opened, store: GoogleStore) -> Calendar:
        tools, calendar = plain
        tools.calendars = {"primary": OneCalendar(store)}
        return calendar


class TestMcpCalendarOverAServerWithETags(OverMemory):
    @pytest.fixture
    def calendar(self, particular: Opened, store: GoogleStore) -> Calendar:
        tools, calendar = particular
        tools.calendars = {"team@example.com": OneCalendar(store)}
        return calendar


class TestSeveralCalendarsOverGoogleMcp(OverMemory):
    """The program writes to one calendar and reads any number of others."""

    @pytest.fixture
    def calendar(self, plain: Opened, store: GoogleStore) -> Calendar:
        tools, calendar = plain
        tools.calendars = {"primary": OneCalendar(store), "family@example.com": OneCalendar(GoogleStore(), "Family")}
        return SeveralCalendars(calendar, "Family")


OpenedGoogle = tuple[GoogleEmulator, GoogleCalendar]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def google() -> AsyncIterator[OpenedGoogle]:
    """Yield Google itself, connected by a person's consent."""
    emulator = GoogleEmulator()
    async with serve_app(emulator.app()) as base:
        tokens = await connect_person(emulator, base)
        client = GoogleClient(tokens, SystemClock(), url=f"{base}/calendar/v3")
        async with aclosing(GoogleCalendar(client, "primary", time_zone=BERLIN, key="google/primary")) as calendar:
            yield emulator, calendar


class TestGoogleCalendar(OverMemory):
    @pytest.fixture
    def calendar(self, google: OpenedGoogle, store: GoogleStore) -> Calendar:
        emulator, calendar = google
        emulator.calendars = {"primary": store}
        return calendar


class TestSeveralGoogleCalendars(OverMemory):
    """Another calendar is read along; the person is in another zone than the calendar."""

    @pytest.fixture
    def calendar(self, google: OpenedGoogle, store: GoogleStore) -> Calendar:
        emulator, calendar = google
        emulator.calendars = {"primary": store, "family@example.com": GoogleStore()}
        return GoogleCalendar(
            calendar.client, "primary", time_zone="Europe/Vienna", key="google/primary", also_read="family@example.com"
        )


@dataclass
class CalDavAccount:
    """An account with many empty calendars, behind the local calendar's tools."""

    home: str
    http: httpx.AsyncClient
    calendar: McpCalendar
    unused: Iterator[str]


@asynccontextmanager
async def an_account(folder: Path, calendars: int, *habits: Habit) -> AsyncIterator[CalDavAccount]:
    """Yield an account on a server with these ``habits``."""
    names = [f"calendar{n}" for n in range(calendars)]
    store = LocalCalendarConfig(data_dir=folder / "store", time_zone=BERLIN, radicale_password="any")
    async with AsyncExitStack() as stack:
        radicale = await stack.enter_async_context(await open_local_calendar(store, now=_now))
        home = urljoin(radicale.caldav_url, "..")
        front = QuirkyCalDav(urljoin(home, "/"), habits)
        stack.push_async_callback(front.aclose)
        met = urljoin(await stack.enter_async_context(serve_app(front.app())), "/me/") if habits else home
        http = await stack.enter_async_context(httpx.AsyncClient(auth=("me", "any"), trust_env=False, timeout=60))
        for name in names:
            (await http.request("MKCALENDAR", f"{home}{name}/")).raise_for_status()
        tools = LocalCalendarConfig(
            data_dir=folder / "tools", time_zone=BERLIN, caldav_url=met, username="me", password="any"
        )
        local = await stack.enter_async_context(await open_local_calendar(tools, now=_now))
        base = await stack.enter_async_context(serve_app(local.mcp_app, lifespan=False))
        calendar = await stack.enter_async_context(aclosing(open_mcp_calendar(f"{base}/mcp", time_zone=BERLIN)))
        yield CalDavAccount(home, http, calendar, iter(names))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def account(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[CalDavAccount]:
    async with an_account(tmp_path_factory.mktemp("caldav"), 80) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def quirky(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[CalDavAccount]:
    """Yield a calendar that rewrites values, has no ETags, cannot find a UID, and answers 400 to a conflict."""
    habits: tuple[Habit, ...] = ("rewrites", "no uid filter", "uid is 400")
    async with an_account(tmp_path_factory.mktemp("quirky"), 80, *habits) as opened:
        yield opened


class TestMcpCalendarOverCalDav(CalendarContract):
    @pytest.fixture
    def name(self, account: CalDavAccount) -> str:
        return next(account.unused)

    @pytest.fixture
    def calendar(self, account: CalDavAccount, name: str) -> Calendar:
        return account.calendar.for_calendar(f"{name}@127.0.0.1")

    @pytest.fixture
    def person(self, account: CalDavAccount, name: str) -> Person:
        return CalDavPerson(f"{account.home}{name}/", account.http)


class TestMcpCalendarOverAQuirkyCalDav(CalendarContract):
    @pytest.fixture
    def name(self, quirky: CalDavAccount) -> str:
        return next(quirky.unused)

    @pytest.fixture
    def calendar(self, quirky: CalDavAccount, name: str) -> Calendar:
        return quirky.calendar.for_calendar(f"{name}@127.0.0.1")

    @pytest.fixture
    def person(self, quirky: CalDavAccount, name: str) -> Person:
        return CalDavPerson(f"{quirky.home}{name}/", quirky.http)


@pytest_asyncio.fixture(loop_scope="module")
async def started(tmp_path: Path) -> AsyncIterator[McpCalendar]:
    command = f"{sys.executable} -m caldav_mcp --stdio --data {tmp_path} --time-zone {BERLIN}"
    async with aclosing(open_mcp_calendar(command, time_zone=BERLIN)) as calendar:
        yield calendar


@pytest.mark.process
async def test_the_local_calendar_started_by_its_command_line(started: McpCalendar) -> None:
    """One life of an event over standard input and output."""
    created = await put(started)
    assert (created.fields, created.marker) == (fields(), marker())
    assert started.traits.conditional_write
    assert await started.write(Create(make_owned_id(), fields(), marker())) == Exists()
    changed = await started.write(Update(make_owned_id(), {"summary": "Other"}, marker("t2-0"), expect=created.version))
    assert isinstance(changed, Done)
    assert await started.window(created.fields.start, created.fields.end) == (changed.image,)
    assert await started.write(Delete(make_owned_id())) == Done(None)
    assert (await read(started)).gone
    assert await started.write(Delete(make_owned_id())) == Gone()
