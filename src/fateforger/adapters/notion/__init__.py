"""Constraints in Notion behind :class:`fateforger.ports.ConstraintSource`, through the official API."""

from __future__ import annotations

from fateforger.adapters.notion.client import NotionPages
from fateforger.adapters.notion.columns import named_columns
from fateforger.adapters.notion.databases import named_databases
from fateforger.adapters.notion.source import NotionConstraints

__all__ = ["NotionConstraints", "NotionPages", "named_columns", "named_databases"]
