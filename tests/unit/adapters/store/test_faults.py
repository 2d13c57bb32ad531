"""A database that fails says so in a sentence, has done nothing, and works again when the cause is gone."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from tests.contracts.jobs_contract import NOON, put, take_job
from tests.contracts.journal_examples import create, transaction
from tests.contracts.session_examples import message, session
from tests.contracts.stores import new_file
from tests.postgres import PostgresServer, Shutdown

from fateforger.adapters.store.database import has_ended, open_database
from fateforger.adapters.store.journal import CalendarLease
from fateforger.adapters.store.store import Store, open_store
from fateforger.adapters.store.tables import JOURNAL_VERSION, OUTBOX_VERSION, SESSION_VERSION, table
from fateforger.errors import InternalError, StoreUnavailable
from fateforger.ports.jobs import NewJob

BIG = "x" * 400_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return new_file(tmp_path)


@pytest.fixture
async def store(path: Path) -> AsyncIterator[Store]:
    store = open_store(path)
    yield store
    await store.aclose()


async def pragma(store: Store, statement: str) -> Any:
    return await store.database.read(lambda connection: connection.exec_driver_sql(f"PRAGMA {statement}").scalar())


async def large_transaction(store: Store) -> None:
    await store.journal.begin(transaction("big", [create(5, tx="big")], context={"note": BIG}))


async def large_session(store: Store) -> None:
    await store.sessions.save(session(overview=BIG), expected=1)


async def large_message(store: Store) -> None:
    await store.sessions.save(session(), expected=1, outgoing=[message("m2"), message(BIG)])


async def large_job(store: Store) -> None:
    await store.jobs.enqueue(NewJob("turns", "k", "big", {"text": BIG}), now=NOON)


@pytest.mark.parametrize("large", [large_transaction, large_session, large_message, large_job])
async def test_a_full_disk_loses_nothing(store: Store, path: Path, large: Callable[[Store], Awaitable[None]]) -> None:
    await store.journal.begin(transaction())
    saved = await store.sessions.save(session(), expected=0, outgoing=[message("m1")])
    await put(store.jobs, "j1")
    pages = await pragma(store, "page_count")
    await pragma(store, f"max_page_count = {pages + 10}")
    for _ in range(2):
        with pytest.raises(StoreUnavailable) as refused:
            await large(store)
        assert refused.value.message == (
            f"The database “{path}” cannot be used: there is no space left for it; free some disk space and try again."
        )
    assert await store.journal.list_unsettled() == (transaction(),)
    assert await store.sessions.load("s1") == saved
    assert await store.outbox.pending(now=NOON) == (message("m1"),)
    assert await pragma(store, "integrity_check") == "ok"
    await pragma(store, "max_page_count = 100000")
    await large(store)
    assert await pragma(store, "integrity_check") == "ok"
    assert (await take_job(store.jobs)).dedupe == "j1"


@pytest.mark.process
def test_a_disk_that_takes_no_more_bytes(tmp_path: Path) -> None:
    """The limit is on the file, so that what fails is a real write of the operating system."""
    path = new_file(tmp_path)
    script = """
import asyncio, resource, sys
from pathlib import Path
from fateforger.adapters.store.store import open_store
from fateforger.errors import StoreUnavailable
from fateforger.ports.jobs import NewJob
from tests.contracts.jobs_contract import NOON

async def main() -> None:
    store = open_store(sys.argv[1])
    size = Path(sys.argv[1]).stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 200_000, size + 200_000))
    accepted = 0
    try:
        while True:
            await store.jobs.enqueue(NewJob("turns", "k", str(accepted), {"text": "x" * 3000}), now=NOON)
            accepted += 1
    except StoreUnavailable as error:
        print(accepted, error.message)

asyncio.run(main())
"""
    ran = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[4])},
    )
    accepted, _, said = ran.stdout.partition(" ")
    assert said == (
        f"The database “{path}” cannot be used: the disk reports an error; check that it has space left and works.\n"
    )
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM job").fetchone() == (int(accepted),)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    assert int(accepted) > 0


async def test_a_locked_database_is_said_to_be_locked(store: Store, path: Path) -> None:
    await pragma(store, "busy_timeout = 20")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable) as refused:
        await put(store.jobs, "j1")
    assert refused.value.message == (
        f"The database “{path}” cannot be used: another program keeps it locked; try again in a moment."
    )
    assert await store.sessions.load("s1") is None  # reading goes on
    other.execute("ROLLBACK")
    other.close()
    assert await put(store.jobs, "j1")


def damage(path: Path) -> None:
    """Damage the pages of the jobs, and none that opening reads."""
    with sqlite3.connect(path) as connection:
        roots = connection.execute("SELECT rootpage FROM sqlite_master WHERE tbl_name = 'job'").fetchall()
    connection.close()
    with path.open("r+b") as file:
        for (root,) in roots:
            file.seek((root - 1) * 4096)
            file.write(b"\xff" * 4096)


async def test_a_database_damaged_further_in(store: Store, path: Path) -> None:
    await put(store.jobs, "j1")
    await store.aclose()
    damage(path)
    again = open_store(path)
    with pytest.raises(StoreUnavailable) as refused:
        await take_job(again.jobs)
    await again.aclose()
    assert refused.value.message == (
        f"The database “{path}” cannot be used: "
        "the file is damaged; put a backup in its place, or move it away to start afresh."
    )


async def test_a_mistake_of_ours_is_no_fault_of_the_database(store: Store) -> None:
    naive = datetime(2026, 3, 2, 12, 0)  # noqa: DTZ001  that is the mistake
    with pytest.raises(InternalError):
        await store.journal.begin(transaction(created_at=naive))
    with pytest.raises(InternalError):
        await store.database.write(
            lambda connection: connection.execute(table(CalendarLease).insert(), {"calendar": "c"})
        )
    assert await store.journal.get("t1") is None


async def test_what_a_newer_program_saved_is_refused_politely(store: Store) -> None:
    await store.journal.begin(transaction())
    await store.sessions.save(session(), expected=0, outgoing=[message("m1")])

    def raise_versions(connection: Any) -> None:
        for name in ("sync_tx", "planning_session", "outbox"):
            connection.execute(text(f"UPDATE {name} SET schema_version = schema_version + 1"))

    await store.database.write(raise_versions)
    reads: list[tuple[str, int, Callable[[], Awaitable[object]]]] = [
        ("Transaction t1", JOURNAL_VERSION, lambda: store.journal.get("t1")),
        ("Planning session s1", SESSION_VERSION, lambda: store.sessions.load("s1")),
        ("Message m1", OUTBOX_VERSION, lambda: store.outbox.pending(now=NOON)),
    ]
    for what, known, read in reads:
        with pytest.raises(StoreUnavailable) as refused:
            await read()
        assert refused.value.message == (
            f"{what} was saved by a newer fateforger (format {known + 1}, this one knows {known}); please upgrade."
        )


async def test_a_damaged_value_is_named(store: Store) -> None:
    await store.sessions.save(session(), expected=0)
    await store.database.write(
        lambda connection: connection.execute(text("UPDATE planning_session SET session = '{\"id\": 3}'"))
    )
    with pytest.raises(StoreUnavailable) as refused:
        await store.sessions.load("s1")
    assert refused.value.message.startswith("Planning session s1 cannot be read from the database: ")


@pytest.mark.parametrize("how", ["fast", "immediate"])
async def test_a_program_shows_again_that_it_is_alive_once_the_database_is_back(
    postgres_server: PostgresServer, postgres: str, how: Shutdown
) -> None:
    """S402: this holds for an outage of any length, since another program could take over the same work."""
    alive, other = open_database(postgres), open_database(postgres)
    assert await other.write_now(lambda connection: has_ended(connection, "program-a"))
    await alive.hold_name("program-a")
    postgres_server.stop(how)
    try:
        for _ in range(2):
            with pytest.raises(StoreUnavailable):
                await alive.keep_held()
    finally:
        postgres_server.start()
    await alive.keep_held()
    assert not await other.write_now(lambda connection: has_ended(connection, "program-a"))
    await alive.aclose()
    await other.aclose()
