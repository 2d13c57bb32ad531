"""What a door does not load: each of these costs its caller a good part of a second."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.contracts.stores import new_file

from fateforger.adapters.store import store
from fateforger.adapters.store.database import VERSION_TABLE

NEVER = {"aiohttp", "alembic", "autogen_core", "deepdiff", "numpy", "slack_bolt"}
SERVING = {"icalendar", "mcp", "radicale", "starlette", "uvicorn"}
FEATURES = ("agents", "conversation", "drafting", "memory", "quality", "session", "slack", "tasks", "ui", "workers")
TABLES = ("agents", "calendars", "constraints", "jobs", "people", "sessions", "store", "tasks", "usage")
UNUSED = {f"fateforger.{name}" for name in FEATURES} | {f"fateforger.adapters.store.{name}" for name in TABLES}
"""What no command about the calendar alone needs."""
PLAN = {"date": "2026-03-02", "tz": "Europe/Berlin", "events": []}


def loaded(*arguments: str, data: Path) -> set[str]:
    """The packages of others, and our modules, in memory when the door has done its work."""
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
    ("door", "also"),
    [
        (("--help",), {"pydantic", "sqlalchemy", "httpx"} | SERVING),
        (("plan", "resolve", "plan.json"), {"sqlalchemy", "httpx"} | SERVING),
        (("constraints", "query", "--from", "plan.jsonl", "--user", "U"), {"sqlalchemy", "httpx"} | SERVING),
        (("sync", "history"), {"httpx"} | SERVING | UNUSED),
        (("sync", "diff", "plan.json"), UNUSED),
        (("doctor",), SERVING),
    ],
)
def test_a_door_loads_only_what_it_uses(door: tuple[str, ...], also: set[str], tmp_path: Path) -> None:
    """On a database that is there already, so that nothing has to be migrated."""
    (tmp_path / "plan.json").write_text(json.dumps(PLAN))
    (tmp_path / "plan.jsonl").touch()
    if door[0] in {"sync", "doctor"}:
        new_file(tmp_path).rename(tmp_path / "fateforger.db")
    assert loaded(*door, data=tmp_path) & (NEVER | also) == set()


def test_the_first_command_makes_the_whole_database(tmp_path: Path) -> None:
    """Even a command that has loaded only the tables of the calendar. Other commands then find theirs."""
    loaded("sync", "history", data=tmp_path)
    tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    with closing(sqlite3.connect(tmp_path / "fateforger.db")) as database:
        found = {name for (name,) in database.execute(tables)}
    assert found == {each.name for each in store.metadata.sorted_tables if each.info.get("only") != "postgresql"} | {
        VERSION_TABLE
    }
    loaded("tasks", "list", data=tmp_path)
