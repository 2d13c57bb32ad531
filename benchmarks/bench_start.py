"""Measure the cost of starting a command that compares a plan with the embedded calendar.

Processor seconds of whole processes, each the least of several that took turns. The target is the cost of the command
above the third-party packages that it needs: a client and a server of the calendar's protocol, Radicale, SQLAlchemy.
The peer is an interpreter that imports ``httpx``, ``sqlalchemy`` and ``pydantic``.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 7
TARGET_SECONDS = 0.7
PLAN = {
    "date": "2026-03-02",
    "tz": "Europe/Berlin",
    "events": [{"n": "Write", "t": "DW", "p": {"a": "fs", "st": "09:00", "dur": "PT1H"}}],
}
NEEDED = (
    "click, httpx, icalendar, mcp.client.streamable_http, mcp.server.streamable_http_manager, pydantic_settings,"
    " radicale.app, recurring_ical_events, sqlalchemy.dialects.sqlite, sqlmodel, starlette.applications, uvicorn"
)


def processor_seconds(command: list[str], folder: Path) -> float:
    """Return the processor time of a process and its children."""

    def read_processor() -> float:
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        return spent.ru_utime + spent.ru_stime

    before = read_processor()
    place = {**os.environ, "FATEFORGER_DATA_DIR": str(folder / "data")}
    subprocess.run(command, cwd=folder, env=place, stdout=subprocess.DEVNULL, check=True)
    return read_processor() - before


def main() -> None:
    commands = {
        "peer": [sys.executable, "-c", "import httpx, sqlalchemy, pydantic"],
        "needed": [sys.executable, "-c", f"import {NEEDED}"],
        "sync diff": [sys.executable, "-m", "fateforger", "sync", "diff", "plan.json"],
    }
    least = dict.fromkeys(commands, float("inf"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "plan.json").write_text(json.dumps(PLAN))
        processor_seconds(commands["sync diff"], folder)  # makes the tables and the calendar
        for _ in range(ROUNDS):
            for which, command in commands.items():
                least[which] = min(least[which], processor_seconds(command, folder))
    own = least["sync diff"] - least["needed"]
    row = {
        "target_own_seconds": TARGET_SECONDS,
        "own_seconds": own,
        "seconds": least["sync diff"],
        "needed_seconds": least["needed"],
        "peer_seconds": least["peer"],
        "ratio": least["sync diff"] / least["peer"],
        "own_ratio": own / least["peer"],
    }
    print(f"{'sync diff':12}{row['seconds']:7.2f}s, {row['ratio']:.2f} of the peer ({row['peer_seconds']:.2f}s)")
    print(f"{'our own':12}{own:7.2f}s, {row['own_ratio']:.2f} of the peer; target {TARGET_SECONDS:.1f}s")
    json.dump({"start": {"sync_diff": row}}, sys.stdout)
    print()


if __name__ == "__main__":
    main()
