"""The connection: lost, forgotten, slow, shared, and started as a child."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from tests.contracts.calendar_contract import HOUR, NINE, fields, make_owned_id, marker, put
from tests.fakes.asgi_server import serve_app
from tests.fakes.google_mcp import ConnectionDrop, DelayedAnswer, GoogleMcp, NoAnswer, SessionLoss
from tests.fakes.google_store import GoogleStore

from fateforger.adapters.calendar.calendars import McpCalendar, open_mcp_calendar
from fateforger.adapters.calendar.connection import CALLS_AT_ONCE
from fateforger.calendar.ports import Create, Delete, Done, Exists, Unknown, Update
from fateforger.errors import CalendarUnreachable

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition, at most 60 s."""
    deadline = asyncio.get_running_loop().time() + 60
    while not condition():
        assert asyncio.get_running_loop().time() < deadline
        await asyncio.sleep(0.001)


@pytest_asyncio.fixture(loop_scope="module")
async def hasty(server: GoogleMcp) -> AsyncIterator[McpCalendar]:
    """Yield a calendar that waits a second for an answer."""
    async with aclosing(open_mcp_calendar(server.url, time_zone="Europe/Berlin", call_seconds=1.0)) as calendar:
        yield calendar


async def test_a_forgotten_session_is_opened_again_and_the_write_made_once(
    calendar: McpCalendar, server: GoogleMcp, store: GoogleStore
) -> None:
    await calendar.window(NINE, NINE + HOUR)
    sessions = server.sessions_opened
    server.inject(SessionLoss(), tool="create-event")
    assert isinstance(await calendar.write(Create(make_owned_id(), fields(), marker())), Done)
    assert (len(server.list_calls("create-event")), list(store.get_live_events())) == (1, [make_owned_id()])
    assert server.sessions_opened == sessions + 1


async def test_a_server_that_forgets_every_session_is_out_of_reach(calendar: McpCalendar, server: GoogleMcp) -> None:
    server.inject(SessionLoss(), times=9)
    with pytest.raises(CalendarUnreachable):
        await calendar.window(NINE, NINE + HOUR)


async def test_a_lost_connection_before_a_write(calendar: McpCalendar, server: GoogleMcp, store: GoogleStore) -> None:
    server.inject(ConnectionDrop(), tool="create-event")
    assert isinstance(await calendar.write(Create(make_owned_id(), fields(), marker())), Unknown)
    assert store.get_live_events() == {}
    assert isinstance(await calendar.write(Create(make_owned_id(), fields(), marker())), Done)


async def test_a_lost_connection_after_a_write(calendar: McpCalendar, server: GoogleMcp, store: GoogleStore) -> None:
    server.inject(ConnectionDrop(), tool="create-event", applied=True)
    assert isinstance(await calendar.write(Create(make_owned_id(), fields(), marker())), Unknown)
    assert list(store.get_live_events()) == [make_owned_id()]
    assert await calendar.write(Create(make_owned_id(), fields(), marker())) == Exists()


async def test_a_lost_connection_under_a_read_is_made_good(calendar: McpCalendar, server: GoogleMcp) -> None:
    created = await put(calendar)
    server.inject(ConnectionDrop(), tool="list-events")
    assert await calendar.window(NINE, NINE + HOUR) == (created,)
    server.inject(ConnectionDrop(), tool="list-events", times=2)
    with pytest.raises(CalendarUnreachable):
        await calendar.window(NINE, NINE + HOUR)


async def test_a_server_that_hangs(
    hasty: McpCalendar, calendar: McpCalendar, server: GoogleMcp, store: GoogleStore
) -> None:
    server.inject(NoAnswer(), tool="create-event")
    outcome = await hasty.write(Create(make_owned_id(), fields(), marker()))
    assert outcome == Unknown("TimedOut: Request 'tools/call' timed out")
    server.inject(NoAnswer(), tool="create-event", applied=True)
    assert isinstance(await hasty.write(Create(make_owned_id(), fields(), marker())), Unknown)
    assert list(store.get_live_events()) == [make_owned_id()]
    server.inject(NoAnswer(), tool="list-events")
    with pytest.raises(CalendarUnreachable, match="it gave no answer in time"):
        await hasty.window(NINE, NINE + HOUR)
    assert len(await calendar.window(NINE, NINE + HOUR)) == 1


@pytest.mark.parametrize("tool", ["get-event", "update-event"])
async def test_a_write_ends_in_time_whatever_hangs(calendar: McpCalendar, server: GoogleMcp, tool: str) -> None:
    await put(calendar)
    async with aclosing(open_mcp_calendar(server.url, time_zone="UTC", write_seconds=0.5)) as impatient:
        server.inject(NoAnswer(), tool=tool)
        assert await impatient.write(Update(make_owned_id(), {"summary": "x"}, marker())) == Unknown(
            "no answer within 0.5 s"
        )
    server.calm()  # on a busy machine the call may not even have got there
    assert isinstance(await calendar.write(Update(make_owned_id(), {"summary": "x"}, marker())), Done)


async def test_a_restarted_server_is_found_again() -> None:
    server = GoogleMcp()
    async with server.listening() as base:
        port = urlsplit(base).port or 0
        calendar = open_mcp_calendar(f"{base}/mcp", time_zone="UTC")
        created = await put(calendar)
    async with aclosing(calendar):
        with pytest.raises(CalendarUnreachable, match=rf"I cannot reach the calendar server at {base}/mcp: "):
            await calendar.get(make_owned_id())
        assert isinstance(await calendar.write(Create(make_owned_id(1), fields(), marker())), Unknown)
        assert isinstance(await calendar.write(Update(make_owned_id(), {"summary": "x"}, marker())), Unknown)
        async with server.listening(port=port):
            assert await calendar.get(make_owned_id()) == created
            assert isinstance(await calendar.write(Create(make_owned_id(1), fields(), marker())), Done)


async def test_a_server_restarted_unnoticed_takes_the_next_write() -> None:
    server = GoogleMcp()
    async with server.listening() as base:
        port = urlsplit(base).port or 0
        calendar = open_mcp_calendar(f"{base}/mcp", time_zone="UTC")
        await put(calendar)
    async with aclosing(calendar), server.listening(port=port):
        assert isinstance(await calendar.write(Create(make_owned_id(1), fields(), marker())), Done)
        assert isinstance(await calendar.write(Delete(make_owned_id())), Done)


async def test_no_more_calls_at_once_than_agreed(calendar: McpCalendar, server: GoogleMcp) -> None:
    go_on = asyncio.Event()
    server.inject(DelayedAnswer(go_on), tool="create-event", times=12)
    creates = [asyncio.create_task(calendar.write(Create(make_owned_id(n), fields(), marker()))) for n in range(12)]
    await until(lambda: server.under_way == CALLS_AT_ONCE)
    for _ in range(20):
        await asyncio.sleep(0.001)
    assert server.under_way == CALLS_AT_ONCE
    go_on.set()
    assert [type(outcome) for outcome in await asyncio.gather(*creates)] == [Done] * 12


async def test_calls_under_way_survive_that_another_finds_the_session_forgotten(
    calendar: McpCalendar, server: GoogleMcp
) -> None:
    go_on = asyncio.Event()
    server.inject(DelayedAnswer(go_on), tool="create-event")
    slow = asyncio.create_task(calendar.write(Create(make_owned_id(), fields(), marker())))
    await until(lambda: server.under_way == 1)
    server.inject(SessionLoss(), tool="list-events")
    assert await calendar.window(NINE, NINE + HOUR) == ()
    go_on.set()
    assert isinstance(await slow, Done)


async def test_a_cancelled_call_leaves_the_session_usable(calendar: McpCalendar, server: GoogleMcp) -> None:
    server.inject(NoAnswer(), tool="list-events")
    reading = asyncio.create_task(calendar.window(NINE, NINE + HOUR))
    await until(lambda: server.under_way == 1)
    sessions = server.sessions_opened
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert await calendar.window(NINE, NINE + HOUR) == ()
    assert server.sessions_opened == sessions


async def test_many_first_calls_share_one_session(server: GoogleMcp) -> None:
    sessions = server.sessions_opened
    async with aclosing(open_mcp_calendar(server.url, time_zone="UTC")) as calendar:
        assert await asyncio.gather(*(calendar.get(make_owned_id(n)) for n in range(8))) == [None] * 8
    assert server.sessions_opened == sessions + 1


async def test_closing_leaves_nothing_running(server: GoogleMcp) -> None:
    ours = {"calendar session"}
    calendar = open_mcp_calendar(server.url, time_zone="UTC")
    await calendar.aclose()
    await calendar.get(make_owned_id())
    server.inject(SessionLoss(), tool="get-event")
    await calendar.get(make_owned_id())
    before = len([task for task in asyncio.all_tasks() if task.get_name() in ours])
    await calendar.aclose()
    await calendar.aclose()
    after = len([task for task in asyncio.all_tasks() if task.get_name() in ours])
    assert before > after


async def test_a_page_of_several_megabytes(calendar: McpCalendar, store: GoogleStore) -> None:
    for n in range(249):
        store.user_create(start=NINE, end=NINE + HOUR, event_id=f"meeting{n:05d}", description="wort " * 1600)
    assert len(await calendar.window(NINE, NINE + HOUR)) == 249


# --- what is not a calendar server -------------------------------------------------------------------------------


async def hello(_request: Request) -> PlainTextResponse:
    return PlainTextResponse("hello")


@pytest.mark.parametrize("path", ["/", "/elsewhere"])
async def test_another_web_server(path: str) -> None:
    app = Starlette(routes=[Route("/", hello, methods=["GET", "POST"])])
    async with serve_app(app) as base, aclosing(open_mcp_calendar(base + path, time_zone="UTC")) as calendar:
        with pytest.raises(CalendarUnreachable, match=r"^I cannot reach the calendar server at http://127\.0\.0\.1"):
            await calendar.window(NINE, NINE + HOUR)
        assert isinstance(await calendar.write(Create(make_owned_id(), fields(), marker())), Unknown)


@pytest.mark.process
@pytest.mark.parametrize(
    "command",
    ["no-such-program-anywhere --port 1", f"{sys.executable} -c 'import sys; sys.exit(3)'"],
    ids=["missing", "ends at once"],
)
async def test_a_program_that_is_no_server(command: str) -> None:
    async with aclosing(open_mcp_calendar(command, time_zone="UTC")) as calendar:
        with pytest.raises(CalendarUnreachable, match=r"^I cannot reach the calendar server “"):
            await calendar.window(NINE, NINE + HOUR)
