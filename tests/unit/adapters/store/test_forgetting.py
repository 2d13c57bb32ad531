"""Forgotten data is gone from the files, both as a row and as the remains of a deleted row."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path

import pytest
from tests.contracts.stores import new_file
from tests.factories.agents import NOW
from tests.factories.constraints import version_of

from fateforger.adapters.store.store import open_store

WORDS = "the surgeon said so in March"


def find_files(path: Path, words: str = WORDS) -> list[str]:
    return [file.name for file in sorted(path.parent.iterdir()) if words.encode() in file.read_bytes()]


async def test_nothing_of_it_is_left_in_any_file(tmp_path: Path) -> None:
    """This holds while the program goes on; other people's data stays."""
    path = new_file(tmp_path)
    store = open_store(path)
    for n in range(40):
        told = version_of(f"c{n}", user="U1", description=f"{WORDS} {n}. {'so it is. ' * 200}")
        await store.constraints.write([told], cause=f"c{n}")
    await store.constraints.write([version_of("tea", user="U2", description="tea at four")], cause="tea")
    assert find_files(path) != []
    assert await store.people.erase("U1", now=NOW) == {"constraints": 40}
    assert find_files(path) == []
    assert [version.record.words for version in await store.constraints.of("U2")] == ["tea at four"]
    await store.aclose()
    assert (find_files(path), find_files(path, "tea at four")) == ([], [path.name])


async def test_while_another_program_reads_it_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = new_file(tmp_path)
    store = open_store(path)
    with store.database.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA busy_timeout = 20")
        connection.commit()
    await store.constraints.write([version_of("c", user="U1", description=WORDS)], cause="c")
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM constraint_version").fetchone() == (1,)
    with caplog.at_level(logging.WARNING):
        assert await store.people.erase("U1", now=NOW) == {"constraints": 1}
    assert [record.message for record in caplog.records] == [
        f"what was deleted stays in the log of “{path}” for now: it is being read"
    ]
    reader.close()
    await store.people.scrub()
    assert find_files(path) == []
    await store.aclose()
