"""Databases for the contract suites: each gives two stores over the same data."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Literal

import pytest
from tests.contracts.bounds import watch_statements
from tests.postgres import PostgresServer

from fateforger.adapters.store.store import Store, open_store

Kind = Literal["memory", "file", "postgres"]
KINDS: tuple[Kind, ...] = ("memory", "file", "postgres")


@asynccontextmanager
async def two_stores(request: pytest.FixtureRequest, folder: Path) -> AsyncIterator[tuple[Store, Store]]:
    """Yield the same store twice (``memory``), or two with connections of their own, as two processes have.

    It serves fixtures with ``params=KINDS``.
    """
    kind: Kind = request.param
    with new_database(kind, request, folder) as where:
        first = open_store(where)
        second = first if kind == "memory" else open_store(where)
        for store in (first, second):
            watch_statements(store.database.engine)
        try:
            yield first, second
        finally:
            await second.aclose()
            await first.aclose()


@contextmanager
def new_database(kind: Kind, request: pytest.FixtureRequest, folder: Path) -> Iterator[str]:
    """Yield the address of a database with empty tables. Skip the test where PostgreSQL is not installed."""
    match kind:
        case "memory":
            yield ":memory:"
        case "file":
            yield str(new_file(folder))
        case "postgres":
            server: PostgresServer = request.getfixturevalue("postgres_server")
            with server.database() as url:
                yield url


def new_file(folder: Path) -> Path:
    """Return a database file with empty tables, in a folder of its own.

    In a shared folder, a file that a failed example left open would give its write-ahead log to the next one.
    """
    path = Path(mkdtemp(dir=folder)) / "state.db"
    path.write_bytes(_empty())
    return path


@cache
def _empty() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "state.db"
        open_store(path).database.engine.dispose()
        return path.read_bytes()
