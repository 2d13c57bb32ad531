"""Compile the SQL of each statement once in a process, not once for each of the thousands of databases that tests open."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, create_engine
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache


def share_statements() -> None:
    """Let all SQLite databases that are opened from now on share their dialect, by which compiled statements are found."""
    with create_engine("sqlite://").connect() as connection:  # which completes the dialect
        dialect = connection.dialect
    connection.engine.dispose()
    compiled = LRUCache[Any, Any](2_000)

    def share(engine: Engine) -> None:
        engine.dialect = dialect
        engine.update_execution_options(compiled_cache=compiled)

    SQLiteDialect_pysqlite.engine_created = staticmethod(share)  # type: ignore[method-assign]  # SQLAlchemy's hook
