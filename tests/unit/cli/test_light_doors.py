"""What a door does not load: each of these costs its caller a good part of a second."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.contracts.stores import new_file

HEAVY = {"aiohttp", "alembic", "autogen_core", "deepdiff", "icalendar", "mcp", "radicale", "slack_bolt", "uvicorn"}
PLAN = {"date": "2026-03-02", "tz": "Europe/Berlin", "events": []}


def loaded(*arguments: str, data: Path) -> set[str]:
    """The top-level modules in memory when the door has done its work."""
    program = (
        "import atexit, json, sys\n"
        "atexit.register(lambda: print('\\n' + json.dumps(sorted({m.partition('.')[0] for m in sys.modules}))))\n"
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
        (("--help",), {"pydantic", "sqlalchemy", "httpx", "starlette"}),
        (("plan", "resolve", "plan.json"), {"sqlalchemy", "httpx", "starlette"}),
        (("constraints", "query", "--from", "plan.jsonl", "--user", "U"), {"sqlalchemy", "httpx", "starlette"}),
        (("sync", "history"), {"httpx", "starlette"}),
        (("doctor",), {"starlette"}),
    ],
)
def test_a_door_loads_only_what_it_uses(door: tuple[str, ...], also: set[str], tmp_path: Path) -> None:
    """On a database that is there already, so that nothing has to be migrated."""
    (tmp_path / "plan.json").write_text(json.dumps(PLAN))
    (tmp_path / "plan.jsonl").touch()
    if door in {("sync", "history"), ("doctor",)}:
        new_file(tmp_path).rename(tmp_path / "fateforger.db")
    assert loaded(*door, data=tmp_path) & (HEAVY | also) == set()
