"""A small share of the histories of command lines; ``make soak`` plays more of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.soak.terminals import play_some

pytestmark = [pytest.mark.process, pytest.mark.timeout(1_200)]  # each command is a start of the program

HISTORIES = 2
SEED = 20260302


async def test_command_lines_on_one_calendar_lose_nothing(tmp_path: Path) -> None:
    """P4, P11, P15: applied, undone in any order, some at the same time and some killed and typed again, with edits by
    hand between; and some are killed, or it would prove nothing."""
    played = await play_some(tmp_path, SEED, range(HISTORIES))
    assert (played.histories, played.failed) == (HISTORIES, [])
    assert played.commands > 20
    assert played.kills > 0
