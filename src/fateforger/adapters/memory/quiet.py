"""Settings that Mem0 reads only once, when it is imported for the first time."""

from __future__ import annotations

import logging
import os
from pathlib import Path


def configure_mem0(home: Path) -> None:
    """Turn telemetry off, keep Mem0's files in ``home``, and keep people's words out of the log."""
    home.mkdir(parents=True, exist_ok=True)
    os.environ["MEM0_TELEMETRY"] = "false"
    os.environ["MEM0_DIR"] = str(home)
    # Mem0 logs the text of each write, and each failure with its traceback. Failures are reported once, as our errors.
    for name in ("mem0", "psycopg.pool"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
