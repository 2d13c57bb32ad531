"""The address of the database, and an engine for it."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, StaticPool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from fateforger.errors import BadInput, StoreUnavailable

BUSY_SECONDS = 5.0
"""Seconds to wait for another process that is writing to the same SQLite file."""

POOL_SIZE = 8
"""Connections, and threads, for a database server."""

READING = {"fateforger_reading": True}
"""Execution options of a transaction that writes nothing."""


def parse_database_url(where: str | Path) -> URL:
    """Parse a path, or an SQLAlchemy URL of SQLite or PostgreSQL.

    ``:memory:`` is a database that is gone when closed. Raises ``BadInput``.
    """
    text = str(where)
    if text == ":memory:":
        return URL.create("sqlite+pysqlite")
    if "://" not in text:
        return URL.create("sqlite+pysqlite", database=text)
    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as error:
        raise BadInput("That is not a database URL; give a file path or postgresql://user@host/name.") from error
    if url.drivername == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() not in {"sqlite", "postgresql"}:
        raise BadInput(f"A {url.drivername} database is not supported; use a SQLite file or PostgreSQL.")
    return url


def describe_database(url: URL) -> str:
    """Return the name of the database for messages, without its password."""
    if url.get_backend_name() == "sqlite":
        return f"“{url.database or ':memory:'}”"
    return url.render_as_string(hide_password=True)


def make_engine(url: URL) -> Engine:
    """Create an engine whose transactions are serializable in any database. Raises ``StoreUnavailable``."""
    if url.get_backend_name() == "sqlite":
        return _make_sqlite_engine(url)
    try:
        return create_engine(
            url, isolation_level="SERIALIZABLE", pool_size=POOL_SIZE, max_overflow=0, pool_pre_ping=True
        )
    except (ModuleNotFoundError, NoSuchModuleError) as error:
        raise StoreUnavailable(
            "PostgreSQL needs a driver that is not installed here; run: pip install 'psycopg[binary]'."
        ) from error


def _make_sqlite_engine(url: URL) -> Engine:
    """Create an engine with one connection, used by one thread at a time."""
    if url.database not in {None, "", ":memory:"} and "uri" not in url.query:
        path = Path(str(url.database))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600, exist_ok=True)  # SQLite gives its side files the same permissions
    engine = create_engine(
        url,
        poolclass=StaticPool,
        pool_reset_on_return=None,  # ``begin()`` ends each transaction; a further rollback costs as much
        connect_args={"check_same_thread": False, "timeout": BUSY_SECONDS, "isolation_level": None},
    )
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: Any, _record: object) -> None:
    _switch_to_wal(connection)
    # Deleted data is overwritten, so that erased data does not remain in the file.
    for pragma in ("synchronous = FULL", "foreign_keys = ON", "secure_delete = ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _switch_to_wal(connection: Any) -> None:
    """Switch to WAL, with retries.

    SQLite does not wait for other processes here as it does elsewhere: when several open a new file at once, some get
    the error that it is locked.
    """
    ends = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").close()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > ends:
                raise
            time.sleep(0.005)
        else:
            return


def _begin(connection: Connection) -> None:
    # The driver would start a transaction only at the first write, when two processes that had already read could not
    # both proceed. Taking the lock first makes the second one wait instead.
    reading = connection.get_execution_options().get("fateforger_reading", False)
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")
