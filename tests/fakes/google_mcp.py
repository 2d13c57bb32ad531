"""google-calendar-mcp 2.6.3 as its clients see it: a real MCP server on a real socket, over calendars in memory.

    async with GoogleMcp() as server:
        server.inject(Google(503, "Service Unavailable"), tool="update-event", applied=True)
        calendar = open_mcp_calendar(server.url, time_zone="Europe/Berlin")

Like the real one it speaks the handshake protocol only, and answers a session it does not know with 404. Faults act
before or after the call takes effect, in the tool (``Google``, ``ErrorText``, ``Answers``, ``NoAnswer``, ``DelayedAnswer``, ``ConcurrentChange``) or below it
(``ConnectionDrop``, ``SessionLoss``).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Self

from mcp.server.lowlevel import Server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from tests.fakes.asgi_server import serve_app
from tests.fakes.google_tools import DECLARED, GoogleError, GoogleTools, ToolError

Receive = Callable[[], Any]
Send = Callable[[MutableMapping[str, Any]], Any]
_RETRIED = ("delete-event", "get-event", "list-events", "list-calendars")


@dataclass(frozen=True)
class Google:
    """Google answers with an error; status 0 is a reset connection, 1 no answer in time."""

    status: int
    message: str
    reason: str = ""


@dataclass(frozen=True)
class ErrorText:
    """The tool answers with this error text."""

    text: str


@dataclass(frozen=True)
class Answers:
    """A tool that succeeds with this text; a function makes it from the true answer."""

    text: str | Callable[[dict[str, Any]], str]


@dataclass(frozen=True)
class NoAnswer:
    """The tool never answers."""


@dataclass(frozen=True)
class DelayedAnswer:
    """The tool goes on only when the event is set."""

    until: asyncio.Event


@dataclass(frozen=True)
class ConcurrentChange:
    """A change by another client right before or right after the call takes effect."""

    hook: Callable[[], object]


@dataclass(frozen=True)
class ConnectionDrop:
    """The connection to the client breaks off without an answer."""


@dataclass(frozen=True)
class SessionLoss:
    """The server was restarted: it knows no session any more."""


Fault = Google | ErrorText | Answers | NoAnswer | DelayedAnswer | ConcurrentChange | ConnectionDrop | SessionLoss
_IN_TOOL = (Google, ErrorText, Answers, NoAnswer, DelayedAnswer, ConcurrentChange)


@dataclass
class _Armed:
    fault: Fault
    tool: str | None
    applied: bool
    times: int


@dataclass
class GoogleMcp:
    """The server. ``requests`` are the tool calls that arrived, with their arguments."""

    tools: GoogleTools = field(default_factory=GoogleTools)
    two_gaxios: bool = False
    """Show every error of Google as an internal one, as other resolved package versions do."""
    requests: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    sessions_opened: int = 0
    under_way: int = 0
    url: str = ""
    _armed: list[_Armed] = field(default_factory=list)
    _sessions: set[str] = field(default_factory=set)
    _stack: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)

    def inject(self, fault: Fault, *, tool: str | None = None, applied: bool = False, times: int = 1) -> None:
        """Let the next ``times`` calls (of ``tool``) meet a fault; with ``applied`` after they took effect."""
        self._armed.append(_Armed(fault, tool, applied, times))

    def calm(self) -> None:
        """Forget all faults that did not happen yet, and the record."""
        self._armed.clear()
        self.requests.clear()

    def list_calls(self, tool: str) -> list[Mapping[str, Any]]:
        """Return the arguments of all calls of one tool."""
        return [arguments for name, arguments in self.requests if name == tool]

    async def __aenter__(self) -> Self:
        self.url = await self._stack.enter_async_context(self.listening()) + "/mcp"
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._stack.aclose()

    @contextlib.asynccontextmanager
    async def listening(self, *, port: int = 0) -> AsyncIterator[str]:
        """Serve for a while; the calendars outlive it, sessions do not."""
        self._sessions.clear()
        app = self.mcp_server().streamable_http_app()
        async with serve_app(_Front(self, app), port=port) as base:
            yield base

    def mcp_server(self) -> Server[Any]:
        """Return the server without its transport."""

        async def on_list_tools(_context: Any, _params: Any) -> ListToolsResult:
            return ListToolsResult(tools=[self._declaration(name) for name in DECLARED])

        async def on_call_tool(_context: Any, params: CallToolRequestParams) -> CallToolResult:
            return await self._call(params.name, params.arguments or {})

        return Server("google-calendar", version="2.6.3", on_list_tools=on_list_tools, on_call_tool=on_call_tool)

    def _declaration(self, name: str) -> Tool:
        conditional = self.tools.conditional and name in ("update-event", "delete-event")
        names = (*DECLARED[name], "ifMatch") if conditional else DECLARED[name]
        return Tool(name=name, input_schema={"type": "object", "properties": {n: {} for n in names}})

    async def _call(self, tool: str, arguments: Mapping[str, Any]) -> CallToolResult:
        self.requests.append((tool, arguments))
        self.under_way += 1
        try:
            return await self._answer(tool, arguments)
        except GoogleError as error:
            text = error.text(tool, str(arguments.get("eventId", "")), str(arguments.get("calendarId", "")))
            own = error.status == 409 and tool == "create-event"
            mangled = self.two_gaxios and not own and tool != "update-event"
            return _text(f"MCP error -32603: Internal error: {error.message}" if mangled else text, error=True)
        except ToolError as error:
            return _text(str(error), error=True)
        finally:
            self.under_way -= 1

    async def _answer(self, tool: str, arguments: Mapping[str, Any]) -> CallToolResult:
        before = self.take_fault(tool, _IN_TOOL, applied=False)
        after = self.take_fault(tool, _IN_TOOL, applied=True)
        if before is not None and not _is_repeated(tool, before) and (said := await _strike(before, {})) is not None:
            return said
        answer = self.tools.call(tool, arguments)
        if after is None:
            return _text(json.dumps(answer))
        if _is_repeated(tool, after):
            return _text(json.dumps(self.tools.call(tool, arguments)))
        said = await _strike(after, answer)
        return _text(json.dumps(answer)) if said is None else said

    def take_fault(self, tool: str, kinds: tuple[type, ...], *, applied: bool) -> Fault | None:
        """Return the fault that this call meets, if any, and use it up."""
        for armed in self._armed:
            if isinstance(armed.fault, kinds) and armed.tool in (None, tool) and armed.applied is applied:
                armed.times -= 1
                if not armed.times:
                    self._armed.remove(armed)
                return armed.fault
        return None


class _Front:
    """The HTTP side: which protocol, which session, and connections that break."""

    def __init__(self, server: GoogleMcp, app: Any) -> None:
        self._server = server
        self._app = app

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        body = await _body(receive)
        message = json.loads(body) if body else {}
        called = message.get("params", {}).get("name") if message.get("method") == "tools/call" else None
        session = headers.get("mcp-session-id")
        if called and self._server.take_fault(called, (SessionLoss,), applied=False):
            self._server._sessions.clear()
        if session is not None and session not in self._server._sessions:
            await _refuse(send, 404, -32001, "Not Found: Unknown or expired session ID")
        elif session is None and message.get("method") != "initialize":
            await _refuse(send, 400, -32000, "Bad Request: No valid session ID provided")
        elif headers.get("mcp-protocol-version", HANDSHAKE_PROTOCOL_VERSIONS[0]) not in HANDSHAKE_PROTOCOL_VERSIONS:
            await _refuse(send, 400, -32000, "Bad Request: Unsupported protocol version")
        elif called and self._server.take_fault(called, (ConnectionDrop,), applied=False):
            await _break_off(send)
        elif called and self._server.take_fault(called, (ConnectionDrop,), applied=True):
            await self._app(scope, _again(body, receive), _nowhere)
            await _break_off(send)
        else:
            await self._app(scope, _again(body, receive), self._watching(send))

    def _watching(self, send: Send) -> Send:
        async def sending(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                for name, value in message["headers"]:
                    if name == b"mcp-session-id" and value.decode() not in self._server._sessions:
                        self._server._sessions.add(value.decode())
                        self._server.sessions_opened += 1
            await send(message)

        return sending


def _is_repeated(tool: str, fault: Fault) -> bool:
    """Check whether the real server asks Google again after that fault, and shows the answer of the second try."""
    return tool in _RETRIED and isinstance(fault, Google) and fault.status in (0, 429, 500, 503)


async def _strike(fault: Fault, answer: dict[str, Any]) -> CallToolResult | None:
    """Return the tool's answer because of the fault; ``None`` when it goes on as usual."""
    if isinstance(fault, Google):
        raise GoogleError(fault.status, fault.message, fault.reason)
    if isinstance(fault, ErrorText):
        return _text(fault.text, error=True)
    if isinstance(fault, Answers):
        return _text(fault.text if isinstance(fault.text, str) else fault.text(answer))
    if isinstance(fault, ConcurrentChange):
        fault.hook()
    if isinstance(fault, DelayedAnswer):
        await fault.until.wait()
    if isinstance(fault, NoAnswer):
        await asyncio.Event().wait()
    return None


def _text(text: str, *, error: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=error)


async def _body(receive: Receive) -> bytes:
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            return bytes(body)


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a receiver that repeats the request's body and then goes on as usual."""
    given = False

    async def receiving() -> Any:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receiving


async def _nowhere(_message: MutableMapping[str, Any]) -> None:
    return


async def _refuse(send: Send, status: int, code: int, message: str) -> None:
    body = json.dumps({"jsonrpc": "2.0", "error": {"code": code, "message": message}, "id": None}).encode()
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": body})


async def _break_off(send: Send) -> None:
    """Promise more than is sent: the connection is closed in the middle of the answer."""
    promised = [(b"content-type", b"application/json"), (b"content-length", b"100000")]
    await send({"type": "http.response.start", "status": 200, "headers": promised})
