"""Requests that arrive too slowly, and floods of connections, at each entry point: an honest request is answered."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from tests.caldav_mcp.wire import close_connection
from tests.scenarios.person import Person
from tests.scenarios.program import Program
from tests.security.test_entry_points_limits import HALF, client, median_of_health, open_connection

from caldav_mcp import embedded
from caldav_mcp.embedded import EmbeddedRadicale
from fateforger.app import web
from fateforger.app.agents import serve_http
from fateforger.app.web import WebServer
from fateforger.config import read_settings
from fateforger.limits import MAX_UNFINISHED

SECONDS = 0.5
ENTRY_POINTS = ("/ui/message", "/slack/events", "/connect/abc", "/calendar/mcp", "/changes/google")


async def _answer(request: Request) -> Response:
    return PlainTextResponse(await request.body() or b"empty")


async def _trickle(port: int, path: str) -> tuple[bytes, float]:
    """Send a request a byte at a time until the server has had enough; return its answer, and the seconds it took."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    began = time.monotonic()
    writer.write(f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n".encode())
    reading = asyncio.create_task(reader.read())
    while not reading.done():
        with suppress(ConnectionError):
            writer.write(b"x")
            await writer.drain()
        await asyncio.wait({reading}, timeout=0.02)
    await close_connection(writer)
    with suppress(ConnectionError):
        return reading.result(), time.monotonic() - began
    return b"", time.monotonic() - began


@pytest.fixture
async def every_path(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[WebServer]:
    monkeypatch.setattr(web, "MAX_REQUEST_SECONDS", SECONDS)
    server = WebServer("127.0.0.1", 0)
    routes = [Route("/{path:path}", _answer, methods=["GET", "POST"])]
    await server.start(Starlette(routes=routes))
    yield server
    await server.stop()
    server.close()


@pytest.mark.attack(
    "page, Slack over HTTP, connect page and notices", "a body that is sent a byte at a time", "7g", "held"
)
@pytest.mark.parametrize("path", ENTRY_POINTS)
async def test_a_slow_body_is_given_up_and_another_is_answered(every_path: WebServer, path: str) -> None:
    """S398."""
    slow = asyncio.create_task(_trickle(every_path.port, path))
    async with httpx.AsyncClient(trust_env=False) as http:
        honest = await http.post(f"{every_path.url}{path}", content=b"hello")
    assert honest.text == "hello"
    answer, took = await slow
    assert not answer or answer.startswith(b"HTTP/1.1 408 ")  # bytes that are sent after that may cut the answer off
    assert took < SECONDS + 5


@pytest.mark.attack("MCP for agents", "a body that is sent a byte at a time", "7g", "held")
async def test_a_slow_call_of_an_agent_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S398."""
    monkeypatch.setattr(web, "MAX_REQUEST_SECONDS", SECONDS)
    async with serve_http(read_settings(data_dir=tmp_path), "127.0.0.1", 0) as address:
        port = httpx.URL(address).port
        assert port is not None
        slow = asyncio.create_task(_trickle(port, "/mcp"))
        async with httpx.AsyncClient(trust_env=False) as http:
            assert (await http.post(address, json={})).status_code == 401
        answer, took = await slow
    assert not answer or answer[9:12] in {b"401", b"408"}
    assert took < SECONDS + 5


@pytest.mark.attack("CalDAV", "a body that is sent a byte at a time", "7g", "held")
async def test_a_slow_event_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S398."""
    monkeypatch.setattr(embedded, "MAX_REQUEST_SECONDS", SECONDS)
    server = EmbeddedRadicale(tmp_path, password="unused")
    try:
        slow = asyncio.create_task(_trickle(server.port, "/me/calendar/a.ics"))
        async with httpx.AsyncClient(trust_env=False) as http:
            assert (await http.get(f"http://127.0.0.1:{server.port}/me/calendar/")).status_code == 401
        _answer, took = await slow
    finally:
        await asyncio.to_thread(server.stop)
    assert took < 60


@pytest.mark.process
@pytest.mark.attack("page", "a flood of connections from one client", "7g", "mended")
def test_a_flood_of_connections_shuts_nobody_out(tmp_path: Path) -> None:
    """S398: a client begins requests as fast as it can; each honest request is answered, and /health quickly."""
    program = Program(tmp_path / "data").start()
    over, begun = threading.Event(), 0

    def flood() -> None:
        nonlocal begun
        kept: deque[socket.socket] = deque()
        while not over.is_set():
            with suppress(OSError):
                kept.append(open_connection(program.port, HALF))
                begun += 1
            if len(kept) > 2 * MAX_UNFINISHED:
                kept.popleft().close()
        for connection in kept:
            connection.close()

    try:
        before = median_of_health(program)
        flooding = threading.Thread(target=flood, daemon=True)
        flooding.start()
        person, http = Person(program.address), client()
        while begun < 4 * MAX_UNFINISHED:
            assert http.get(f"{program.url}/health").status_code == 200
        during = median_of_health(program)
        assert person.state()["connected"]
        assert during < max(0.1, 10 * before), (before, during)
    finally:
        over.set()
        flooding.join()
        program.kill()


@pytest.mark.attack("page", "more half-sent requests from one machine than are kept", "7g", "mended")
async def test_one_machine_does_not_shut_out_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """S398: the oldest connection of the machine with the most of them is closed. All of 127.x.x.x is this machine."""
    monkeypatch.setattr(web, "MAX_UNFINISHED", 10)
    server = WebServer("127.0.0.1", 0)
    await server.start(Starlette(routes=[Route("/", _answer, methods=["POST"])]))
    try:
        with ExitStack() as stack:
            honest = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), 10, ("127.0.0.2", 0)))
            honest.sendall(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n\r\nhel")
            halves = [stack.enter_context(await asyncio.to_thread(open_connection, server.port)) for _ in range(40)]
            with suppress(ConnectionError):  # it was closed
                await asyncio.to_thread(halves[0].recv, 4096)
            honest.sendall(b"lo")
            assert (await asyncio.to_thread(honest.recv, 4096)).startswith(b"HTTP/1.1 200 ")
    finally:
        await server.stop()
        server.close()


@pytest.mark.process
def test_the_calendar_is_read_at_an_address_of_the_network(tmp_path: Path) -> None:
    """S398: the program's own calendar client is let in at any address that the page listens on."""
    program = Program(tmp_path / "data", environment={"FATEFORGER_HOST": "127.0.0.2"}).start()
    try:
        person = program.person()
        assert person.slash("/timebox") == {"ok": True}
        person.reads("Plan this day")
        person.press("Plan this day")
        person.reads("the hours of your day", "Continue")
        assert "could not read your calendar" not in person.says()
    finally:
        program.kill()
