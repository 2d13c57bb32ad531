"""What has to be settled before Mem0 is imported for the first time, since it looks then and never again."""

from __future__ import annotations

import logging
import os
from pathlib import Path


def settle(home: Path) -> None:
    """Send nothing anywhere, keep its files in ``home``, and write nobody's words into a log."""
    home.mkdir(parents=True, exist_ok=True)
    os.environ["MEM0_TELEMETRY"] = "false"
    os.environ["MEM0_DIR"] = str(home)
    # Mem0 logs the text of what it writes, and each failure with its trace; failures are errors of ours, told once.
    for name in ("mem0", "psycopg.pool"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
