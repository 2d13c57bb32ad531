"""TickTick's open tasks, through any MCP server that can list them over streamable HTTP."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING

from fateforger.adapters.tasklists.answers import extract_entries
from fateforger.adapters.tasklists.choosing import OfferedTool, choose_tool
from fateforger.adapters.tasklists.client import MOST_BYTES, TooLong, open_http_client
from fateforger.adapters.tasklists.entries import read_tasks
from fateforger.errors import TasksUnavailable
from fateforger.tasks.outside import OutsideTask

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import CallToolResult, Tool

LOOK_SECONDS = 2.0
"""Seconds for a whole read: connecting, listing the tools, calling one."""
CLOSE_SECONDS = 1.0
SENTENCE = "I could not read your TickTick list just now."


class TickTick:
    """Implements :class:`fateforger.ports.OpenTasks`. Each read opens a connection of its own, and closes it.

    ``token`` is sent as a bearer token and never logged. ``tool`` names the tool to call; without it a known one is
    used. ``tz`` is the person's zone, in which a due instant becomes a day.
    """

    def __init__(
        self, url: str, *, tz: str, token: str | None = None, tool: str | None = None, seconds: float = LOOK_SECONDS
    ) -> None:
        self._url = url
        self._tz = tz
        self._token = token
        self._tool = tool
        self._seconds = seconds

    async def open_tasks(self) -> tuple[OutsideTask, ...]:
        """See :meth:`fateforger.ports.OpenTasks.open_tasks`."""
        # A separate task: the client's scopes end the task in which a connection breaks.
        await asyncio.to_thread(import_module, "mcp.client.streamable_http")  # heavy, and not part of the time limit
        refused: list[int] = []
        look = asyncio.create_task(self._look(refused), name="look at TickTick")
        try:
            await asyncio.wait({look}, timeout=self._seconds)
        finally:
            look.cancel()
            await asyncio.wait({look}, timeout=CLOSE_SECONDS)
        if not look.done() or look.cancelled():
            raise TasksUnavailable(SENTENCE, reason=f"no answer within {self._seconds:g} s")
        if (error := look.exception()) is None:
            return look.result()
        cause = _first_cause(error)
        if isinstance(cause, TasksUnavailable):
            raise cause
        if isinstance(cause, TooLong):
            raise TasksUnavailable(SENTENCE, reason=f"{cause}")
        # Only the type of error: its text may quote the address or the answer.
        why = f"HTTP {refused[-1]}: the login was refused" if refused else f"no connection ({type(cause).__name__})"
        raise TasksUnavailable(SENTENCE, reason=why) from None

    async def _look(self, refused: list[int]) -> tuple[OutsideTask, ...]:
        from mcp import Client  # noqa: PLC0415  heavy, and not needed before the first look
        from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415  heavy

        async with (
            open_http_client(self._token, self._seconds, refused) as http,
            Client(streamable_http_client(self._url, http_client=http, max_sse_event_size=MOST_BYTES)) as client,
        ):
            return await self._call_tool(client)

    async def _call_tool(self, client: Client) -> tuple[OutsideTask, ...]:
        listed = await client.list_tools()
        try:
            tool = choose_tool([_to_offered_tool(tool) for tool in listed.tools], self._tool)
            answer = await client.call_tool(tool, {})
            # In a thread, since the answer may be long.
            return await asyncio.to_thread(_read_answer, answer, self._tz)
        except ValueError as error:
            raise TasksUnavailable(SENTENCE, reason=f"{error}") from None


def _read_answer(result: CallToolResult, tz: str) -> tuple[OutsideTask, ...]:
    if result.is_error:
        raise ValueError("its tool answered with an error")
    texts = [block.text for block in result.content if block.type == "text"]
    return read_tasks(extract_entries(result.structured_content, texts), tz)


def _to_offered_tool(tool: Tool) -> OfferedTool:
    needs = tool.input_schema.get("required") or ()
    hints = tool.annotations
    writes = hints is not None and (hints.read_only_hint is False or hints.destructive_hint is True)
    return OfferedTool(tool.name, frozenset(needs), writes)


def _first_cause(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error
