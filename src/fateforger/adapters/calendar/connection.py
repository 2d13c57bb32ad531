"""One open session with a calendar server, from its handshake to its end.

A call returns a :class:`Reply` or raises a :class:`Trouble`, which says whether the call may have taken effect:

  NotConnected   the server was not reached; nothing happened
  Forgotten      the server no longer knows the session; nothing happened
  Lost           the connection broke during the call; it may have taken effect
  TimedOut       no answer in time; it may have taken effect, or may do so later
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, assert_never

from fateforger.adapters.calendar.endpoint import CommandEndpoint, Endpoint, HttpEndpoint
from fateforger.adapters.calendar.limits import CLOSE_SECONDS, OPEN_SECONDS, START_SECONDS

if TYPE_CHECKING:
    from mcp import Client, MCPError
    from mcp_types import CallToolResult

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
    protocol: str
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
        seconds = OPEN_SECONDS if isinstance(self._endpoint, HttpEndpoint) else START_SECONDS
        either: set[asyncio.Future[Any]] = {self._ready, self._task}
        await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if self._ready.done():
            return self.welcome
        reason = f"no session within {seconds:.0f} s"
        if self._task.done():
            reason = _describe_cause(self._task.exception()) if not self._task.cancelled() else "it was closed"
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
                raise Lost("the connection was lost")
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
        """Close now."""
        self._leave.set()
        if self._ready.done():
            await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _run_session(self) -> None:
        from mcp import Client  # noqa: PLC0415  heavy, and not needed before the first call

        async with Client(_open_transport(self._endpoint)) as client:
            welcome = await _read_welcome(client)
            self._ready.set_result((client, welcome))
            await self._leave.wait()


def _note_end(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.info("calendar session ended: %s", _describe_cause(error))


def _open_transport(endpoint: Endpoint) -> AbstractAsyncContextManager[Any]:
    if isinstance(endpoint, HttpEndpoint):
        from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415  heavy

        # A page of 250 events with long descriptions is several megabytes in one event of the stream.
        return streamable_http_client(endpoint.url, max_sse_event_size=None)
    if isinstance(endpoint, CommandEndpoint):
        from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: PLC0415  heavy

        return stdio_client(
            StdioServerParameters(
                command=endpoint.program, args=list(endpoint.arguments), env=dict(endpoint.environment)
            )
        )
    assert_never(endpoint)


async def _read_welcome(client: Client) -> Welcome:
    listed = await client.list_tools()
    info = client.server_info
    tools = {tool.name: frozenset(tool.input_schema.get("properties", {})) for tool in listed.tools}
    return Welcome(
        server=info.name if info else "unknown",
        version=info.version if info else "",
        protocol=client.protocol_version,
        tools=tools,
    )


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
    return Lost(error.message if error.code != CONNECTION_CLOSED else "the connection was closed")


def _describe_cause(error: BaseException | None) -> str:
    """Return the message of the first cause inside groups of exceptions."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return f"{error}".strip() or type(error).__name__
