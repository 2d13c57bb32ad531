"""Bring a database to the tables this program knows.

The revision stamped in the database is compared first, in plain SQL; Alembic is loaded only when there is something to
migrate.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine, inspect, text

from fateforger.adapters.store.faults import translate_errors
from fateforger.errors import StoreUnavailable

HEAD = "0009"
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
            if read_revision(connection) == HEAD:
                return
        with _lock_database(engine) as connection:
            found = read_revision(connection)
            if found != HEAD:
                _refuse_foreign(connection, found, place)
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


def _migrate(connection: Connection, found: str | None, place: str) -> None:
    from alembic import command  # noqa: PLC0415  slow to load and seldom needed
    from alembic.config import Config  # noqa: PLC0415  heavy, and only a migration needs it
    from alembic.script import ScriptDirectory  # noqa: PLC0415  heavy, and only a migration needs it

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", "fateforger.adapters.store:migrations")
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found is not None and found not in known:
        raise StoreUnavailable(
            f"The database {place} was written by a newer fateforger (tables {found}, this one knows {HEAD}); "
            "please upgrade, or name another file."
        )
    command.upgrade(config, "head")
