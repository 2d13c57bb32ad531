"""An MCP server for a person's tasks over real HTTP, like TickTick's public ones.

Its tools list tasks and write tasks; the program must never call those that write.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from mcp.server.lowlevel import Server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool, ToolAnnotations
from tests.fakes.asgi_server import serve_app

TOKEN = "tick-secret-7a91"


@dataclass
class TaskServer:
    """A task server.

    ``answer`` is structured content, ``texts`` text; ``called`` the called tools with their arguments. It refuses
    requests without ``token``; while ``stalled`` it answers no call.
    """

    answer: object = None
    texts: tuple[str, ...] = ()
    failed: bool = False
    tools: Mapping[str, tuple[str, ...]] = field(
        default_factory=lambda: {"create_task": ("title",), "delete_all_done": (), "get_all_tasks": ()}
    )
    """Each with the arguments that it needs."""
    writing: tuple[str, ...] = ("create_task", "delete_all_done")
    """Those that declare that they write."""
    token: str | None = None
    stalled: bool = False
    called: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    url: str = ""

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[TaskServer]:
        server = Server("tasks", version="1", on_list_tools=self._list, on_call_tool=self._call)
        async with serve_app(self._guard(server.streamable_http_app())) as base:
            self.url = f"{base}/mcp?key={TOKEN}-in-the-address"
            yield self

    async def _list(self, _context: Any, _params: Any) -> ListToolsResult:
        return ListToolsResult(
            tools=[
                Tool(
                    name=name,
                    input_schema={"type": "object", "properties": {n: {} for n in needs}, "required": list(needs)},
                    annotations=ToolAnnotations(read_only_hint=False) if name in self.writing else None,
                )
                for name, needs in self.tools.items()
            ]
        )

    async def _call(self, _context: Any, params: CallToolRequestParams) -> CallToolResult:
        self.called.append((params.name, params.arguments or {}))
        if self.stalled:
            await asyncio.Event().wait()
        content = [TextContent(type="text", text=text) for text in self.texts]
        return CallToolResult(content=list(content), structured_content=self.answer, is_error=self.failed)

    def _guard(self, app: Any) -> Callable[..., Any]:
        async def handle(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
            given = dict(scope.get("headers", ())).get(b"authorization")
            if scope["type"] == "http" and self.token is not None and given != f"Bearer {self.token}".encode():
                await send({"type": "http.response.start", "status": 401, "headers": []})
                await send({"type": "http.response.body", "body": f"no entry with {TOKEN}".encode()})
                return
            await app(scope, receive, send)

        return handle
