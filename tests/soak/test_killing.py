"""The real program, killed at random moments of commits and undos, on both databases."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.soak.kills import kill_again_and_again

pytestmark = [pytest.mark.process, pytest.mark.timeout(1_200)]  # each kill takes a start of the program

KILLS = 5


def test_killed_again_and_again_on_sqlite(tmp_path: Path) -> None:
    """S241, P11: after each of them the calendar is as planned or as before, and the thread goes on."""
    assert kill_again_and_again(tmp_path, None, KILLS, seed=1).hits.total() == KILLS


def test_killed_again_and_again_on_postgresql(tmp_path: Path, postgres: str) -> None:
    """The same, with the state in another process, which lives on."""
    assert kill_again_and_again(tmp_path, postgres, KILLS, seed=2).hits.total() == KILLS
