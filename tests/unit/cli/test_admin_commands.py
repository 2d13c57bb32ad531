"""``fateforger admin`` as an administrator types it: what it says, what it refuses, and its exit status."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sqlite3
import tarfile
from collections.abc import Awaitable, Callable
from contextlib import aclosing, closing
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.jobs_contract import put, take_job
from tests.contracts.session_examples import message, session
from tests.contracts.stores import new_file
from tests.contracts.test_connections import ANNA, NEW, OLD
from tests.factories.inside import run_inside
from tests.postgres import PostgresServer, programs_with_vectors
from tests.unit.adapters.store.test_opening import migrated_file

from fateforger.adapters.store.connections import SqlConnections, Vault
from fateforger.adapters.store.database import HEAD_REVISION, VERSION_TABLE
from fateforger.adapters.store.store import Store, open_store

NOW = "2026-03-03T11:00:00+01:00"


def write(data: Path, work: Callable[[Store], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with aclosing(open_store(data / "fateforger.db")) as store:
            return await work(store)

    return asyncio.run(run())


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    new_file(folder).rename(folder / "fateforger.db")
    return folder


def admin(data: Path, *words: str, status: int = 0) -> str:
    found, out, err = run_inside("admin", *words, "--data-dir", str(data), "--now", NOW)
    assert found == status, out + err
    return out + err


def as_json(data: Path, *words: str, status: int = 0) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(admin(data, *words, "--json", status=status))
    return answer


async def fail_both(store: Store) -> None:
    await put(store.jobs, "one")
    await store.jobs.bury(await take_job(store.jobs), "it is impossible")
    await store.sessions.save(session("s1"), expected=0, outgoing=[message("a1")])
    await store.outbox.mark_failed("a1", "channel_not_found", retry_at=None)


def test_failed_work_is_listed_retried_and_dropped(data: Path) -> None:
    """S359: each has its reason, by number or all at once, and no person's words."""
    assert "No job was given up." in admin(data, "jobs", "list")
    write(data, fail_both)
    said = admin(data, "jobs", "list") + admin(data, "messages", "list")
    assert "turns for nobody of 2026-03-02 12:00Z, 1 try: it is impossible" in said
    assert "a1  to U1, session s1 of 2026-03-02 12:00Z: channel_not_found" in said
    assert "rapport" not in said
    assert "1 job and 1 message were given up." in admin(data, "check")
    assert as_json(data, "jobs", "retry", "1", "7") == {"retried": [1], "left": [7]}
    assert as_json(data, "messages", "retry", "--all") == {"retried": ["a1"], "left": []}
    assert "No message was given up." in admin(data, "messages", "list")
    refused = as_json(data, "jobs", "drop", "1", status=2)["error"]
    assert refused["message"] == "This cannot be dropped: 1. admin jobs list shows what was given up."
    assert "Name those that you mean, or say --all." in admin(data, "messages", "drop", status=2)


def test_people_and_connections_without_their_words(data: Path) -> None:
    """S360: who plans, since when, and whose calendar does not work."""
    write(data, lambda store: store.sessions.save(session("s1"), expected=0))
    write(data, lambda store: SqlConnections(store.database, Vault(OLD)).keep(ANNA))
    assert "U1  1 day, 2026-03-03 to 2026-03-03, active 2026-03-02; calendar: connected" in admin(data, "people")
    (link,) = as_json(data, "connections")["connections"]
    assert (link["provider"], link["state"], link["problem"]) == ("caldav", "connected", "")
    assert ANNA.account not in json.dumps(link)
    # The key is missing, so the login cannot be used.
    said = admin(data, "check", status=3)
    assert "No key can decrypt the logins of U1." in said
    assert "● tables    All tables are whole." in said


def test_maintenance_deletes_what_is_old(data: Path) -> None:
    write(data, fail_both)
    assert as_json(data, "maintain") == {"jobs": 0, "messages": 0, "vacuumed": False}
    _, out, _ = run_inside(
        "admin", "maintain", "--vacuum", "--days", "7", "--data-dir", str(data), "--now", "2026-06-01T00:00Z"
    )
    assert "Deleted: 1 job and 1 message that were given up more than 7 days ago." in out
    assert "Free space was given back to the disk." in out


def test_a_backup_needs_the_key_of_its_logins(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S361: the key is not in the backup, only its fingerprint; without the key, logins have to be given up on purpose."""
    monkeypatch.setenv("FATEFORGER_SECRET_KEYS", OLD)
    write(data, lambda store: SqlConnections(store.database, Vault(OLD)).keep(ANNA))
    file, new = data.parent / "b.tar.gz", data.parent / "new"
    fingerprint = Vault(OLD).fingerprints[0]
    assert f"keep the key elsewhere (fingerprint {fingerprint})" in admin(data, "backup", str(file))
    with tarfile.open(file) as archive:
        assert OLD.encode() not in b"".join(archive.extractfile(m).read() for m in archive if m.isfile())  # type: ignore[union-attr]  # of a file it is one
    monkeypatch.setenv("FATEFORGER_SECRET_KEYS", NEW)
    assert f"encrypted with a key that is not here (fingerprint {fingerprint})" in admin(
        new, "restore", str(file), status=2
    )
    assert not (new / "fateforger.db").exists()
    assert "1 person must connect a calendar again." in admin(new, "restore", str(file), "--without-logins")
    monkeypatch.setenv("FATEFORGER_SECRET_KEYS", f"{NEW},{OLD}")
    assert as_json(data.parent / "third", "restore", str(file))["logins_lost"] == 0


def test_a_backup_is_restored_where_nothing_is(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S361: neither an existing backup nor existing data is ever overwritten, and a damaged backup changes nothing."""
    file, new = data.parent / "b.tar.gz", data.parent / "new"
    assert "There is nothing to back up" in admin(new, "backup", str(file), status=2)
    assert re.search(r"\([1-9]\d* kB\): ", admin(data, "backup", str(file)))
    assert "There is already a file" in admin(data, "backup", str(file), status=2)
    assert "There is data in" in admin(data, "restore", str(file), status=2)
    (data.parent / "text").write_text("hello")
    assert "is not a backup of fateforger." in admin(new, "restore", str(data.parent / "text"), status=2)
    whole = file.read_bytes()
    file.write_bytes(whole[:-3000] + bytes(3000))
    assert "is damaged" in admin(new, "restore", str(file), status=2)
    assert not (new / "fateforger.db").exists()
    file.write_bytes(whole)
    monkeypatch.setenv("FATEFORGER_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    assert "This backup is of an SQLite file." in admin(new, "restore", str(file), status=2)
    monkeypatch.delenv("FATEFORGER_DATABASE_URL")
    restored = admin(new, "restore", str(file))
    assert "Restored as of 2026-03-03 10:00Z:" in restored
    assert "What went to a calendar on another server later is still there, and cannot be undone from here." in restored
    assert "All tables are whole." in admin(new, "check")


def test_a_log_that_a_killed_program_left_is_not_written_into_a_backup(data: Path) -> None:
    """S486: SQLite would add what the log holds to the restored file."""
    file, killed = data.parent / "b.tar.gz", data.parent / "killed"
    admin(data, "backup", str(file))
    store = open_store(data / "fateforger.db")
    asyncio.run(store.sessions.save(session("s1"), expected=0))
    shutil.copytree(data, killed)
    asyncio.run(store.aclose())
    killed.chmod(0o700)
    (killed / "fateforger.db").unlink()
    assert "already: fateforger.db-wal and fateforger.db-shm." in admin(killed, "restore", str(file), status=2)
    for log in killed.glob("fateforger.db-*"):
        log.unlink()
    admin(killed, "restore", str(file))
    assert admin(killed, "people") == "Nobody has planned a day yet.\n"


def test_a_backup_leaves_the_database_to_the_version_that_made_it(tmp_path: Path) -> None:
    """S487: made by a newer version before an upgrade, it can be restored by either."""
    data, file = tmp_path / "data", tmp_path / "b.tar.gz"
    data.mkdir()
    migrated_file(data, "0019").rename(data / "fateforger.db")
    assert as_json(data, "backup", str(file))["revision"] == "0019"
    assert stamp(data) == "0019"
    admin(tmp_path / "new", "restore", str(file))
    assert stamp(tmp_path / "new") == HEAD_REVISION


def stamp(data: Path) -> str:
    with closing(sqlite3.connect(data / "fateforger.db")) as connection:
        revision: str = connection.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone()[0]
        return revision


def test_a_backup_of_a_newer_version_is_refused(data: Path) -> None:
    file = data.parent / "b.tar.gz"
    admin(data, "backup", str(file))
    change_manifest(file, revision="9999")
    assert "was made by a newer fateforger" in admin(data.parent / "new", "restore", str(file), status=2)
    with closing(sqlite3.connect(data / "fateforger.db")) as connection, connection:
        connection.execute(f"UPDATE {VERSION_TABLE} SET version_num = '9999'")
    said = admin(data, "backup", str(data.parent / "c.tar.gz"), status=2)
    assert "was written by a newer fateforger. Make the backup with that version." in said


def test_any_damage_to_a_backup_is_said_in_a_sentence(data: Path) -> None:
    """S361: also where the compression itself breaks, and for a backup without a database."""
    file, new = data.parent / "b.tar.gz", data.parent / "new"
    admin(data, "backup", str(file))
    whole = file.read_bytes()
    for at in range(200, len(whole), len(whole) // 12):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        said = admin(new, "restore", str(file), status=2)
        assert "is damaged: " in said or "is not a backup of fateforger" in said
    file.write_bytes(whole)
    change_manifest(file, files={})
    assert "is damaged: fateforger.db. Take another backup." in admin(new, "restore", str(file), status=2)
    assert not (new / "fateforger.db").exists()


def change_manifest(file: Path, **changes: object) -> None:
    """Write a backup again, with other values in its manifest."""
    folder = file.with_suffix(".folder")
    with tarfile.open(file) as archive:
        archive.extractall(folder, filter="data")
    manifest = folder / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), **changes}))
    with tarfile.open(file, "w:gz") as archive:
        for each in (manifest, folder / "fateforger.db"):
            archive.add(each, each.name)


def test_an_older_pg_dump_is_refused(
    tmp_path: Path, postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL's programs are asked for their version first, so that no half of a backup is written."""
    tool = tmp_path / "bin" / "pg_dump"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 9.6.1'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    with postgres_server.bare_database() as url:
        monkeypatch.setenv("FATEFORGER_DATABASE_URL", url)
        admin(tmp_path / "data", "people")
        said = admin(tmp_path / "data", "backup", str(tmp_path / "b.tar.gz"), status=2)
    assert "pg_dump 9 cannot read PostgreSQL" in said
    assert not (tmp_path / "b.tar.gz").exists()


def test_a_database_that_is_not_empty_is_not_touched(
    tmp_path: Path, postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with postgres_server.bare_database() as url:
        monkeypatch.setenv("FATEFORGER_DATABASE_URL", url)
        said = admin(tmp_path / "data", "backup", str(tmp_path / "b.tar.gz"), status=2)
        assert "There is nothing to back up in the database." in said
        admin(tmp_path / "data", "people")
        admin(tmp_path / "data", "backup", str(tmp_path / "b.tar.gz"))
        said = admin(tmp_path / "new", "restore", str(tmp_path / "b.tar.gz"), status=2)
    assert "is not empty. Name an empty one" in said


def test_an_index_in_the_database_is_restored_with_it(
    tmp_path: Path, vector_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a team has it: pgvector in the database of everything else."""
    folder = programs_with_vectors()
    assert folder is not None
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("FATEFORGER_MEMORY_STORE", "pgvector")
    monkeypatch.setenv("FATEFORGER_MEMORY_EMBEDDER", "spelling")
    data, file = tmp_path / "data", tmp_path / "b.tar.gz"
    with vector_server.bare_database() as old, vector_server.bare_database() as new:
        monkeypatch.setenv("FATEFORGER_DATABASE_URL", old)
        where = ("--data-dir", str(data), "--now", NOW)
        assert run_inside("constraints", "add", "--name", "No calls before ten", "--user", "U1", *where)[0] == 0
        assert run_inside("constraints", "reindex", *where)[0] == 0
        assert as_json(data, "backup", str(file))["index"] == "database"
        monkeypatch.setenv("FATEFORGER_DATABASE_URL", new)
        admin(tmp_path / "new", "restore", str(file))
        said = admin(tmp_path / "new", "check")
    assert "1 constraint in PostgreSQL with pgvector" in said
