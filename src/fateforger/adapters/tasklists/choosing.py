"""Select the tool of a server that lists tasks.

Servers for TickTick differ in the name; all of these tools only read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

KNOWN = (
    "get_all_tasks",
    "list_tasks",
    "list_all_tasks",
    "get_tasks",
    "list_open_tasks",
    "filter_tasks",
    "get_tasks_due_today",
)
"""The first one that a server has is used."""


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool as its server declares it. ``writes``: it declares that it does more than read."""

    name: str
    needs: frozenset[str] = frozenset()
    writes: bool = False


def choose_tool(tools: Sequence[OfferedTool], wanted: str | None) -> str:
    """Return the tool to call: the ``wanted`` one, otherwise the first known.

    Raises ``ValueError`` with the reason when there is none that only reads and needs no arguments.
    """
    if wanted is not None:
        tool = next((tool for tool in tools if tool.name == wanted), None)
        if tool is None:
            raise ValueError("the server has no tool of the name that is set")
        if tool.needs or tool.writes:
            raise ValueError(f"the tool that is set {'does more than read' if tool.writes else 'needs arguments'}")
        return tool.name
    usable = {_normalize_name(tool.name): tool.name for tool in tools if not tool.needs and not tool.writes}
    found = next((usable[name] for name in KNOWN if name in usable), None)
    if found is None:
        raise ValueError("the server has no tool that is known to list tasks; TICKTICK_MCP_TOOL can name one")
    return found


def _normalize_name(name: str) -> str:
    return name.lower().replace("-", "_").removeprefix("ticktick_")
