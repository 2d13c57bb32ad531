"""The tools of google-calendar-mcp 2.6.3, without any transport."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from caldav_mcp.errors import ServiceError, ToolError
from caldav_mcp.tools.calendars import Calendars, list_calendars
from caldav_mcp.tools.declarations import DECLARATIONS
from caldav_mcp.tools.freebusy import get_current_time, get_freebusy, list_colors
from caldav_mcp.tools.read import get_event, list_events
from caldav_mcp.tools.write import create_event, delete_event, update_event

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Answer:
    """Answer of a tool: JSON text, or with `is_error` a plain sentence."""

    text: str
    is_error: bool = False

    @property
    def data(self) -> dict[str, Any]:
        """The JSON of a success; raises `ValueError` for an error's text."""
        found: dict[str, Any] = json.loads(self.text)
        return found


class CalendarTools:
    """Call tools by name with raw arguments. Never raises: whatever goes wrong is an `Answer`."""

    def __init__(self, calendars: Calendars) -> None:
        self.calendars = calendars

    async def call(self, name: str, arguments: Mapping[str, Any] | None = None) -> Answer:
        declaration = DECLARATIONS.get(name)
        if declaration is None:
            return Answer(f"MCP error -32602: Tool {name} not found", is_error=True)
        try:
            given = declaration.read(arguments or {})
            found = await self._run(name, given)
        except ToolError as error:
            return Answer(str(error), is_error=True)
        except ServiceError as error:
            return Answer(error.full, is_error=True)
        except Exception as error:  # noqa: BLE001  outermost edge of a call: a fault in one tool must not end the server
            _log.exception("%s failed", name)
            return Answer(f"MCP error -32603: Internal error: {type(error).__name__}: {error}", is_error=True)
        return Answer(json.dumps(found, ensure_ascii=False, separators=(",", ":")))

    async def _run(self, name: str, given: dict[str, Any]) -> dict[str, Any]:
        calendars = self.calendars
        match name:
            case "list-calendars":
                return await list_calendars(calendars, given)
            case "list-events":
                return await list_events(calendars, given)
            case "get-event":
                return await get_event(calendars, given)
            case "create-event":
                return await create_event(calendars, given)
            case "update-event":
                return await update_event(calendars, given)
            case "delete-event":
                return await delete_event(calendars, given)
            case "get-freebusy":
                return await get_freebusy(calendars, given)
            case "get-current-time":
                return get_current_time(calendars, given)
            case "list-colors":
                return list_colors(given)
            case _:
                raise ToolError(f"MCP error -32602: Tool {name} not found")
