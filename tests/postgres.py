"""A throwaway PostgreSQL server for the tests, from the programs that are installed.

Every run of any test loads this plugin, so the driver and the store are loaded by those that use them.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest

MISSING = "PostgreSQL is not installed (Debian: apt-get install postgresql)"

# Durable against the death of any process, not against a power cut. Small, for there is one per test worker.
_CONFIGURATION = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "16MB",
    "max_connections": "60",
    "autovacuum": "off",
}
Shutdown = Literal["fast", "immediate"]
_HANG_UP = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}'"


class PostgresServer:
    """A running server that listens on a socket in its own directory only, for as long as the tests run."""

    def __init__(self, folder: Path, control: Callable[..., None]) -> None:
        self._folder = folder
        self._control = control
        self._names = (f"test{n}" for n in itertools.count())
        self._free: list[str] = []

    def start(self) -> None:
        """Start the server, and wait until it accepts connections."""
        options = {"unix_socket_directories": str(self._folder), **_CONFIGURATION}
        given = " ".join(f"-c {name}='{value}'" for name, value in options.items())
        self._control("pg_ctl", "-l", str(self._folder / "log"), "-w", "-o", given, "start")

    def stop(self, how: Shutdown = "immediate") -> None:
        """Stop the server: ``fast`` ends all connections in order, ``immediate`` leaves a recovery to the next start."""
        self._control("pg_ctl", "-m", how, "-w", "stop")

    @contextmanager
    def database(self) -> Iterator[str]:
        """Yield the URL of a database with our tables and nothing in them.

        Leaving the block ends every connection to it and empties it for the next test, which is ten times as fast as
        making another one.
        """
        from fateforger.adapters.store.store import open_store
        from fateforger.adapters.store.tables import list_tables

        if not self._free:
            self._free.append(next(self._names))
            self.command(f"CREATE DATABASE {self._free[-1]}")
            open_store(self._url(self._free[-1])).database.engine.dispose()
        name = self._free.pop()
        yield self._url(name)
        self.hang_up(name)
        tables = ", ".join(table.name for table in list_tables("postgresql"))
        self.command(f"TRUNCATE {tables}, procrastinate_workers RESTART IDENTITY CASCADE", name)
        self._free.append(name)

    @contextmanager
    def bare_database(self) -> Iterator[str]:
        """Yield the URL of a database without any table, dropped in the end."""
        name = next(self._names)
        self.command(f"CREATE DATABASE {name}")
        yield self._url(name)
        self.command(f"DROP DATABASE {name} WITH (FORCE)")

    def hang_up(self, name: str) -> None:
        """End every connection to a database."""
        self.command(_HANG_UP.format(name))

    def _url(self, name: str) -> str:
        return f"postgresql://fateforger@/{name}?host={self._folder}"

    def command(self, statement: str, database: str = "postgres") -> None:
        """Carry out one statement, not in a transaction."""
        import psycopg

        with psycopg.connect(self._url(database), autocommit=True) as connection:
            connection.execute(statement.encode())


def programs() -> Path | None:
    """Return the folder of ``initdb`` and ``postgres``: on the path, or the newest version where Debian puts them."""
    on_path = shutil.which("initdb")
    found = [Path(on_path).resolve()] if on_path else []
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: -int(path.parts[-3]))
    return next((path.parent for path in found if path.with_name("postgres").exists()), None)


def programs_with_vectors() -> Path | None:
    """Return the folder of a PostgreSQL with the extension ``vector``, installed or of the package pgserver."""
    installed = programs()
    found = [] if installed is None else [(installed, Path("/usr/share/postgresql") / installed.parts[-2])]
    package = importlib.util.find_spec("pgserver")
    if package is not None and package.origin is not None:
        root = Path(package.origin).parent / "pginstall"
        found.append((root / "bin", root / "share" / "postgresql"))
    return next((where for where, share in found if (share / "extension" / "vector.control").exists()), None)


@contextmanager
def running_server(bin_folder: Path) -> Iterator[PostgresServer]:
    """Start a server with a cluster of its own; leaving the block stops it and removes everything."""
    folder = Path(tempfile.mkdtemp(prefix="ff-pg-"))
    data = folder / "data"
    user = _choose_user()

    def run(program: str, *arguments: str) -> None:
        command = [str(bin_folder / program), "-D", str(data), *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder, **user)

    if user:
        shutil.chown(folder, user["user"])
    try:
        run("initdb", "-U", "fateforger", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
        server = PostgresServer(folder, run)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder)


def _choose_user() -> dict[str, Any]:
    """Return the user to run PostgreSQL as, since it refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    return {"user": "nobody", "group": "nogroup", "extra_groups": []}


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """Run one server for all tests of this worker; skip where PostgreSQL is not installed."""
    found = programs()
    if found is None:
        pytest.skip(MISSING)
    with running_server(found) as server:
        yield server


@pytest.fixture
def postgres(postgres_server: PostgresServer) -> Iterator[str]:
    """Yield the URL of an empty database of our tables, for this test alone."""
    with postgres_server.database() as url:
        yield url


@pytest.fixture(scope="session")
def vector_server() -> Iterator[PostgresServer]:
    """Run one server with pgvector for all tests of this worker; skip where there is none."""
    found = programs_with_vectors()
    if found is None:
        pytest.skip("no PostgreSQL with pgvector (pip install pgserver)")
    with running_server(found) as server:
        yield server
