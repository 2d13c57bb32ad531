"""Connections to a calendar server: its address, its time limits, one open session, and reopening a lost one.

A call returns a :class:`Reply` or raises a :class:`Trouble`, which says whether the call may have taken effect:

  NotConnected   the server was not reached; nothing happened
  Forgotten      the server no longer knows the session; nothing happened
  Lost           the connection broke during the call; it may have taken effect
  TimedOut       no answer in time; it may have taken effect, or may do so later

"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import shlex
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar, Protocol
from urllib.parse import urlsplit

from fateforger.calendar.calls import OK, count_call
from fateforger.errors import BadInput
from fateforger.limits import MAX_CALENDAR_ANSWER_BYTES
from fateforger.masks import mask_address
from fateforger.text import gettext as _
from fateforger.text import shorten

if TYPE_CHECKING:
    from mcp import Client, MCPError
    from mcp_types import CallToolResult


CALL_SECONDS = 10.0
"""Seconds for one tool call. The server gives Google 3 s a request, and an update is three requests."""


OPEN_SECONDS = 10.0
"""Seconds to open a session with a server that is already running."""

START_SECONDS = 60.0
"""Seconds to start a server by its command line; a package runner may have to download it first."""

CLOSE_SECONDS = 5.0
"""Seconds for an orderly close; after that the connection is cut."""

CALLS_AT_ONCE = 4
"""Concurrent tool calls per calendar."""

BUDGET_PATIENCE = 5.0
"""Seconds a read waits for the login's request budget before it is refused."""

PAGE_SIZE = 250
"""A page with this many events is truncated: the server neither pages on nor says so."""

SHORTEST_WINDOW = timedelta(minutes=1)
"""The shortest window to split; one this short that still fills a page is an error."""


class Endpoint(Protocol):
    """The place of a server, and the way to it."""

    @property
    def name(self) -> str:
        """Return a name for logs and keys, without secrets."""
        ...

    @property
    def open_seconds(self) -> float:
        """Return the seconds that a session may take to open."""
        ...

    def describe(self) -> str:
        """Return the server's name for use in a sentence."""
        ...

    def open_transport(self) -> AbstractAsyncContextManager[Any]:
        """Return a transport of the protocol's client."""
        ...


@dataclass(frozen=True, slots=True)
class HttpEndpoint:
    """A running server that speaks streamable HTTP, with a bearer token if it needs one."""

    url: str
    token: str | None = field(default=None, repr=False)
    open_seconds: ClassVar[float] = OPEN_SECONDS

    @property
    def name(self) -> str:
        """Return the address without user, query and fragment, which may be secret. The journal names it like this."""
        parts = urlsplit(self.url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname}{port}{parts.path}"

    def describe(self) -> str:
        return _("the calendar server at {name}", name=mask_address(self.name))

    def open_transport(self) -> AbstractAsyncContextManager[Any]:
        return _open_http(self.url, {} if self.token is None else {"Authorization": f"Bearer {self.token}"})


@asynccontextmanager
async def _open_http(url: str, headers: dict[str, str]) -> AsyncIterator[Any]:
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415  heavy
    from mcp.shared._httpx_utils import create_mcp_http_client  # noqa: PLC0415  heavy

    from fateforger.adapters.answers import limit_answers  # noqa: PLC0415  heavy

    async with create_mcp_http_client(headers) as client:
        limit_answers(client, MAX_CALENDAR_ANSWER_BYTES, events=False)
        async with streamable_http_client(
            url, http_client=client, max_sse_event_size=MAX_CALENDAR_ANSWER_BYTES
        ) as streams:
            yield streams


@dataclass(frozen=True, slots=True)
class CommandEndpoint:
    """A server that runs as a child process and speaks over standard input and output.

    The child inherits only the environment a program needs to run.
    """

    program: str
    arguments: tuple[str, ...] = ()
    open_seconds: ClassVar[float] = START_SECONDS

    @property
    def name(self) -> str:
        """Return the program and a fingerprint of its command line, which may hold secrets."""
        line = shlex.join((self.program, *self.arguments))
        return f"stdio:{PurePath(self.program).name}-{hashlib.sha256(line.encode()).hexdigest()[:12]}"

    def describe(self) -> str:
        return _("the calendar server “{name}”", name=PurePath(self.program).name)

    def open_transport(self) -> AbstractAsyncContextManager[Any]:
        from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: PLC0415  heavy

        return stdio_client(StdioServerParameters(command=self.program, args=list(self.arguments)))


def read_endpoint(text: str, token: str | None = None) -> Endpoint:
    """Parse ``http://...`` and ``https://...`` as URLs, anything else as a shell-quoted command line.

    The ``token`` is sent to a server with a URL.

    Raises :class:`~fateforger.errors.BadInput`.
    """
    if "://" in text.strip().split(" ", 1)[0]:
        return HttpEndpoint(_check_url(text), token)
    try:
        words = shlex.split(text)
    except ValueError as problem:
        raise BadInput(f"I cannot read the calendar server's command line: {problem}.", where="calendar_url") from None
    if not words:
        raise BadInput("The calendar server needs a URL or a command line.", where="calendar_url")
    return CommandEndpoint(words[0], tuple(words[1:]))


def _check_url(text: str) -> str:
    try:
        parts = urlsplit(text.strip())
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable:
        raise BadInput(
            f"“{shorten(mask_address(text), 100)}” is not the address of a calendar server; it looks like http://127.0.0.1:3000/mcp.",
            where="calendar_url",
        )
    return text.strip()


logger = logging.getLogger(__name__)
_UNKNOWN_SESSION = ("unknown or expired session", "session not found", "session terminated", "no valid session")


@dataclass(frozen=True, slots=True)
class Reply:
    """The text of a tool's answer, and whether the tool reports an error."""

    text: str
    failed: bool


@dataclass(frozen=True, slots=True)
class Welcome:
    """The server's identity, and the arguments that each of its tools takes."""

    server: str
    version: str
    tools: Mapping[str, frozenset[str]]

    @property
    def conditional_write(self) -> bool:
        """Check whether writes take ``ifMatch``: our local server does, google-calendar-mcp does not."""
        return all("ifMatch" in self.tools.get(tool, ()) for tool in ("update-event", "delete-event"))


class Trouble(Exception):
    """A call got no answer."""


class NotConnected(Trouble):
    """The server was not reached."""


class Lost(Trouble):
    """The connection broke."""


class TimedOut(Trouble):
    """The server did not answer in time."""


class Forgotten(Trouble):
    """The server no longer knows the session, and did nothing."""


class Connection:
    """An open session in a task of its own.

    The client's scopes must be left in the task that entered them, and they end that task when the connection breaks.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._ready: asyncio.Future[tuple[Client, Welcome]] = asyncio.get_running_loop().create_future()
        self._leave = asyncio.Event()
        self._under_way = 0
        self._retired = False
        self._task = asyncio.create_task(self._run_session(), name="calendar session")
        self._task.add_done_callback(_note_end)

    @property
    def is_over(self) -> bool:
        return self._task.done()

    @property
    def welcome(self) -> Welcome:
        return self._ready.result()[1]

    async def wait_opened(self) -> Welcome:
        """Wait until the session is open. Raises :class:`NotConnected`."""
        seconds = self._endpoint.open_seconds
        either: set[asyncio.Future[Any]] = {self._ready, self._task}
        await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if self._ready.done():
            return self.welcome
        reason = _("no session within {seconds:.0f} s", seconds=seconds)
        if self._task.done():
            reason = _describe_cause(self._task.exception()) if not self._task.cancelled() else _("it was closed")
        raise NotConnected(reason)

    async def call(self, tool: str, arguments: Mapping[str, Any], seconds: float) -> Reply:
        from mcp import MCPError  # noqa: PLC0415  heavy, and not needed before the first call

        client = self._ready.result()[0]
        self._under_way += 1
        calling = asyncio.create_task(client.call_tool(tool, dict(arguments), read_timeout_seconds=seconds))
        try:
            await asyncio.wait({calling, self._task}, return_when=asyncio.FIRST_COMPLETED)
            if not calling.done():
                # Usually the call notices the end by itself; this covers the moment in between.
                await asyncio.wait({calling}, timeout=CLOSE_SECONDS)
            if not calling.done():
                raise Lost(_("the connection was lost"))
            return _to_reply(calling.result())
        except MCPError as error:
            raise _to_trouble(error) from None
        except (OSError, RuntimeError) as error:
            raise Lost(_describe_cause(error)) from None
        finally:
            self._under_way -= 1
            if self._retired and not self._under_way:
                self._leave.set()
            calling.cancel()
            await asyncio.wait({calling})

    def retire(self) -> None:
        """Close as soon as no call is in progress."""
        self._retired = True
        if not self._under_way:
            self._leave.set()

    async def close(self) -> None:
        self._leave.set()
        if self._ready.done():
            await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _run_session(self) -> None:
        from mcp import Client  # noqa: PLC0415  heavy, and not needed before the first call

        async with Client(self._endpoint.open_transport()) as client:
            welcome = await _read_welcome(client)
            self._ready.set_result((client, welcome))
            await self._leave.wait()


def _note_end(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.info("calendar session ended: %s", _describe_cause(error))


async def _read_welcome(client: Client) -> Welcome:
    listed = await client.list_tools()
    info = client.server_info
    tools = {tool.name: frozenset(tool.input_schema.get("properties", {})) for tool in listed.tools}
    return Welcome(server=info.name if info else "unknown", version=info.version if info else "", tools=tools)


def _to_reply(result: CallToolResult) -> Reply:
    texts = [block.text for block in result.content if block.type == "text"]
    return Reply("\n".join(texts), bool(result.is_error))


def _to_trouble(error: MCPError) -> Trouble:
    from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT  # noqa: PLC0415  heavy

    message = error.message.lower()
    if any(sign in message for sign in _UNKNOWN_SESSION):
        return Forgotten(error.message)
    if error.code == REQUEST_TIMEOUT:
        return TimedOut(error.message)
    return Lost(error.message if error.code != CONNECTION_CLOSED else _("the connection was closed"))


def _describe_cause(error: BaseException | None) -> str:
    """Return the message of the first cause inside groups of exceptions."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return f"{error}".strip() or type(error).__name__


class McpSession:
    """A session for any number of concurrent calls. Not bound to the task that uses it."""

    def __init__(self, endpoint: Endpoint, *, call_seconds: float = CALL_SECONDS, provider: str = "mcp") -> None:
        """Name calls by ``provider`` in figures and traces."""
        self.endpoint = endpoint
        self._provider = provider
        self.welcome: Welcome | None = None
        self._call_seconds = call_seconds
        self._connection: Connection | None = None
        self._retired: set[Connection] = set()
        self._opening: asyncio.Task[Connection] | None = None

    async def open(self) -> Welcome:
        """Ensure that a session is open. Raises :class:`NotConnected`."""
        return (await self._open()).welcome

    async def call(self, tool: str, arguments: Mapping[str, Any], *, repeatable: bool) -> Reply:
        """Call a tool.

        A session that the server forgot is replaced and the call repeated, since it did nothing. After a lost
        connection only a ``repeatable`` call is repeated. Raises :class:`Trouble`.
        """
        for last in (False, True):
            connection = await self._open()
            try:
                with count_call(self._provider, tool) as call:
                    reply = await connection.call(tool, arguments, self._call_seconds)
                    call.code = "refused" if reply.failed else OK
            except Forgotten as trouble:
                self._retire(connection)
                if last:
                    raise NotConnected(str(trouble)) from None
            except Lost:
                self._retire(connection)
                if last or not repeatable:
                    raise
            else:
                return reply
        raise AssertionError("the last round returns or raises")

    async def aclose(self) -> None:
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait({self._opening})
        if self._connection is not None:
            self._retire(self._connection)
        await asyncio.gather(*(connection.close() for connection in self._retired))

    async def _open(self) -> Connection:
        """Return the open connection; concurrent callers wait for the same one."""
        if self._connection is not None and not self._connection.is_over:
            return self._connection
        if self._opening is None:
            self._opening = asyncio.create_task(self._connect())
            self._opening.add_done_callback(self._finish_opening)
        return await asyncio.shield(self._opening)

    async def _connect(self) -> Connection:
        connection = Connection(self.endpoint)
        try:
            self.welcome = await connection.wait_opened()
        except BaseException:  # also when cancelled, the connection is closed
            await connection.close()
            raise
        self._connection = connection
        return connection

    def _finish_opening(self, opening: asyncio.Task[Connection]) -> None:
        self._opening = None
        if not opening.cancelled():
            opening.exception()  # marks it as retrieved; perhaps no caller waits any more

    def _retire(self, connection: Connection) -> None:
        """Stop using a connection, but let its calls in progress finish."""
        if self._connection is connection:
            self._connection = None
        self._retired = {c for c in self._retired if not c.is_over} | {connection}
        connection.retire()
