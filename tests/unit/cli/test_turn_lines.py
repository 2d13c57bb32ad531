"""The lines about turns that ``fateforger up`` logs on request (S215)."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import logging, sys
from fateforger.cli.program import set_up_logging
set_up_logging(verbose=False, turns=sys.argv[1] == "yes")
logging.getLogger("fateforger.conversation.turn_log").info("turn session=s1 intent=proceed")
logging.getLogger("fateforger.conversation.turns").info("what happens inside")
"""


@pytest.mark.process
@pytest.mark.parametrize("turns", ["yes", "no"])
def test_a_line_for_each_turn_is_a_setting(turns: str) -> None:
    """S215: without ``--verbose``; nothing else that happens inside is logged."""
    ran = subprocess.run([sys.executable, "-c", SCRIPT, turns], capture_output=True, text=True, check=True)
    assert ("turn session=s1 intent=proceed" in ran.stderr) is (turns == "yes")
    assert "what happens inside" not in ran.stderr
