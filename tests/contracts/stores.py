"""Databases for the contract suites: each gives two stores over the same data."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from fateforger.adapters.store import Store, open_store
from fateforger.adapters.store.tables import metadata

POSTGRES = os.environ.get("STORE_TEST_POSTGRES")
"""URL of a PostgreSQL database to run the suites on as well; they empty its tables."""

KINDS = ["memory", "file", *(["postgres"] if POSTGRES else [])]


@asynccontextmanager
async def two_stores(kind: str, folder: Path) -> AsyncIterator[tuple[Store, Store]]:
    """The same store twice (``memory``), or two with connections of their own, as two processes have."""
    if kind == "memory":
        first = second = open_store(":memory:")
    elif kind == "file":
        path = new_file(folder)
        first, second = open_store(path), open_store(path)
    else:
        first, second = open_store(str(POSTGRES)), open_store(str(POSTGRES))
        with first.database.engine.begin() as connection:
            for table in reversed(metadata.sorted_tables):
                connection.execute(table.delete())
    try:
        yield first, second
    finally:
        await second.aclose()
        await first.aclose()


def new_file(folder: Path) -> Path:
    """A database file with its tables, and nothing in them."""
    path = folder / "state.db"
    path.write_bytes(_empty())
    return path


@cache
def _empty() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "state.db"
        open_store(path).database.engine.dispose()
        return path.read_bytes()
