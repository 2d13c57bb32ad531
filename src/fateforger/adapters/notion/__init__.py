"""Constraints in Notion behind :class:`fateforger.ports.ConstraintSource`, through the official API."""

from __future__ import annotations

from fateforger.adapters.notion.client import NotionPages
from fateforger.adapters.notion.columns import parse_columns
from fateforger.adapters.notion.databases import parse_databases
from fateforger.adapters.notion.source import NotionConstraints

__all__ = ["NotionConstraints", "NotionPages", "parse_columns", "parse_databases"]
