"""The database: its address, its tables' migration, short transactions outside the event loop, and its errors.

The revision stamped in the database is compared first, in plain SQL; Alembic is loaded only for a migration.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, StaticPool, TextClause, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import (
    ArgumentError,
    DataError,
    DBAPIError,
    IntegrityError,
    NoSuchModuleError,
    ProgrammingError,
    SQLAlchemyError,
    StatementError,
)

from fateforger.adapters.store.held_locks import HeldLocks
from fateforger.adapters.store.tables import Base, list_tables
from fateforger.errors import BadInput, InternalError, StoreUnavailable
from fateforger.masks import mask_address

BUSY_SECONDS = 5.0
"""Seconds to wait for another process that is writing to the same SQLite file."""

CONNECT_SECONDS = 10
"""Seconds in which a database server has to answer, unless its address or ``PGCONNECT_TIMEOUT`` says otherwise."""

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
        raise BadInput(f"A {url.drivername} database is not supported; use an SQLite file or PostgreSQL.")
    return url


def describe_database(url: URL) -> str:
    """Return the name of the database for messages, without its secrets."""
    if url.get_backend_name() == "sqlite":
        return f"“{url.database or ':memory:'}”"
    return mask_address(url.render_as_string(hide_password=False))


def make_engine(url: URL) -> Engine:
    """Create an engine whose transactions are serializable in any database. Raises ``StoreUnavailable``."""
    if url.get_backend_name() == "sqlite":
        return _make_sqlite_engine(url)
    try:
        return create_engine(
            url,
            isolation_level="SERIALIZABLE",
            pool_size=POOL_SIZE,
            max_overflow=0,
            pool_pre_ping=True,
            connect_args=limit_connecting(url),
        )
    except (ModuleNotFoundError, NoSuchModuleError) as error:
        raise StoreUnavailable(
            "PostgreSQL needs a driver that is not installed here; run: pip install 'psycopg[binary]'."
        ) from error


def limit_connecting(url: URL) -> dict[str, Any]:
    """Return the argument of psycopg that limits the time of connecting, unless a person has set one."""
    is_given = "connect_timeout" in url.query or "PGCONNECT_TIMEOUT" in os.environ
    return {} if is_given else {"connect_timeout": CONNECT_SECONDS}


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


_SQLITE = {
    sqlite3.SQLITE_FULL: "there is no space left for it; free some disk space and try again",
    sqlite3.SQLITE_BUSY: "another program keeps it locked; try again in a moment",
    sqlite3.SQLITE_LOCKED: "another program keeps it locked; try again in a moment",
    sqlite3.SQLITE_READONLY: "it cannot be written to; check the permissions of the file and its folder",
    sqlite3.SQLITE_PERM: "access to it is denied; check the permissions of the file and its folder",
    sqlite3.SQLITE_AUTH: "access to it is denied; check the permissions of the file and its folder",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check that the folder exists and can be written to",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; put a backup in its place, or move it away to start afresh",
    sqlite3.SQLITE_NOTADB: "the file is not a database; name another file, or move this one away to start afresh",
    sqlite3.SQLITE_IOERR: "the disk reports an error; check that it has space left and works",
}

IN_EACH_OTHERS_WAY = frozenset({"40001", "40P01", "23505"})
"""PostgreSQL's codes for two transactions that conflict (serialization failure, deadlock, a row that the other one
inserted first). A new try sees what the other one did."""

_ACCESS_DENIED = "42501"


@contextmanager
def translate_errors(place: str) -> Iterator[None]:
    """Raise our error for a database error.

    Raises ``StoreUnavailable`` for anything the database at ``place`` or its disk cannot do, and ``InternalError`` for
    statements and values that no database would accept.
    """
    try:
        yield
    except DBAPIError as error:
        if isinstance(error, IntegrityError | ProgrammingError | DataError) and get_sqlstate(error) != _ACCESS_DENIED:
            raise InternalError(
                f"The database {place} refused what we asked of it: {_describe_error(error.orig)}."
            ) from error
        raise StoreUnavailable(f"The database {place} cannot be used: {_describe_reason(error.orig)}.") from error
    except StatementError as error:
        raise InternalError(f"The database {place} was asked something impossible: {error.orig}.") from error
    except SQLAlchemyError as error:
        raise StoreUnavailable(f"The database {place} cannot be used: {error}.") from error
    except sqlite3.Error as error:  # of a statement that goes to the driver itself
        raise StoreUnavailable(f"The database {place} cannot be used: {_describe_reason(error)}.") from error
    except OSError as error:
        raise StoreUnavailable(f"The database {place} cannot be used: {error.strerror or error}.") from error


def get_sqlstate(error: DBAPIError) -> str | None:
    """Return PostgreSQL's five-character code of an error."""
    return getattr(error.orig, "sqlstate", None)


def _describe_reason(error: BaseException | None) -> str:
    code = getattr(error, "sqlite_errorcode", None)
    known = None if code is None else _SQLITE.get(code & 0xFF)  # the higher bits give the subtype
    return known or _describe_error(error)


def _describe_error(error: BaseException | None) -> str:
    return " ".join(str(error).split()).rstrip(".?") or type(error).__name__


HEAD_REVISION = "0025"
"""The newest revision in ``migrations/versions``."""

VERSION_TABLE = "fateforger_revision"

_ADVISORY_LOCK = 0x46464442
"""An arbitrary number, the same for every fateforger; its holder migrates."""


def migrate_database(engine: Engine, place: str) -> None:
    """Create or migrate the tables, in one transaction that other processes wait for.

    Raises ``StoreUnavailable`` for a database of a newer fateforger or of another program.
    """
    with translate_errors(place):
        with engine.connect() as connection:
            if read_revision(connection) == HEAD_REVISION:
                return
        with _lock_database(engine) as connection:
            found = read_revision(connection)
            if found == HEAD_REVISION:
                return
            _refuse_foreign(connection, found, place)
            if found is None and connection.dialect.name == "sqlite":
                _create(connection)
            else:
                _migrate(connection, found, place)


@contextmanager
def _lock_database(engine: Engine) -> Iterator[Connection]:
    if engine.dialect.name == "sqlite":
        with engine.begin() as connection:
            yield connection
        return
    # Not serializable: that would show the database as it was before the lock was acquired.
    with engine.execution_options(isolation_level="READ COMMITTED").begin() as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _ADVISORY_LOCK})
        yield connection


def read_revision(connection: Connection) -> str | None:
    """Return the revision of the database, ``None`` when it has none of our tables."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    return connection.exec_driver_sql(f"SELECT version_num FROM {VERSION_TABLE}").scalar()  # noqa: S608  a constant


def _refuse_foreign(connection: Connection, found: str | None, place: str) -> None:
    # A PostgreSQL database is often shared on purpose; a file is not.
    if found is None and connection.dialect.name == "sqlite" and inspect(connection).get_table_names():
        raise StoreUnavailable(f"The database {place} belongs to another program; name another file.")


def _create(connection: Connection) -> None:
    """Create the tables as they are declared, which takes a fifth of the time of all migrations.

    Any module of this package may declare tables, including modules that the running command has not loaded.
    """
    for module in iter_modules([str(Path(__file__).parent)], f"{__package__}."):
        import_module(module.name)
    Base.metadata.create_all(connection, tables=list_tables(connection.dialect.name), checkfirst=False)
    connection.exec_driver_sql(
        f"CREATE TABLE {VERSION_TABLE} (version_num VARCHAR(32) NOT NULL, "
        f"CONSTRAINT {VERSION_TABLE}_pkc PRIMARY KEY (version_num))"
    )
    connection.exec_driver_sql(f"INSERT INTO {VERSION_TABLE} VALUES ('{HEAD_REVISION}')")  # noqa: S608  constants


def _migrate(connection: Connection, found: str | None, place: str) -> None:
    from alembic import command  # noqa: PLC0415  slow to load and seldom needed
    from alembic.config import Config  # noqa: PLC0415  heavy, and only a migration needs it
    from alembic.script import ScriptDirectory  # noqa: PLC0415  heavy, and only a migration needs it

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", "fateforger.adapters.store:migrations")
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found is not None and found not in known:
        raise StoreUnavailable(
            f"The database {place} was written by a newer fateforger (tables {found}, this one knows {HEAD_REVISION}); "
            "please upgrade, or name another file."
        )
    command.upgrade(config, "head")


log = logging.getLogger(__name__)

T = TypeVar("T")
_PAUSES = tuple(0.002 * 2**n for n in range(10))
"""The longest random pause in seconds before each new try of a transaction that conflicted with another; 2 in total."""

_HOLD = text("SELECT pg_try_advisory_lock_shared(:number)")
_HOLD_ALONE = text("SELECT pg_try_advisory_lock(:number)")
_PROGRAMS_LOCK = _ADVISORY_LOCK + 1
_TRY = text("SELECT pg_try_advisory_xact_lock(:number)")
_LOCK = text("SELECT pg_advisory_xact_lock(:number)")
_SERVER_CLOCK = text("SELECT clock_timestamp()")


class Database:
    """Runs functions of a connection, each as one transaction.

    The transaction is durable when the call returns, and had no effect when the call raised. With SQLite, transactions
    run one after the other in one thread. A call that is cancelled while it runs is carried out all the same; only its
    result is lost.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.place = describe_database(engine.url)
        self._readers = engine.execution_options(**READING)
        self._alone = _with_read_committed(engine)
        self._threads = ThreadPoolExecutor(1 if engine.dialect.name == "sqlite" else POOL_SIZE, "store")
        self._closed = False
        self._held = HeldLocks(engine)

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run ``work``, which only reads. Raises ``StoreUnavailable``."""
        return await self._in_thread(self._readers, work)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` and commit; an exception rolls back. Raises ``StoreUnavailable``."""
        return await self._in_thread(self.engine, work)

    async def write_now(self, work: Callable[[Connection], T]) -> T:
        """Like :meth:`write`, but each statement sees what others have committed by then.

        For work that locks the rows it decides by, and therefore never has to wait for its turn and try again.
        """
        return await self._in_thread(self._alone, work)

    async def write_alone(self, key: str, work: Callable[[Connection], T]) -> T:
        """Like :meth:`write`, but serialized per ``key`` across processes.

        For one key, the order of commits is the order in which the database counts. Callers queue and never have to try
        again.
        """
        return await self._in_thread(self._alone, lambda connection: work(_lock(connection, key)))

    async def hold_place(self, *, alone: bool) -> bool:
        """Take a place among the programs that run on a database server, until :meth:`aclose` or the program's death.

        Returns ``False`` if there is another program and one of the two has to be ``alone``.
        """
        return await self._hold(_HOLD_ALONE if alone else _HOLD, _PROGRAMS_LOCK)

    async def hold_name(self, name: str) -> None:
        """Show other programs on a database server that the one of this name is alive, until it is not."""
        await self._hold(_HOLD_ALONE, _count_name(name))

    async def keep_held(self) -> None:
        """Take again what :meth:`hold_place` and :meth:`hold_name` took, if its connection was lost.

        Raises ``StoreUnavailable``.
        """
        with translate_errors(self.place):
            await asyncio.get_running_loop().run_in_executor(self._threads, self._held.keep, self.place)

    async def _hold(self, statement: TextClause, number: int) -> bool:
        if self.engine.dialect.name == "sqlite":
            return True
        with translate_errors(self.place):
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._held.take, statement, number)

    async def scrub(self) -> None:
        """Remove deleted rows from the files of SQLite by folding its log into the database file and truncating it.

        While another program reads, this is left to the next time, and logged. A database server cleans up by itself.
        """
        if self.engine.dialect.name == "sqlite":
            await asyncio.get_running_loop().run_in_executor(self._threads, self._cut_log)

    def _cut_log(self) -> None:
        with translate_errors(self.place):
            raw = self.engine.raw_connection()
            try:
                busy, *_ = raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            finally:
                raw.close()
        if busy:
            log.warning("what was deleted stays in the log of %s for now: it is being read", self.place)

    async def vacuum(self) -> None:
        """Give free space back to the disk; writers to an SQLite file wait meanwhile. Raises ``StoreUnavailable``."""
        await asyncio.get_running_loop().run_in_executor(self._threads, self._vacuum)

    def _vacuum(self) -> None:
        with translate_errors(self.place):
            if self.engine.dialect.name == "sqlite":
                raw = self.engine.raw_connection()
                try:
                    raw.cursor().execute("VACUUM")
                finally:
                    raw.close()
                return
            with self.engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
                connection.execute(text("VACUUM (ANALYZE)"))

    async def aclose(self) -> None:
        """Finish running transactions and close the database. Calling it again does nothing."""
        if self._closed:
            return
        self._closed = True
        await asyncio.get_running_loop().run_in_executor(self._threads, self._held.close)
        await asyncio.get_running_loop().run_in_executor(self._threads, self.engine.dispose)
        self._threads.shutdown(wait=False)

    async def _in_thread(self, engine: Engine, work: Callable[[Connection], T]) -> T:
        if self._closed:
            raise StoreUnavailable(f"The database {self.place} is closed.")
        # The work may phrase a text, so it is done in the language of the caller.
        run = copy_context().run
        return await asyncio.get_running_loop().run_in_executor(self._threads, run, self._run, engine, work)

    def _run(self, engine: Engine, work: Callable[[Connection], T]) -> T:
        with translate_errors(self.place):
            for pause in _PAUSES:
                try:
                    return self._once(engine, work)
                except DBAPIError as error:
                    if get_sqlstate(error) not in IN_EACH_OTHERS_WAY:
                        raise
                time.sleep(random.uniform(0, pause))  # noqa: S311  not a secret
            return self._once(engine, work)

    @staticmethod
    def _once(engine: Engine, work: Callable[[Connection], T]) -> T:
        with engine.begin() as connection:
            return work(connection)


class OnDatabase:
    """Base class of the ports that are implemented over a database."""

    def __init__(self, database: Database) -> None:
        self._database = database


def _with_read_committed(engine: Engine) -> Engine:
    """Return an engine with which a transaction that waited for a lock sees what the previous holder committed."""
    if engine.dialect.name == "sqlite":
        return engine
    return engine.execution_options(isolation_level="READ COMMITTED")


def _lock(connection: Connection, key: str) -> Connection:
    """Return the connection once it holds the lock of that name. SQLite has one writer at a time."""
    if connection.dialect.name != "sqlite":
        connection.execute(_LOCK, {"number": _count_key(key)})
    return connection


def _count_key(key: str) -> int:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big", signed=True)


def _count_name(name: str) -> int:
    return _count_key(f"program {name}")


PROGRAM_NAME = "program-"
"""The beginning of the names that :meth:`Database.hold_name` shows to be alive."""


def has_ended(connection: Connection, name: str) -> bool:
    """Check whether the program of that name is known not to be alive any more."""
    if connection.dialect.name == "sqlite" or not name.startswith(PROGRAM_NAME):
        return False
    return bool(connection.execute(_TRY, {"number": _count_name(name)}).scalar_one())


def read_clock(connection: Connection, now: datetime | None = None) -> datetime:
    """Return the time that all programs on a database share, read after any wait for a lock.

    With PostgreSQL it is the server's time. With SQLite it is ``now``, or else the machine's time, because all programs
    that share a file run on one machine.
    """
    if connection.dialect.name == "sqlite":
        return now or datetime.now(UTC)
    instant: datetime = connection.execute(_SERVER_CLOCK).scalar_one()
    return instant.astimezone(UTC)


def open_database(where: str | Path) -> Database:
    """Open the database at a path or URL (see :func:`parse_database_url`), creating or migrating its tables if needed.

    This blocks for some milliseconds, or about a second for a migration. Raises ``BadInput`` for anything that cannot
    be a database, ``StoreUnavailable`` for one that cannot be used or belongs to a newer fateforger.
    """
    url = parse_database_url(where)
    with translate_errors(describe_database(url)):
        engine = make_engine(url)
    database = Database(engine)
    try:
        migrate_database(engine, database.place)
    except BaseException:  # whatever it is, no connection stays open
        engine.dispose()
        raise
    return database
