"""Limits on the size, duration and number of requests to the running program."""

from __future__ import annotations

import asyncio
import socket
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket
from tests.scenarios.caldav import CalDav
from tests.scenarios.person import DEADLINE, Person, eventually
from tests.scenarios.program import Program
from tests.security.test_entry_points import INITIALIZE, token_of
from websockets.asyncio.client import connect

from caldav_mcp import embedded
from caldav_mcp.embedded import EmbeddedRadicale
from caldav_mcp.limits import MAX_UNFINISHED as MAX_AT_CALDAV
from fateforger.app import web
from fateforger.app.web import WebServer
from fateforger.limits import MAX_BODY_BYTES, MAX_HEAD_BYTES, MAX_UNFINISHED

HALF = b"POST /ui/message HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Le"
PROBES = 25


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    program = Program(tmp_path_factory.mktemp("limits") / "data").start()
    yield program
    program.kill()


def client(token: str = "") -> httpx.Client:
    """Return a client that keeps no connection, as probes do."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    limits = httpx.Limits(max_keepalive_connections=0)
    return httpx.Client(trust_env=False, timeout=60, headers=headers, limits=limits)


def open_connection(port: int, sent: bytes = HALF) -> socket.socket:
    """Open a connection and begin a request on it."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=DEADLINE)
    connection.sendall(sent)
    return connection


def has_ended(connection: socket.socket) -> bool:
    connection.setblocking(False)  # noqa: FBT003  the socket module's own signature
    try:
        while connection.recv(4096):
            pass
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
    return True


def chunks(total: int) -> Iterator[bytes]:
    """Yield a body whose length is not announced."""
    for _ in range(total // 50_000 + 1):
        yield b" " * 50_000


# --- bodies, headers, uploads


@pytest.mark.process
@pytest.mark.attack("page", "a body of 100 MB, announced or not", "7f", "mended")
def test_a_body_has_a_limit_whatever_was_announced(program: Program) -> None:
    """S374."""
    http = Person(program.address).http
    http.headers["content-type"] = "application/json"
    for body in (b" " * (MAX_BODY_BYTES + 1), chunks(MAX_BODY_BYTES)):
        answer = http.post(f"{program.url}/ui/message", content=body)
        assert (answer.status_code, "too long; at most 2,000,000 bytes" in answer.text) == (413, True)
    absurd = open_connection(
        program.port, b"POST /api/auth.test HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999999\r\n\r\n"
    )
    assert absurd.recv(4096).startswith(b"HTTP/1.1 413 ")
    absurd.close()
    calls = http.post(
        f"{program.url}/calendar/mcp",
        content=chunks(MAX_BODY_BYTES),
        headers={"Accept": "application/json, text/event-stream"},
    )
    assert calls.status_code == 413
    assert Person(program.address).state()["connected"]


@pytest.mark.process
@pytest.mark.attack("page", "endless headers", "-", "mended")
def test_a_head_has_a_limit(program: Program) -> None:
    answer = httpx.get(f"{program.url}/", headers={"X": "x" * MAX_HEAD_BYTES}, trust_env=False)
    assert (answer.status_code, answer.text) == (431, "The address and headers of this request are too long.")
    endless = open_connection(program.port, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"x" * MAX_HEAD_BYTES)
    assert endless.recv(4096).startswith(b"HTTP/1.1 431 ")
    endless.close()
    nonsense = open_connection(program.port, b"\x16\x03\x01 nonsense\r\n\r\n")
    assert nonsense.recv(4096).startswith(b"HTTP/1.1 400 ")
    nonsense.close()


@pytest.mark.process
@pytest.mark.attack(
    "files of the local Slack", "more than was announced; a second upload over the first", "7f", "mended"
)
def test_an_upload_is_what_was_announced_and_stays(program: Program) -> None:
    """S375."""
    secret = (program.data / "workspace.secret").read_text()
    http = client(f"xoxb-{secret}")
    asked = {"filename": "day.png", "length": "5"}
    upload = http.post(f"{program.url}/api/files.getUploadURLExternal", data=asked).json()["upload_url"]
    assert http.post(upload, content=b"123456").status_code == 413
    assert http.post(upload, content=chunks(10)).status_code == 413
    assert [http.post(upload, content=b"12345").status_code for _ in range(2)] == [200, 200]
    assert http.post(upload, content=b"other").status_code == 409
    assert http.post(f"{program.url}/files/F0000000000", content=chunks(MAX_BODY_BYTES)).status_code == 404
    assert Person(program.address).http.get(upload).content == b"12345"


# --- sessions and connections


@pytest.mark.process
@pytest.mark.attack("calendar's MCP", "a thousand sessions that are never ended", "7e", "mended")
def test_no_session_of_the_calendar_is_kept(program: Program) -> None:
    """S376: there are no sessions to keep."""
    http = Person(program.address).http
    accepted = {"Accept": "application/json, text/event-stream"}
    answer = http.post(f"{program.url}/calendar/mcp", json=INITIALIZE, headers=accepted)
    assert answer.status_code == 200
    assert answer.json()["result"]["serverInfo"]["name"] == "google-calendar"
    assert "mcp-session-id" not in answer.headers


@pytest.mark.process
@pytest.mark.attack("page", "hundreds of half-sent requests", "7g", "mended")
def test_half_requests_shut_nobody_out(program: Program) -> None:
    """S377: the oldest are closed, and a person gets in."""
    person = Person(program.address)
    with ExitStack() as stack:
        halves = [stack.enter_context(open_connection(program.port)) for _ in range(400)]
        eventually(lambda: sum(map(has_ended, halves)) >= 400 - MAX_UNFINISHED, "the oldest were closed")
        assert not has_ended(halves[-1])
        assert person.state()["connected"]


@pytest.mark.process
@pytest.mark.attack("CalDAV", "hundreds of half-sent requests, each of which takes a thread", "7g", "mended")
def test_half_requests_to_caldav_shut_nobody_out(program: Program) -> None:
    calendar = CalDav(program.caldav_url())
    port = httpx.URL(calendar.url).port
    assert port is not None
    with ExitStack() as stack:
        halves = [stack.enter_context(open_connection(port)) for _ in range(200)]
        eventually(lambda: sum(map(has_ended, halves)) >= 200 - MAX_AT_CALDAV, "the oldest were closed")
        assert calendar.titles() == []
    assert "Traceback" not in program.log.read_text()


@pytest.mark.attack("page", "a request that never ends", "7g", "mended")
@pytest.mark.parametrize("body", [False, True])
async def test_a_request_has_to_arrive_in_time(monkeypatch: pytest.MonkeyPatch, *, body: bool) -> None:
    """S377: its head, and its body. A connection that sends nothing is closed without an answer."""
    monkeypatch.setattr(web, "MAX_REQUEST_SECONDS", 0.2)

    async def read(request: Request) -> Response:
        return PlainTextResponse(await request.body())

    server = WebServer("127.0.0.1", 0)
    await server.start(Starlette(routes=[Route("/", read, methods=["POST"])]))
    try:
        head = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n"
        answers = [await asyncio.to_thread(_read_all, server.port, sent) for sent in (head + b"\r\n1" * body, b"")]
        assert answers[0].startswith(b"HTTP/1.1 408 ")
        assert answers[0].endswith(b"The request did not arrive in time.")
        assert answers[1] == b""
    finally:
        await server.stop()
        server.close()


async def test_an_open_socket_of_the_page_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """S377: it is no request that has yet to arrive."""
    monkeypatch.setattr(web, "MAX_REQUEST_SECONDS", 0.2)

    async def echo(page: WebSocket) -> None:
        await page.accept()
        await page.send_text(await page.receive_text())

    server = WebServer("127.0.0.1", 0)
    await server.start(Starlette(routes=[WebSocketRoute("/", echo)]))
    try:
        async with connect(server.url.replace("http", "ws"), proxy=None) as page:
            assert await asyncio.to_thread(_read_all, server.port, b"") == b""
            await page.send("still here")
            assert await page.recv() == "still here"
    finally:
        await server.stop()
        server.close()


@pytest.mark.attack("CalDAV", "a request that never ends", "7g", "mended")
async def test_a_request_to_caldav_has_to_arrive_in_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(embedded, "MAX_REQUEST_SECONDS", 0.2)
    server = EmbeddedRadicale(tmp_path, password="unused")
    try:
        assert b"207" not in await asyncio.to_thread(_read_all, server.port, HALF)
    finally:
        await asyncio.to_thread(server.stop)


def _read_all(port: int, sent: bytes) -> bytes:
    with open_connection(port, sent) as connection:
        found = b""
        while more := connection.recv(4096):
            found += more
        return found


# --- all of it at once


@contextmanager
def again_and_again(*attacks: Callable[[], object]) -> Iterator[None]:
    """Attack in threads until the block ends; each attack has taken place before it begins."""
    stop, began = threading.Event(), threading.Barrier(len(attacks) + 1)

    def attack(once: Callable[[], object]) -> None:
        once()
        began.wait()
        while not stop.is_set():
            with suppress(httpx.TransportError):  # the program may cut an attack off
                once()

    threads = [threading.Thread(target=attack, args=(each,), daemon=True) for each in attacks]
    for thread in threads:
        thread.start()
    began.wait()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def median_of_health(program: Program) -> float:
    """Return the median time of a health check in seconds."""
    took, http = [], client()
    for _ in range(PROBES):
        began = time.perf_counter()
        http.get(f"{program.url}/health").raise_for_status()
        took.append(time.perf_counter() - began)
    return statistics.median(took)


@pytest.mark.process
@pytest.mark.attack("page, MCP and CalDAV", "all of these at once, while /health is asked", "7", "held")
def test_health_answers_through_all_of_it(program: Program) -> None:
    """The median is below 100 ms, or below ten times what the busy test machine takes without an attack."""
    caldav = httpx.URL(program.caldav_url()).copy_with(userinfo=b"")
    assert caldav.port is not None
    stranger, known = client(), client(token_of(program))
    accepted = {"Accept": "application/json, text/event-stream"}
    halves: list[socket.socket] = []

    def begin_and_ask(port: int, method: str, address: str) -> None:
        halves.append(open_connection(port))
        if len(halves) > 400:
            halves.pop(0).close()
        stranger.request(method, address)

    before = median_of_health(program)
    halves += [open_connection(port) for port in (program.port, caldav.port) for _ in range(200)]
    with again_and_again(
        lambda: begin_and_ask(program.port, "GET", f"{program.url}/?token=guess"),
        lambda: begin_and_ask(caldav.port or 0, "PROPFIND", str(caldav)),
        lambda: known.post(f"{program.url}/ui/message", content=chunks(MAX_BODY_BYTES)),
        lambda: known.post(f"{program.url}/calendar/mcp", json=INITIALIZE, headers=accepted),
        lambda: stranger.get(program.url, headers={"X": "x" * MAX_HEAD_BYTES}),
    ):
        during = median_of_health(program)
    for half in halves:
        half.close()
    assert during < max(0.1, 10 * before), (before, during)
    assert Person(program.address).state()["connected"]
