"""Modules that a command does not load, since each costs its caller time, and the place of its output."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import click
import pytest
from tests.contracts.stores import new_file
from tests.factories.inside import run_inside

from fateforger.adapters.store import store
from fateforger.adapters.store.database import VERSION_TABLE
from fateforger.cli.command_line import root_command

NEVER = {"aiohttp", "alembic", "autogen_core", "deepdiff", "numpy", "slack_bolt"}
SERVING = {"icalendar", "mcp", "radicale", "starlette", "uvicorn"}
FEATURES = ("agents", "conversation", "drafting", "memory", "quality", "session", "slack", "tasks", "ui", "workers")
TABLES = ("agents", "calendars", "constraints", "jobs", "people", "sessions", "store", "tasks", "usage")
UNUSED = {f"fateforger.{name}" for name in FEATURES} | {f"fateforger.adapters.store.{name}" for name in TABLES}
"""Modules that commands about the calendar alone do not need."""
PLAN = {"date": "2026-03-02", "tz": "Europe/Berlin", "events": []}


def find_loaded(*arguments: str, data: Path) -> set[str]:
    """Return the third-party packages and our modules in memory after the command."""
    program = (
        "import atexit, json, sys\n"
        "kept = lambda name: name if name.startswith('fateforger') else name.partition('.')[0]\n"
        "atexit.register(lambda: print('\\n' + json.dumps(sorted({*map(kept, sys.modules)}))))\n"
        "from fateforger.cli import main\n"
        "main()\n"
    )
    command = [sys.executable, "-c", program, *arguments]
    place = {"FATEFORGER_DATA_DIR": str(data)}
    done = subprocess.run(command, env=place, capture_output=True, text=True, cwd=data, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    ("command", "also"),
    [
        (("--help",), {"pydantic", "sqlalchemy", "httpx"} | SERVING),
        (("plan", "resolve", "plan.json"), {"sqlalchemy", "httpx"} | SERVING),
        (("constraints", "query", "--from", "plan.jsonl", "--user", "U"), {"sqlalchemy", "httpx"} | SERVING),
        (("sync", "history"), {"httpx"} | SERVING | UNUSED),
        (("sync", "diff", "plan.json"), UNUSED),
        (("doctor",), SERVING),
    ],
)
def test_a_command_loads_only_what_it_uses(command: tuple[str, ...], also: set[str], tmp_path: Path) -> None:
    """On a database that is there already, so that nothing has to be migrated."""
    (tmp_path / "plan.json").write_text(json.dumps(PLAN))
    (tmp_path / "plan.jsonl").touch()
    if command[0] in {"sync", "doctor"}:
        new_file(tmp_path).rename(tmp_path / "fateforger.db")
    assert find_loaded(*command, data=tmp_path) & (NEVER | also) == set()


def test_the_first_command_makes_the_whole_database(tmp_path: Path) -> None:
    """Even a command that has loaded only the tables of the calendar. Other commands then find theirs."""
    find_loaded("sync", "history", data=tmp_path)
    tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    with closing(sqlite3.connect(tmp_path / "fateforger.db")) as database:
        found = {name for (name,) in database.execute(tables)}
    assert found == {each.name for each in store.metadata.sorted_tables if each.info.get("only") != "postgresql"} | {
        VERSION_TABLE
    }
    find_loaded("tasks", "list", data=tmp_path)


# --- where the output goes ---

DAY = {**PLAN, "events": [{"n": "№ 📅", "t": "DW", "p": {"a": "fs", "st": "09:00", "dur": "PT1H"}}]}


def resolve(data: Path, redirect: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command as a shell does, with its output redirected."""
    (data / "day.json").write_text(json.dumps(DAY))
    command = f"set -o pipefail; '{sys.executable}' -m fateforger plan resolve day.json {redirect}"
    return subprocess.run(
        ["bash", "-c", command], env={**os.environ, **environment}, capture_output=True, cwd=data, check=False
    )


def test_a_reader_that_leaves_early_is_no_failure(tmp_path: Path) -> None:
    """S453"""
    done = resolve(tmp_path, "| true")
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_terminal_without_utf_8_shows_what_it_lacks_as_json_does(tmp_path: Path) -> None:
    """S453"""
    done = resolve(tmp_path, "", PYTHONIOENCODING="latin-1")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"09:00\\u201310:00   \\u2116 \\ud83d\\udcc5" in done.stdout
    document = resolve(tmp_path, "--json", PYTHONIOENCODING="latin-1").stdout
    assert document.isascii()
    assert "№ 📅" in json.loads(document)["events"][0].values()


@pytest.mark.parametrize("how", ["", "--json"])
def test_output_that_cannot_be_written_is_said(tmp_path: Path, how: str) -> None:
    """S453"""
    done = resolve(tmp_path, f"{how} > /dev/full")
    assert (done.returncode, done.stderr) == (3, b"I cannot write the output: No space left on device. (stdout)\n")


def _list_groups(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(command, click.Group):
        yield path
        for name in command.list_commands(click.Context(command)):
            found = command.get_command(click.Context(command), name)
            assert found is not None
            yield from _list_groups(found, (*path, name))


@pytest.mark.parametrize("path", list(_list_groups(root_command)))
def test_a_mistake_gets_one_sentence_and_no_help_is_cut(path: tuple[str, ...]) -> None:
    """S453"""
    status, out, err = run_inside(*path, "nothing-there")
    where = " ".join(("fateforger", *path))
    assert (status, out, err) == (2, "", f"No such command 'nothing-there'. See {where} --help.\n")
    status, out, err = run_inside(*path, "--help")
    assert (status, err) == (0, "")
    assert "..." not in out.split("\n", 1)[1]
