"""Mem0 and the database from the command line: compared, and each made again from the other."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.stores import new_file
from tests.factories.inside import run_inside

from fateforger.app.data_dir import lock_data_dir

BED = {
    "name": "In bed by eleven", "description": "I want to be in bed by eleven.", "necessity": "must", "status": "locked",
    "scope": "profile", "topics": ["sleep"], "applicability": {"days_of_week": ["MO", "TU"], "timezone": "Europe/Berlin"},
    "payload": {"rule_kind": "fixed_bedtime", "windows": [{"kind": "avoid", "start": "23:00", "end": "06:00"}]},
    "lifecycle": {"uid": "tb_bed", "ttl_days": 90}, "applies_stages": ["REFINE"],
}  # fmt: skip


class MemoryDataDirectory:
    """A data directory with two constraints, which Mem0 holds as well."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self.new_database()
        (folder / "bed.json").write_text(json.dumps(BED))
        self.run("add", str(folder / "bed.json"), "--user", "U1")
        self.run("add", "--name", "Lunch with Kim", "--user", "U2")
        self.run("reindex")

    def new_database(self) -> None:
        self.data.mkdir(exist_ok=True)
        (self.data / "fateforger.db").unlink(missing_ok=True)
        new_file(self.data).rename(self.data / "fateforger.db")

    def run(self, command: str, *arguments: str) -> tuple[int, str, str]:
        return run_inside("constraints", command, *arguments, "--data-dir", str(self.data))

    def json(self, command: str, *arguments: str) -> Any:
        return json.loads(self.run(command, *arguments, "--json")[1])

    def change(self, statement: str) -> None:
        with closing(sqlite3.connect(self.data / "fateforger.db")) as connection, connection:
            connection.execute(statement)


@pytest.fixture
def place(tmp_path: Path) -> MemoryDataDirectory:
    return MemoryDataDirectory(tmp_path)


AGREE = "Mem0 and the database agree: 2 constraints, one memory each.\n"
LOST = (
    "Mem0 holds 2 constraints that the database lacks. Run fateforger constraints restore to write back what is lost."
)


def test_a_database_that_was_lost_is_made_again_from_mem0(place: MemoryDataDirectory) -> None:
    """S320: each memory holds the whole record, with its times, its status and its event."""
    assert place.run("verify") == (0, AGREE, "")
    before = [place.json("list", "--user", user)["constraints"] for user in ("U1", "U2")]
    place.new_database()
    status, out, _ = place.run("verify")
    assert (status, out.splitlines()[0]) == (
        2,
        "Mem0 and the database agree on 0 constraints, but not on all: 2 constraints only in Mem0.",
    )
    assert "only in Mem0  “In bed by eleven” of U1 [tb_bed]" in out
    assert out.endswith("Write them back into the database with: fateforger constraints restore\n")
    assert place.run("restore", "--user", "U1")[1].splitlines()[-1] == "1 constraint restored from Mem0."
    assert place.run("restore")[1].splitlines()[-1] == "1 constraint restored from Mem0."
    assert [place.json("list", "--user", user)["constraints"] for user in ("U1", "U2")] == before
    assert place.run("verify") == (0, AGREE, "")
    assert place.run("restore") == (0, "Nothing to restore: the database has all that Mem0 holds.\n", "")


def test_what_only_mem0_holds_is_not_emptied_by_the_way(place: MemoryDataDirectory) -> None:
    """S321: filling Mem0 again from a database that was lost would lose all of it."""
    place.new_database()
    assert place.run("reindex") == (3, "", f"{LOST}\n")
    assert len(place.json("verify")["lost"]) == 2
    assert place.run("reindex", "--discard") == (0, "The index was rebuilt: 0 constraints.\n", "")
    assert place.json("verify")["whole"]


def test_where_both_have_a_constraint_the_database_decides(place: MemoryDataDirectory) -> None:
    """S320: a memory that differs is named, and made again from the database."""
    place.change("UPDATE constraint_version SET record = replace(record, 'by eleven', 'by ten') WHERE uid = 'tb_bed'")
    found = place.json("verify")
    assert (found["agreed"], [each["uid"] for each in found["outdated"]]) == (1, ["tb_bed"])
    assert place.run("restore")[1] == "Nothing to restore: the database has all that Mem0 holds.\n"
    assert place.run("verify")[1].endswith("or now with: fateforger constraints reindex\n")
    place.run("reindex")
    assert place.run("verify") == (0, AGREE, "")


def test_an_older_database_gets_the_newer_versions_back(place: MemoryDataDirectory) -> None:
    """S320: a backup of the database lacks what was changed since; Mem0 has it."""
    backup = (place.data / "fateforger.db").read_bytes()
    assert place.run("archive", "tb_bed", "--user", "U1", "--reason", "moved")[0] == 0
    place.run("list", "--user", "U1", "--about", "bed")
    (place.data / "fateforger.db").write_bytes(backup)
    assert place.run("restore")[1].splitlines()[0] == "restored  “In bed by eleven” of U1 [tb_bed]"
    (bed,) = place.json("list", "--user", "U1", "--all")["constraints"]
    assert (bed["constraint_record"]["status"], bed["event"]["reason"]) == ("declined", "moved")


def test_a_row_that_cannot_be_read_is_mended_from_mem0(place: MemoryDataDirectory) -> None:
    place.change("UPDATE constraint_version SET record = 'x' WHERE uid = 'tb_bed'")
    assert place.run("list", "--user", "U1")[0] == 3
    assert place.run("restore")[1].splitlines()[-1] == "1 constraint restored from Mem0."
    assert place.json("list", "--user", "U1")["constraints"][0]["constraint_record"]["name"] == "In bed by eleven"


def test_while_a_program_has_mem0_it_is_not_touched(place: MemoryDataDirectory) -> None:
    with lock_data_dir(place.data):
        for command in ("verify", "restore"):
            assert place.run(command) == (3, "", "The program that runs here has the index of constraints.\n")
