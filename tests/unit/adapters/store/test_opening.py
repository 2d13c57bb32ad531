"""Opening a database: the right tables, quickly; a polite refusal of what is not ours to touch."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from threading import Barrier

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine
from tests.contracts.stores import new_file
from tests.postgres import PostgresServer

from fateforger.adapters.store.database import HEAD_REVISION, VERSION_TABLE, make_engine, parse_database_url
from fateforger.adapters.store.store import Store, metadata, open_store
from fateforger.errors import BadInput, StoreUnavailable


def scripts() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", "fateforger.adapters.store:migrations")
    return ScriptDirectory.from_config(config)


def opened_and_closed(where: str | Path) -> None:
    open_store(where).database.engine.dispose()


def refusal(where: str | Path) -> str:
    with pytest.raises(StoreUnavailable) as refused:
        open_store(where)
    return refused.value.message


def test_migrations_make_the_tables_that_the_code_declares(tmp_path: Path) -> None:
    declared = create_engine(f"sqlite:///{tmp_path / 'declared.db'}")
    metadata.create_all(declared)
    migrated = open_store(new_file(tmp_path)).database.engine
    assert statements(migrated) == statements(declared)


def test_alembic_finds_no_difference_on_postgresql(postgres: str) -> None:
    engine = make_engine(parse_database_url(postgres))
    with engine.connect() as connection:
        known = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(known, metadata) == []
    engine.dispose()


def statements(engine: Engine) -> dict[str, list[str]]:
    """The statement that made each table and index, whatever the order of its lines."""
    with engine.connect() as connection:
        rows = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE sql LIKE 'CREATE %'").all()
    engine.dispose()
    return {
        name: sorted(" ".join(line.split()).rstrip(",") for line in sql.splitlines())
        for name, sql in rows
        if name not in {VERSION_TABLE, "sqlite_sequence"}
    }


def test_the_head_that_the_code_knows_is_the_newest_script() -> None:
    assert scripts().get_heads() == [HEAD_REVISION]


def test_the_migrations_are_valid_for_postgresql() -> None:
    written = StringIO()
    config = Config(output_buffer=written, attributes={"dialect": "postgresql"})
    config.set_main_option("script_location", "fateforger.adapters.store:migrations")
    command.upgrade(config, "head", sql=True)
    assert written.getvalue().count("CREATE TABLE") == len(metadata.tables) + 1
    assert "seq BIGSERIAL" in written.getvalue()


@pytest.mark.parametrize("revision", [script.revision for script in scripts().walk_revisions()])
async def test_a_database_of_an_earlier_program_is_brought_up_to_date(revision: str, tmp_path: Path) -> None:
    """What it holds stays."""
    engine = make_engine(parse_database_url(tmp_path / "state.db"))
    with engine.begin() as connection:
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", "fateforger.adapters.store:migrations")
        command.upgrade(config, revision)
        columns = "calendar, owner, fence, expires_at"
        connection.exec_driver_sql(f"INSERT INTO calendar_lease ({columns}) VALUES ('local', 'me', 7, 0)")
    engine.dispose()
    store = open_store(tmp_path / "state.db")
    now = datetime(2026, 3, 2, tzinfo=UTC)
    lease = await store.journal.acquire("local", "me", now=now, seconds=5)
    assert lease is not None
    assert lease.fence > 7
    assert await store.usage.since(now.date()) == ()
    await store.aclose()


def test_a_new_database_appears_with_its_folder_and_is_private(tmp_path: Path) -> None:
    path = tmp_path / "data" / "of me" / "state.db"
    store = open_store(path)
    store.database.engine.dispose()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_up_to_date_database_opens_without_alembic(tmp_path: Path) -> None:
    script = (
        "import sys; from fateforger.adapters.store.store import open_store; open_store(sys.argv[1]).database.engine.dispose();"
        "print([name for name in sys.modules if name.split('.')[0] in ('alembic', 'mako')])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, str(new_file(tmp_path))], check=True, capture_output=True, text=True
    )
    assert ran.stdout == "[]\n"


def test_sqlite_is_set_up_to_survive_a_crash(tmp_path: Path) -> None:
    engine = open_store(new_file(tmp_path)).database.engine
    with engine.connect() as connection:
        settings = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout", "secure_delete")
        ]
    engine.dispose()
    assert settings == ["wal", 2, 1, 5000, 1]


def test_many_may_open_a_new_database_at_once(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(opened_and_closed, [path] * 4))
    with sqlite3.connect(path) as connection:
        assert connection.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchall() == [(HEAD_REVISION,)]
    connection.close()


def test_none_of_many_that_open_a_new_database_is_told_that_it_is_locked(tmp_path: Path) -> None:
    """SQLite itself says so now and then."""
    at_once = Barrier(6)

    def switched(path: Path) -> str:
        at_once.wait()
        engine = make_engine(parse_database_url(path))
        with engine.connect() as connection:
            mode: str = connection.exec_driver_sql("PRAGMA journal_mode").scalar_one()
        engine.dispose()
        return mode

    with ThreadPoolExecutor(6) as threads:
        for n in range(40):
            assert list(threads.map(switched, [tmp_path / f"{n}.db"] * 6)) == ["wal"] * 6


def test_many_may_open_a_new_server_database_at_once(postgres_server: PostgresServer) -> None:
    with postgres_server.bare_database() as where:
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(opened_and_closed, [where] * 4))
        engine = create_engine(parse_database_url(where))
        with engine.connect() as connection:
            assert connection.exec_driver_sql(f"SELECT version_num FROM {VERSION_TABLE}").scalars().all() == [
                HEAD_REVISION
            ]
        engine.dispose()


def test_a_database_of_a_newer_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = new_file(tmp_path)
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE {VERSION_TABLE} SET version_num = '9999'")
    connection.close()
    before = path.read_bytes()
    assert refusal(path) == (
        f"The database “{path}” was written by a newer fateforger (tables 9999, this one knows {HEAD_REVISION}); "
        "please upgrade, or name another file."
    )
    assert path.read_bytes() == before


def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "places.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()
    assert refusal(path) == f"The database “{path}” belongs to another program; name another file."
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("bookmarks",)]
    connection.close()


def make_text(path: Path) -> None:
    path.write_text("Dear diary, this is no database. " * 200)


def make_damaged(path: Path) -> None:
    content = bytearray(new_file(path.parent).read_bytes())
    content[100:4096] = os.urandom(3996)
    path.write_bytes(bytes(content))


def make_folder(path: Path) -> None:
    path.mkdir()


def make_unreachable(path: Path) -> None:
    path.parent.joinpath("file").touch()
    path.symlink_to(path.parent / "file" / "below.db")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (make_text, "the file is not a database; name another file, or move this one away to start afresh."),
        (make_damaged, "the file is damaged; put a backup in its place, or move it away to start afresh."),
        (make_folder, "it cannot be opened; check that the folder exists and can be written to."),
        (make_unreachable, "Not a directory."),
    ],
)
def test_what_cannot_be_a_database_is_refused(tmp_path: Path, make: Callable[[Path], None], says: str) -> None:
    path = tmp_path / "it"
    make(path)
    assert refusal(path) == f"The database “{path}” cannot be used: {says}"


def test_a_file_without_write_permission_is_refused(tmp_path: Path) -> None:
    """As root every file can be written, so SQLite itself is told to open it for reading only."""
    path = new_file(tmp_path)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute(f"UPDATE {VERSION_TABLE} SET version_num = '0000'")
    connection.close()
    assert refusal(f"sqlite:///file:{path}?mode=ro&uri=true").endswith(
        "it cannot be written to; check the permissions of the file and its folder."
    )


@pytest.mark.parametrize(
    ("where", "url"),
    [
        (":memory:", "sqlite+pysqlite://"),
        ("data/state.db", "sqlite+pysqlite:///data/state.db"),
        (Path("a b.db"), "sqlite+pysqlite:///a b.db"),
        ("sqlite:////var/state.db", "sqlite:////var/state.db"),
        ("postgresql://me@db/ff", "postgresql+psycopg://me@db/ff"),
        ("postgresql+psycopg://me@db/ff", "postgresql+psycopg://me@db/ff"),
    ],
)
def test_paths_and_urls(where: str | Path, url: str) -> None:
    assert parse_database_url(where).render_as_string() == url


@pytest.mark.parametrize("where", ["mysql://me@db/ff", "://nowhere", "postgresql://db:port/ff"])
def test_other_urls_are_bad_input(where: str) -> None:
    with pytest.raises(BadInput):
        open_store(where)


def test_a_server_that_is_not_there_is_said_without_its_password() -> None:
    message = refusal("postgresql://me:secret@127.0.0.1:1/ff")
    assert "secret" not in message
    assert message.startswith(("PostgreSQL needs a driver", "The database postgresql+psycopg://me:***@127.0.0.1:1/ff"))


async def test_closing_twice_is_closing_once_and_a_closed_store_says_so() -> None:
    store: Store = open_store(":memory:")
    await store.aclose()
    await store.aclose()
    with pytest.raises(StoreUnavailable) as refused:
        await store.sessions.load("s1")
    assert refused.value.message == "The database “:memory:” is closed."
