"""Databases for the contract suites: each gives two stores over the same data."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fateforger.adapters.store import Store, open_store

POSTGRES = os.environ.get("STORE_TEST_POSTGRES")
"""URL of an empty PostgreSQL database to run the suites on as well; its tables are dropped."""

KINDS = ["memory", "file", *(["postgres"] if POSTGRES else [])]


@asynccontextmanager
async def two_stores(kind: str, folder: Path) -> AsyncIterator[tuple[Store, Store]]:
    """The same store twice (``memory``), or two with connections of their own, as two processes have."""
    if kind == "memory":
        only = open_store(":memory:")
        try:
            yield only, only
        finally:
            await only.aclose()
        return
    where = folder / "state.db" if kind == "file" else str(POSTGRES)
    first, second = open_store(where), open_store(where)
    try:
        yield first, second
    finally:
        await second.aclose()
        await first.aclose()
