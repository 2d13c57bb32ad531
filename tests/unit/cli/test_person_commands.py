"""``fateforger person``: all that is held as one document, and gone from every file of the data directory."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import COMMAND_LINE, programs
from tests.contracts.journal_examples import create, transaction
from tests.contracts.stores import new_file
from tests.factories.inside import run_inside
from tests.factories.people import SamplePerson, about, dump, tell
from tests.fakes.memory_index import MemoryIndex

from fateforger.adapters.store.people import UNFINISHED
from fateforger.adapters.store.store import open_store
from fateforger.app.data_dir import lock_data_dir
from fateforger.app.people import CALENDAR_STAYS, COPIES_STAY, PAGE_STAYS, erase_person
from fateforger.config import read_settings
from fateforger.workers.lanes import INDEXING
from fateforger.workers.memory import Indexer
from fateforger.workers.supervisor import Repeated

ANNA, BORIS = SamplePerson("quokka"), SamplePerson("wombat")
AT = "2026-03-03T10:00:00+00:00"


class CommandLine:
    """The program on a data directory in which two people are everywhere."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.turns = data / "turns"
        data.mkdir()
        self.database = new_file(data).rename(data / "fateforger.db")

    def text(self, command: str, *arguments: str) -> tuple[int, str, str]:
        return run_inside("person", command, *arguments, "--data-dir", str(self.data), "--now", AT)

    def json(self, command: str, *arguments: str) -> tuple[int, dict[str, Any]]:
        status, out, err = self.text(command, *arguments, "--json")
        assert err == ""
        return status, json.loads(out)

    def index(self) -> None:
        """Let the index show everything."""
        assert run_inside("constraints", "reindex", "--data-dir", str(self.data))[0] == 0

    def find_files(self, who: SamplePerson) -> list[str]:
        """Return the files that hold one of their words or ids, by a search of every byte."""
        files = (path for path in sorted(self.data.rglob("*")) if path.is_file())
        names = [name.encode() for name in who.names]
        return [str(path.relative_to(self.data)) for path in files if any(n in path.read_bytes() for n in names)]

    def rows_of(self, who: SamplePerson) -> dict[str, list[str]]:
        """Return every row of the database that is about a person."""

        async def read() -> dict[str, list[str]]:
            store = open_store(self.database)
            try:
                return about(await dump(store), *who.names)
            finally:
                await store.aclose()

        return asyncio.run(read())


async def _tell(database: Path, turns: Path, *people: SamplePerson) -> None:
    store = open_store(database)
    for who in people:
        await tell(store, who, turns)
    await store.aclose()


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    cli = CommandLine(tmp_path / "data")
    monkeypatch.setenv("FATEFORGER_RECORD", str(cli.turns))
    asyncio.run(_tell(cli.database, cli.turns, BORIS, ANNA))
    return cli


def test_a_person_is_gone_from_every_file_and_nobody_else_is_touched(cli: CommandLine) -> None:
    """The law of erasing: their words and ids were in database, index and recordings, and are in no file at all."""
    cli.index()
    index = "memory/qdrant/collection/fateforger_constraints/storage.sqlite"
    assert cli.find_files(ANNA) == ["fateforger.db", index, "turns/20260302T070000-qu.json"]
    boris, recorded = cli.rows_of(BORIS), (cli.turns / "20260302T070000-wo.json").read_bytes()

    status, listed = cli.json("erase", ANNA.id)
    assert (status, listed["applied"], listed["counts"]["recordings"]) == (0, False, 1)
    assert listed["message"].endswith(f"rows about {ANNA.id}. Nothing was erased; say so with --apply.")
    assert listed["stays"] == [CALENDAR_STAYS, PAGE_STAYS, COPIES_STAY]
    assert len(cli.find_files(ANNA)) == 3

    status, done = cli.json("erase", ANNA.id, "--apply")
    assert (status, done["applied"], done["counts"], done["index_follows"]) == (0, True, listed["counts"], False)
    assert cli.find_files(ANNA) == []
    assert (cli.rows_of(BORIS), (cli.turns / "20260302T070000-wo.json").read_bytes()) == (boris, recorded)
    search = ("constraints", "list", "--user", BORIS.id, "--about", "wombat", "--json", "--data-dir", str(cli.data))
    assert len(json.loads(run_inside(*search)[1])["constraints"]) == 3

    assert cli.text("erase", ANNA.id, "--apply") == (0, f"Nothing is held about {ANNA.id}.\n", "")


def test_a_run_that_is_killed_is_completed_by_the_next(cli: CommandLine, tmp_path: Path) -> None:
    """Killed for good as soon as the database has forgotten them, with index and recordings still to come."""
    cli.index()
    boris = cli.rows_of(BORIS)
    arguments = ("person", "erase", ANNA.id, "--apply", "--data-dir", str(cli.data), "--now", AT)
    output = tmp_path / "output"
    fork = programs().start(COMMAND_LINE, *arguments, environment=dict(os.environ), output=output)
    deadline = time.monotonic() + 120
    while _sessions(cli.database) > 1 and time.monotonic() < deadline:
        continue
    fork.send_signal(signal.SIGKILL)
    fork.wait()
    assert (_sessions(cli.database), output.read_text()) == (1, "")
    assert cli.text("erase", ANNA.id, "--apply")[0] == 0
    assert (cli.find_files(ANNA), cli.rows_of(BORIS)) == ([], boris)


async def test_beside_a_running_program_its_index_follows(cli: CommandLine) -> None:
    """The program has the data directory and the index; the command waits until that has dropped them."""
    index, program = MemoryIndex(), open_store(cli.database)
    following = Repeated(INDEXING, Indexer(program.constraints, index).run_once, seconds=0.05)
    following.start()
    with lock_data_dir(cli.data):
        async with asyncio.timeout(60):
            while len(index.shown) < 6:  # noqa: ASYNC110  the index announces nothing
                await asyncio.sleep(0.01)
        _, follows = await erase_person(read_settings(data_dir=cli.data), ANNA.id)
    await following.stop()
    await program.aclose()
    assert (follows, {user for user, _ in index.shown}, index.scrubs > 0) == (False, {BORIS.id}, True)
    assert cli.find_files(ANNA) == []


def test_the_document_goes_to_a_file_and_holds_what_is_listed(cli: CommandLine, tmp_path: Path) -> None:
    target = tmp_path / "anna.json"
    status, told = cli.json("export", ANNA.id, "--to", str(target))
    document = json.loads(target.read_text())
    assert (status, target.stat().st_mode & 0o777) == (0, 0o600)
    assert [document[name] for name in ("format", "version", "person", "exported_at")] == [
        "fateforger/person", 1, ANNA.id, document["exported_at"],
    ]  # fmt: skip
    counts = {kind: len(rows) for kind, rows in document["held"].items()}
    assert told == {"person": ANNA.id, "counts": counts, "file": str(target)}
    listed = cli.json("erase", ANNA.id)[1]["counts"]
    assert counts == {kind: count for kind, count in listed.items() if kind != "index"}
    assert document["held"]["recordings"][0]["turn"]["runs"][0]["session"]["notes"] == ANNA.word


def test_it_says_what_there_is_kind_by_kind(cli: CommandLine) -> None:
    status, out, err = cli.text("erase", ANNA.id)
    assert (status, err) == (0, "")
    assert out.splitlines()[:3] == [
        "      3  rules and what became of them",
        "      3  rules on their way to the search index, or out of it",
        "      2  tasks",
    ]
    nothing = (0, "Nothing is held about U_NOBODY.\n", "")
    assert cli.text("erase", "U_NOBODY") == nothing
    for name in ("nobody.json", "again.json"):  # no export leaves a note about an unknown person
        assert cli.text("export", "U_NOBODY", "--to", str(cli.data / name)) == nothing


def test_a_write_that_is_not_finished_holds_it_up(cli: CommandLine) -> None:
    async def begin() -> None:
        store = open_store(cli.database)
        await store.journal.begin(
            transaction("open", [create(7, tx="open")], calendar=ANNA.calendar_key, context={"session": ANNA.session})
        )
        await store.aclose()

    asyncio.run(begin())
    status, refused = cli.json("erase", ANNA.id, "--apply")
    assert (status, refused["error"]["message"], len(cli.find_files(ANNA))) == (3, UNFINISHED, 2)


def _sessions(database: Path) -> int:
    connection = sqlite3.connect(database)
    try:
        (count,) = connection.execute("SELECT count(*) FROM planning_session").fetchone()
        return int(count)
    finally:
        connection.close()
