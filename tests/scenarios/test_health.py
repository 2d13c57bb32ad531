"""A running program says that it is well, to those who watch over it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.scenarios.program import Program

pytestmark = pytest.mark.process


def asked(program: Program) -> subprocess.CompletedProcess[str]:
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
        answer = asked(program)
        assert (answer.returncode, answer.stdout, answer.stderr) == (0, "It is well.\n", "")
    finally:
        program.kill()
    answer = asked(program)
    assert (answer.returncode, answer.stdout) == (3, "")
    assert f"No fateforger answers at http://127.0.0.1:{program.port}/health: Connection refused." in answer.stderr
