"""Measure the cost of one planned day: processor time, calls, transactions, and bytes kept.

A person presses through a day from ``/timebox`` to the commit, several days one after another, in the real program with
its stand-ins: their processor time is in the sum, so it is an upper bound. Calls and bytes are exact. The first day is
not counted, and what the idle program costs meanwhile is taken off.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import httpx
import psycopg
from prometheus_client.parser import text_string_to_metric_families
from tests.postgres import programs, running_server
from tests.scenarios.day import STEPS
from tests.scenarios.program import Program
from tests.scenarios.radicale import free_port

DAYS = 3
IDLE_SECONDS = 5.0
CLICKS = len(STEPS)
COUNTED = {
    "processor_s": "process_cpu_seconds_total",
    "slack_calls": "fateforger_slack_calls_total",
    "calendar_calls": "fateforger_calendar_calls_total",
    "turns": "fateforger_turn_seconds_count",
}


def read_figures(port: int) -> dict[str, float]:
    """Return the sums of the figures over their labels; resident memory as it is."""
    text = httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False).text
    samples = [s for family in text_string_to_metric_families(text) for s in family.samples]
    found = {name: sum(s.value for s in samples if s.name == figure) for name, figure in COUNTED.items()}
    return {**found, "memory_mb": sum(s.value for s in samples if s.name == "process_resident_memory_bytes") / 1e6}


def read_sqlite(database: Path) -> dict[str, float]:
    """Return the bytes in use in the database."""
    with closing(sqlite3.connect(database)) as connection:
        pages, free, size = (
            connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
        return {"kilobytes": (pages - free) * size / 1000}


def read_postgres(url: str) -> dict[str, float]:
    """Return the size of the database, and the transactions that it has committed."""
    with psycopg.connect(url) as connection:
        connection.execute("SELECT pg_stat_force_next_flush()")
        size, commits = connection.execute(
            "SELECT pg_database_size(datname), xact_commit FROM pg_stat_database WHERE datname = current_database()"
        ).fetchone() or (0, 0)
        return {"kilobytes": size / 1000, "transactions": commits}


def measure(folder: Path, url: str | None = None) -> dict[str, float]:
    port = free_port()
    asked = {"FATEFORGER_OPS_PORT": str(port), "FATEFORGER_NOW": "2026-03-02T07:00:00+01:00"}
    program = Program(folder / "data", asked if url is None else {**asked, "FATEFORGER_DATABASE_URL": url}).start()

    def read() -> dict[str, float]:
        stored = read_sqlite(program.data / "fateforger.db") if url is None else read_postgres(url)
        return {**read_figures(port), **stored, "seconds": time.monotonic()}

    try:
        person = program.person()

        def plan(number: int) -> None:
            assert person.slash("/timebox", f"2026-03-{2 + number:02}") == {"ok": True}
            person.reads("Plan this day")
            for _, step in STEPS[1:]:
                step(person)

        plan(0)
        idle = read()
        time.sleep(IDLE_SECONDS)  # the measure itself
        before = read()
        for number in range(1, DAYS + 1):
            plan(number)
        after = read()
    finally:
        program.kill()
    seconds = after.pop("seconds") - before["seconds"]
    memory = after.pop("memory_mb")
    rest = {name: (before[name] - idle[name]) / (before["seconds"] - idle["seconds"]) for name in after}
    costs = {name: (after[name] - before[name] - rest[name] * seconds) / DAYS for name in after}
    idle_costs = {f"idle_{name}_a_second": rest[name] for name in ("processor_s", "transactions") if name in rest}
    return {**costs, **idle_costs, "memory_mb": memory}


def report(where: str, costs: dict[str, float]) -> None:
    print(f"a day of {CLICKS} clicks on {where}, without a language model:")
    for name, value in costs.items():
        print(f"  {name:<30}{value:10.2f}")


def main() -> int:
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        found["sqlite"] = measure(Path(folder))
        report("SQLite", found["sqlite"])
    installed = programs()
    if installed is not None:
        with (
            tempfile.TemporaryDirectory() as folder,
            running_server(installed) as server,
            server.bare_database() as url,
        ):
            found["postgres"] = measure(Path(folder), url)
        report("PostgreSQL", found["postgres"])
    print(json.dumps({"day": found}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
