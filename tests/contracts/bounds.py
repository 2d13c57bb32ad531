"""The law that the cost of a statement does not grow with the database: SQLite is asked how it would carry out each.

A statement may search an index, walk an index that holds only open work, or walk an index in order up to a limit.
"""

from __future__ import annotations

import re
import sys
from typing import Any

from sqlalchemy import Engine, event

from fateforger.adapters.store.store import metadata

SMALL = {
    "agent_client": "other agents are registered by hand",
    "calendar_owner": "one row",
    "job": "what is finished is deleted, and what was given up is pruned",
    "slack_install": "installs that have begun; each is deleted after ten minutes",
    "slack_workspace": "one row for each workspace that has or had the app",
    "job_receipt": "pruned after a week; read whole only when a person is erased, to find their name in it",
}
"""Tables that do not grow, with the reason."""
OPEN_WORK = {
    str(index.name)
    for table in metadata.tables.values()
    for index in table.indexes
    if index.dialect_options["sqlite"]["where"] is not None
}
"""Indexes of what is still to be done; the rows of the past are not in them."""
_CHECKED = re.compile(r"\s*(SELECT|UPDATE|DELETE)\b", re.IGNORECASE)
_SCAN = re.compile(r"SCAN (?!(?:\d+ )?CONSTANT ROW)(?P<table>\w+)(?: USING (?:COVERING )?INDEX (?P<index>\w+))?")


class UnboundedStatement(AssertionError):
    """A statement that reads more, the more is stored."""


def find_growing(statement: str, plan: list[str]) -> list[str]:
    """Return the steps of a statement's plan that read more, the more is stored."""
    if "LIMIT" in statement.upper() and not any("TEMP B-TREE FOR ORDER BY" in step for step in plan):
        return []
    scans = [(step, scan) for step in plan if (scan := _SCAN.match(step)) is not None]
    return [step for step, scan in scans if scan["table"] not in SMALL and scan["index"] not in OPEN_WORK]


def _comes_from_store() -> bool:
    """Check that the store itself runs a statement, rather than a test that looks at its tables."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        name = frame.f_code.co_filename
        if name != __file__ and "sqlalchemy" not in name and "sqlmodel" not in name:
            return "fateforger/adapters/store" in name
        frame = frame.f_back
    return False


def watch_statements(engine: Engine) -> None:
    """Raise :class:`UnboundedStatement` for each statement of an engine of SQLite that breaks the law."""
    if engine.dialect.name != "sqlite":
        return
    seen: set[str] = set()

    def check(_connection: Any, cursor: Any, statement: str, parameters: Any, _context: Any, many: bool) -> None:  # noqa: FBT001
        if statement in seen or not _CHECKED.match(statement) or not _comes_from_store():
            return
        seen.add(statement)
        rows = cursor.connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters[0] if many else parameters)
        growing = find_growing(statement, [row[3] for row in rows])
        if growing:
            raise UnboundedStatement(f"{'; '.join(growing)} in {' '.join(statement.split())}")

    event.listen(engine, "before_cursor_execute", check)
