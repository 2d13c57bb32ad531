"""Whole copies of databases: SQLite files by its backup interface, PostgreSQL by ``pg_dump`` and ``pg_restore``.

Both can be made while programs read and write: each copy is the database at one instant.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import URL, Connection, func, inspect, select

from fateforger.adapters.store.connections import CONNECTION
from fateforger.adapters.store.database import (
    READING,
    describe_database,
    make_engine,
    parse_database_url,
    read_revision,
    translate_errors,
)
from fateforger.errors import BadInput, StoreUnavailable

_MAGIC = b"SQLite format 3\x00"
_PAGES = 4096
"""Pages that are copied before writers have another chance."""
_MOST_WORDS = 300


def is_sqlite_file(path: Path) -> bool:
    """Check whether a file is an SQLite database, by its first bytes."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def copy_sqlite_file(source: Path, target: Path) -> None:
    """Copy an SQLite database that may be in use, into one file without a log. Raises ``StoreUnavailable``."""
    try:
        with closing(sqlite3.connect(source)) as origin, closing(sqlite3.connect(target)) as copy:
            origin.backup(copy, pages=_PAGES)
            copy.execute("PRAGMA journal_mode = DELETE").close()
    except sqlite3.Error as error:
        raise StoreUnavailable(f"The database “{source}” cannot be copied: {error}.") from None
    target.chmod(0o600)


def read_contents(where: str | Path) -> tuple[str | None, int]:
    """Return the revision of a database, which is not migrated for this, and the number of logins in it.

    Raises ``BadInput`` and ``StoreUnavailable``.
    """
    with _connect(where) as connection:
        has_logins = inspect(connection).has_table(CONNECTION.name)
        count = select(func.count()).where(CONNECTION.c.secret != "")
        return read_revision(connection), connection.execute(count).scalar_one() if has_logins else 0


def read_server_version(url: str) -> int:
    """Return the major version of a PostgreSQL server. Raises ``StoreUnavailable``."""
    with _connect(url) as connection:
        return int(connection.exec_driver_sql("SHOW server_version_num").scalar_one()) // 10_000


def has_tables(url: str) -> bool:
    """Check whether a PostgreSQL database holds any table. Raises ``StoreUnavailable``."""
    with _connect(url) as connection:
        return bool(inspect(connection).get_table_names())


@contextmanager
def _connect(where: str | Path) -> Iterator[Connection]:
    url = parse_database_url(where)
    with translate_errors(describe_database(url)):
        engine = make_engine(url)
        try:
            with engine.execution_options(**READING).connect() as connection:
                yield connection
        finally:
            engine.dispose()


def read_tool_version(tool: str) -> int:
    """Return the major version of ``pg_dump`` or ``pg_restore``. Raises ``BadInput`` if it is not installed."""
    if shutil.which(tool) is None:
        raise BadInput(
            f"I need {tool}, which is not installed here. It comes with PostgreSQL's client (Debian: apt-get install"
            " postgresql-client).",
            where=tool,
        )
    said = _run([tool, "--version"], {})
    found = re.search(r"(\d+)(\.\d+)?", said)
    if found is None:
        raise BadInput(f"{tool} does not tell its version: {said.strip()[:_MOST_WORDS]}", where=tool)
    return int(found[1])


def dump_postgres(url: str, target: Path) -> None:
    """Write the whole database into a file that ``pg_restore`` reads.

    Raises ``BadInput`` for a ``pg_dump`` that is missing or older than the server, ``StoreUnavailable`` if it fails.
    """
    server, tool = read_server_version(url), read_tool_version("pg_dump")
    if tool < server:
        raise BadInput(f"pg_dump {tool} cannot read PostgreSQL {server}; install the client of version {server}.")
    where, secret = _split_password(parse_database_url(url))
    options = ["--format=custom", "--no-owner", "--no-privileges", "--file", str(target), "--dbname", where]
    _run(["pg_dump", *options], secret)
    target.chmod(0o600)


def restore_postgres(url: str, source: Path, *, version: int) -> None:
    """Fill an empty database from a file of ``pg_dump`` that was made of a server of ``version``, or change nothing.

    Raises ``BadInput`` for a database that is not empty and for a server or ``pg_restore`` that is too old,
    ``StoreUnavailable`` if it fails.
    """
    if has_tables(url):
        raise BadInput(
            f"The database {describe_database(parse_database_url(url))} is not empty. Name an empty one in"
            " FATEFORGER_DATABASE_URL.",
            where="database_url",
        )
    server, tool = read_server_version(url), read_tool_version("pg_restore")
    if min(server, tool) < version:
        older = f"this server is {server}" if server < version else f"pg_restore here is {tool}"
        raise BadInput(f"The backup is of PostgreSQL {version}, and {older}. Use version {version} or a newer one.")
    where, secret = _split_password(parse_database_url(url))
    options = ["--exit-on-error", "--single-transaction", "--no-owner", "--no-privileges", "--dbname", where]
    _run(["pg_restore", *options, str(source)], secret)


def _split_password(url: URL) -> tuple[str, Mapping[str, str]]:
    """Return the address for PostgreSQL's programs without its password, which would be seen in a list of processes."""
    password = {} if url.password is None else {"PGPASSWORD": str(url.password)}
    bare = URL.create("postgresql", url.username, None, url.host, url.port, url.database, url.query)
    return bare.render_as_string(hide_password=False), password


def _run(command: Sequence[str], environment: Mapping[str, str]) -> str:
    try:
        done = subprocess.run(  # noqa: S603  our own words, and no shell
            command, check=False, capture_output=True, text=True, env={**os.environ, **environment}
        )
    except OSError as error:
        raise StoreUnavailable(f"{command[0]} cannot be run: {error.strerror}.") from None
    if done.returncode:
        reason = " ".join(done.stderr.split())[:_MOST_WORDS]
        raise StoreUnavailable(f"{command[0]} failed: {reason}")
    return done.stdout
