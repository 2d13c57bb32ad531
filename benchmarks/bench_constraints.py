"""Measure the cost of a query for the constraints of a day, in processor time.

1,000 constraints of one person in 3,000 versions, a tenth of them with a recurrence rule.

The peer, in the same run and taking turns with us, is the smallest correct query on the same values: the newest
version of each uid, five comparisons and a sort; no recurrence, no conditions, no reasons. ``Warm`` means that the
months of the query were queried before. ``Cold`` is the first query of a process.

From the store: the same person's 1,000 constraints out of an SQLite file, alone and next to 100,000 rows of 500
others. ``reading`` is the part of the store, ``whole`` the time until the applicable constraints are known, both in
processor time of all threads. ``wall`` is the whole in wall clock time, which other programs on the machine lengthen.
``After a write`` means that another process added a version since the last query. ``First`` is the first query after
opening, when rows are read.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from sqlalchemy import Connection, insert
from tests.factories.constraints import KINDS, RULES, STAGES, TYPES, WEEK, version_of

from fateforger.adapters.store.constraints import VERSION, build_version_row
from fateforger.adapters.store.store import Store, open_store
from fateforger.memory.applicability import Context, decide_applicability
from fateforger.memory.documents import read_context, write_answer
from fateforger.memory.versions import Version

ROUNDS = 400
CONSTRAINTS = 1_000
TARGET_MS = 5
FOREIGN, PEOPLE = 100_000, 500
STORE_TARGET_MS = 15
STORE_ROUNDS = 200


def history() -> list[Version]:
    random = Random(5)
    versions: list[Version] = []
    for number in range(CONSTRAINTS):
        for version in range(3):
            begin = date(2020, 1, 1) + timedelta(days=random.randrange(2_200))
            versions.append(
                version_of(
                    f"c{number}",
                    seq=len(versions),
                    at=(
                        datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=random.randrange(1_000) + version)
                    ).isoformat(),
                    necessity=random.choice(("must", "should", "should", "prefer", "prefer")),
                    confidence=random.random(),
                    start_date=begin.isoformat(),
                    end_date=random.choice((None, None, (begin + timedelta(days=2_000)).isoformat())),
                    days_of_week=random.choice(([], [], random.sample(WEEK, 4))),
                    recurrence=random.choice(RULES) if random.random() < 0.1 else None,
                    rule_kind=random.choice(KINDS),
                    ttl_days=random.choice((None, None, 60)),
                    supersedes_uids=[f"c{random.randrange(CONSTRAINTS)}"] if random.random() < 0.05 else [],
                    applies_stages=random.choice(([], random.sample(STAGES, 3))),
                    applies_event_types=random.choice(([], random.sample(TYPES, 4))),
                )
            )
    random.shuffle(versions)
    return versions


def contexts() -> list[Context]:
    days = [date(2026, 3, 1) + timedelta(days=n) for n in range(30)]
    asked = {"user_id": "U1", "stage": "REFINE", "event_types": ["DW", "M"], "k": 50, "timezone": "Europe/Amsterdam"}
    return [read_context({**asked, "as_of": day.isoformat(), "now": "2026-03-31T12:00:00Z"}) for day in days]


def least(versions: Sequence[Version], context: Context) -> int:
    newest: dict[str, Version] = {}
    for version in versions:
        uid = version.uid
        if uid not in newest or newest[uid].updated_at < version.updated_at:
            newest[uid] = version
    kept = []
    for version in newest.values():
        record, when = version.record, version.record.applicability
        types = record.applies_event_types
        if (
            record.status != "declined"
            and (when.start_date is None or when.start_date <= context.day)
            and (when.end_date is None or context.day <= when.end_date)
            and (not when.days_of_week or WEEK[context.day.weekday()] in when.days_of_week)
            and (not record.applies_stages or "REFINE" in record.applies_stages)
            and (not types or "DW" in types or "M" in types)
        ):
            kept.append(version)
    return len(sorted(kept, key=lambda version: (version.record.necessity.weakness, -(version.record.confidence or 0))))


def measure_pair(work: Callable[[int], object], peer: Callable[[int], object]) -> tuple[list[float], list[float]]:
    ours: list[float] = []
    theirs: list[float] = []
    for number in range(ROUNDS):
        for times, which in ((ours, work), (theirs, peer)):
            started = time.process_time()
            which(number)
            times.append((time.process_time() - started) * 1_000)
    return ours, theirs


def percentiles(times: list[float]) -> dict[str, float]:
    return {"p50": statistics.median(times), "p95": statistics.quantiles(times, n=20)[-1]}


def first_question() -> float:
    """Return the milliseconds of the first query of a process, which reads recurrence rules for the first time."""
    versions, asked = history(), contexts()[0]
    started = time.process_time()
    decide_applicability(versions, asked)
    return (time.process_time() - started) * 1_000


async def from_store(versions: Sequence[Version], asked: Sequence[Context]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.db"
        store = open_store(path)
        await store.constraints.write(sorted(versions, key=lambda version: version.seq), cause="bench")
        alone = await _asked_again_and_again(path, asked)
        await store.database.write(lambda connection: _foreign(connection, versions))
        beside = await _asked_again_and_again(path, asked)
        await store.aclose()
    return {
        "target_p95_ms": STORE_TARGET_MS,
        "alone": alone,
        f"beside_{FOREIGN}_rows_of_others": beside,
        "ratio": beside["warm_ms"]["whole"]["p50"] / alone["warm_ms"]["whole"]["p50"],
    }


async def _asked_again_and_again(path: Path, asked: Sequence[Context]) -> dict[str, Any]:
    reader, writer = open_store(path), open_store(path)
    first = await _measure_query(reader, asked[0])
    warm = [await _measure_query(reader, asked[n % len(asked)]) for n in range(STORE_ROUNDS)]
    after = []
    for n in range(STORE_ROUNDS // 4):
        written = version_of(f"new{n}", at="2026-03-01T00:00:00Z")
        await writer.constraints.write([written], cause=f"{time.time_ns()}")
        after.append(await _measure_query(reader, asked[n % len(asked)]))
    for store in (reader, writer):
        await store.aclose()
    return {"first_ms": first["whole"], "warm_ms": _each(warm), "after_a_write_ms": _each(after)}


async def _measure_query(store: Store, context: Context) -> dict[str, float]:
    processor, wall = time.process_time(), time.perf_counter()
    versions = await store.constraints.of("U1")
    reading = time.process_time() - processor
    decide_applicability(versions, context)
    whole, seen = time.process_time() - processor, time.perf_counter() - wall
    return {"reading": reading * 1_000, "whole": whole * 1_000, "wall": seen * 1_000}


def _each(asked: Sequence[dict[str, float]]) -> dict[str, dict[str, float]]:
    return {name: percentiles([times[name] for times in asked]) for name in asked[0]}


def _foreign(connection: Connection, versions: Sequence[Version]) -> None:
    """Write the same kind of rows for other people."""
    for begin in range(0, FOREIGN, 5_000):
        rows = []
        for n in range(begin, begin + 5_000):
            version = versions[n % len(versions)].model_copy(update={"user_id": f"U1{n % PEOPLE}"})
            rows.append(build_version_row(version, f"foreign {n}", 0).model_dump(exclude={"seq"}))
        connection.execute(insert(VERSION), rows)


def main() -> int:
    if "--cold" in sys.argv:
        print(first_question())
        return 0
    cold = float(
        subprocess.run([sys.executable, "-m", __spec__.name, "--cold"], check=True, capture_output=True).stdout
    )
    versions, asked = history(), contexts()
    for context in asked:
        decide_applicability(versions, context)
    ours, theirs = measure_pair(
        lambda n: decide_applicability(versions, asked[n % len(asked)]),
        lambda n: least(versions, asked[n % len(asked)]),
    )
    explained, _ = measure_pair(
        lambda n: write_answer(decide_applicability(versions, asked[n % len(asked)])), lambda _: None
    )
    result = {
        "constraints": CONSTRAINTS,
        "versions": len(versions),
        "target_p95_ms": TARGET_MS,
        "ms": percentiles(ours),
        "peer_ms": percentiles(theirs),
        "ratio": statistics.median(ours) / statistics.median(theirs),
        "with_the_whole_explanation_as_json_ms": percentiles(explained),
        "first_question_ms": cold,
        "from_the_store": asyncio.run(from_store(versions, asked)),
    }
    print(json.dumps(result, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
