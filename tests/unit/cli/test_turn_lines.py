"""The lines about turns that ``fateforger up`` logs on request (S215)."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import logging, sys
from fateforger.app.ops import configure_logging
configure_logging("text", sys.argv[1])
logging.getLogger("fateforger.conversation.turn_runs").info("turn session=s1 intent=proceed")
"""


@pytest.mark.process
@pytest.mark.parametrize("level", ["info", "warning"])
def test_a_line_for_each_turn_is_a_setting(level: str) -> None:
    """S215: without ``--verbose``."""
    ran = subprocess.run([sys.executable, "-c", SCRIPT, level], capture_output=True, text=True, check=True)
    assert ("turn session=s1 intent=proceed" in ran.stderr) is (level == "info")
