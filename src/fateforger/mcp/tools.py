"""All tools by name."""

from __future__ import annotations

from collections.abc import Mapping

from fateforger.mcp.constraint_tools import CONSTRAINT_TOOLS
from fateforger.mcp.plan_tools import PLAN_TOOLS
from fateforger.mcp.staging import PROPOSAL_TOOLS
from fateforger.mcp.task_tools import TASK_TOOLS
from fateforger.mcp.tool import Tool

TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in (*TASK_TOOLS, *PLAN_TOOLS, *CONSTRAINT_TOOLS, *PROPOSAL_TOOLS)}
