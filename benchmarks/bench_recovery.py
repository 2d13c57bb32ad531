"""Measure the time that an interrupted commit stays open after ``kill -9`` of the real program during its writes.

Settled means that no transaction is open in the database any more; then the calendar is compared with the plan. The
peer, in the same run: the same program started on the same data with nothing to settle, until it is ready.
"""

from __future__ import annotations

import json
import sqlite3
import statistics
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from tests.scenarios.caldav import CalDav
from tests.scenarios.day import STEPS
from tests.scenarios.program import Program

ROUNDS = 3
MOST_TRIES = 40
TARGET_SECONDS = 3.0
MONDAY = "2026-03-02T07:00:00+01:00"
BLOCKS = 4


def is_open(state: Path, *, in_flight: bool = False) -> bool:
    """Check whether a transaction is open, and, on request, whether one of its writes is in flight."""
    op = " AND EXISTS (SELECT 1 FROM sync_op WHERE tx_id = sync_tx.id AND state = 'inflight')" if in_flight else ""
    with closing(sqlite3.connect(f"file:{state}?mode=ro", uri=True, timeout=5)) as connection:
        query = f"SELECT count(*) FROM sync_tx WHERE state IN ('applying', 'paused'){op}"
        return bool(connection.execute(query).fetchone()[0])


def until(state: Path, *, opened: bool, seconds: float) -> bool:
    """Wait until a write is under way, or until no transaction is open; whether that came true in time."""
    deadline = time.perf_counter() + seconds
    while is_open(state, in_flight=opened) is not opened:
        if time.perf_counter() > deadline:
            return False
    return True


def interrupt_commit(folder: Path) -> Program | None:
    """Return a program that was killed during its writes, or ``None`` if it finished too early."""
    program = Program(folder, environment={"FATEFORGER_NOW": MONDAY}).start()
    person = program.person()
    for _, step in STEPS[:-1]:
        step(person)
    person.press("Commit to calendar")
    state = folder / "fateforger.db"
    until(state, opened=True, seconds=2)
    program.kill()
    return program if is_open(state) else None


def measure(folder: Path) -> dict[str, float] | None:
    """Return the seconds from the start of the process, and from its being ready, until all is settled."""
    program = interrupt_commit(folder)
    if program is None:
        return None
    try:
        started = time.perf_counter()
        program.start()
        ready = time.perf_counter()
        if not until(folder / "fateforger.db", opened=False, seconds=30):
            raise AssertionError("the transaction stayed open")
        settled = time.perf_counter()
        titles = CalDav(program.caldav_url()).titles()
        if len(titles) != BLOCKS or len(set(titles)) != BLOCKS:
            raise AssertionError(f"the calendar shows {titles}")
        program.stop()
        again = time.perf_counter()
        program.start()
        peer = time.perf_counter() - again
        return {"from_ready": settled - ready, "from_start": settled - started, "peer": peer}
    finally:
        program.stop()


def main() -> None:
    rounds: list[dict[str, float]] = []
    tries = 0
    with tempfile.TemporaryDirectory() as folder:
        while len(rounds) < ROUNDS and tries < MOST_TRIES:
            tries += 1
            if (row := measure(Path(folder) / f"data{tries}")) is not None:
                rounds.append(row)
    print(
        f"{'killed while writing':24}{'times':>6}{'target':>9}{'median':>9}{'worst':>9}{'start alone':>13}{'ratio':>8}"
    )
    result: dict[str, dict[str, float]] = {}
    peer = statistics.median(row["peer"] for row in rounds)
    for name, words in (("from_ready", "settled after ready"), ("from_start", "settled after start")):
        times = [row[name] for row in rounds]
        middle = statistics.median(times)
        result[name] = {
            "rounds": len(rounds),
            "tries": tries,
            "target_seconds": TARGET_SECONDS,
            "median_seconds": middle,
            "worst_seconds": max(times),
            "peer_seconds": peer,
            "ratio": middle / peer,
        }
        print(
            f"{words:24}{len(rounds):6}{TARGET_SECONDS:8.1f}s{middle:8.2f}s{max(times):8.2f}s{peer:12.2f}s"
            f"{middle / peer:8.2f}"
        )
    json.dump({"recovery": result}, sys.stdout)
    print()


if __name__ == "__main__":
    main()
