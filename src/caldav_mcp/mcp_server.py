"""The tools behind the Model Context Protocol.

The SDK's low-level server is used because results here are one text block each: no structured content, errors as plain
text, and arguments checked by our own declarations rather than by JSON schema.
"""

from __future__ import annotations

from typing import Any

from mcp.server.lowlevel.server import Server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from caldav_mcp.tools import CalendarTools
from caldav_mcp.tools.declarations import DECLARATIONS

NAME, VERSION = "google-calendar", "2.6.3"


def mcp_server(tools: CalendarTools) -> Server[Any]:
    """Return a server object for any transport of the SDK."""

    async def list_tools(_context: Any, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=_TOOLS)

    async def call_tool(_context: Any, params: CallToolRequestParams) -> CallToolResult:
        answer = await tools.call(params.name, params.arguments)
        return CallToolResult(content=[TextContent(type="text", text=answer.text)], is_error=answer.is_error)

    return Server(NAME, version=VERSION, on_list_tools=list_tools, on_call_tool=call_tool)


_TOOLS = [
    Tool(
        name=declaration.name,
        description=declaration.description,
        input_schema=declaration.input_schema(),
        annotations=ToolAnnotations(read_only_hint=declaration.read_only),
    )
    for declaration in DECLARATIONS.values()
]
