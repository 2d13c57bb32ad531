"""A running program says that it is well, to those who watch over it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.command_line import run_program
from tests.scenarios.program import Program

pytestmark = pytest.mark.process


def run_health(program: Program) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fateforger", "health", "--port", str(program.port)],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "FATEFORGER_HOST": "0.0.0.0"},
    )


def test_it_is_well_until_it_is_dead(tmp_path: Path, postgres: str) -> None:
    """As in a container: on PostgreSQL, listening on every address."""
    program = Program(tmp_path / "data", {"FATEFORGER_DATABASE_URL": postgres, "FATEFORGER_HOST": "0.0.0.0"})
    program.start()
    try:
        program.person()
        answer = run_health(program)
        assert (answer.returncode, answer.stdout, answer.stderr) == (0, "It is well.\n", "")
    finally:
        program.kill()
    answer = run_health(program)
    assert (answer.returncode, answer.stdout) == (3, "")
    assert f"No fateforger answers at http://127.0.0.1:{program.port}/health: Connection refused." in answer.stderr


def test_other_commands_know_where_it_listens(tmp_path: Path) -> None:
    """S408: this holds for any ports; after the end, commands name the configured ports again."""
    program = Program(tmp_path / "data").start()

    def say(*command: str) -> str:
        return run_program(*command, environment={"FATEFORGER_DATA_DIR": str(program.data)})[1]

    try:
        program.person()
        assert say("health") == "It is well.\n"
        well = json.loads(say("health", "--json"))
        assert (well["ok"], well["database"]) == (True, True)
        told = say("doctor")
        assert program.address in told
        calendar = urlsplit(program.caldav_url())
        assert f"http://{calendar.hostname}:{calendar.port}{calendar.path} (user name {calendar.username}" in told
    finally:
        assert program.stop() == 0
    assert "http://127.0.0.1:8765/?token=" in say("doctor")
    assert json.loads(say("health", "--json"))["error"]["message"].startswith("No fateforger answers at http://")
