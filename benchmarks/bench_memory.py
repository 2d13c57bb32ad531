"""Measure the rules that a planning step gets: retrieval by fields against a plain Mem0 search.

Both use the same thousand constraints of one person, in the same run.

The store answers from SQL, and ``retrieve`` filters by the fields of the records. Mem0 gets the situation in words, as
from a planner without fields: the contents of that day, in each of the five languages of the constraints. The
constraints that a situation requires follow from the values that each constraint was drawn with. A third of them do
not say what they are about, and no words distinguish a must of that weekday from the others. Then the speed of the
index: constraints per second from the list in SQL into Mem0. Vectors are those of the local embedder. An embedder that
knows meaning would find more, and take longer.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from random import Random

from tests.factories.constraints import WEEK, context_of, version_of

from fateforger.adapters.memory.adapter import Mem0Memory
from fateforger.adapters.memory.vectors import Embedded, LocalNgrams
from fateforger.adapters.store.store import open_store
from fateforger.memory.retrieval import ConstraintQuery, build_queries, retrieve
from fateforger.memory.versions import Version
from fateforger.planning.plan import ET
from fateforger.workers.memory import Indexer

CONSTRAINTS, OTHERS = 1_000, 1_000
ROUNDS = 100
LIMITS = (20, 50, 200)
TARGET_MS = 15
USER = "U1"
MONDAY = date(2026, 3, 2)
TOPICS = {
    "M": ("meetings", "Besprechungen", "réunions", "совещания", "会議"),
    "DW": ("deep work", "konzentrierte Arbeit", "travail de fond", "работа без помех", "集中作業"),
    "C": ("the commute", "der Arbeitsweg", "le trajet", "дорога на работу", "通勤"),
    "H": ("habits", "Gewohnheiten", "habitudes", "привычки", "習慣"),
    "R": ("rest", "Erholung", "repos", "отдых", "休息"),
}
OPINIONS = ("never", "lieber nicht", "toujours", "только так", "必ず")
DISCONNECTED = ("my knee hurts", "das Kind schläft dann", "la voiture est en panne", "врач запретил", "電池が切れる")


@dataclass(frozen=True)
class Rule:
    """A constraint and what it was drawn with."""

    version: Version
    must: bool
    alive: bool
    days: tuple[str, ...]
    types: tuple[str, ...]

    def is_required(self, day: date, types: set[str]) -> bool:
        on_that_day = not self.days or WEEK[day.weekday()] in self.days
        return self.must and self.alive and on_that_day and (not self.types or not types.isdisjoint(self.types))


def draw_rule(random: Random, number: int) -> Rule:
    days = tuple(random.choice(((), random.sample(WEEK, 1), random.sample(WEEK, 3))))
    types = tuple(random.choice(((), random.sample(list(TOPICS), 1), random.sample(list(TOPICS), 1))))
    must, alive, language = random.random() < 0.1, random.random() < 0.7, random.randrange(5)
    about = TOPICS[types[0] if types else random.choice(list(TOPICS))][language]
    subject = about if random.random() < 0.67 else DISCONNECTED[language]
    expired = not alive and random.random() < 0.5
    version = version_of(
        f"c{number}",
        user=USER,
        name=f"{subject} ({number})",
        description=f"{subject}: {random.choice(OPINIONS)}, {number}",
        necessity="must" if must else random.choice(("should", "prefer")),
        status="declined" if not alive and not expired else "locked",
        end_date="2026-01-31" if expired else None,
        days_of_week=list(days),
        applies_event_types=list(types),
    )
    return Rule(version, must, alive, days, types)


def situations() -> list[tuple[date, tuple[str, ...]]]:
    sets = (("M",), ("DW", "M"), ("C", "H"), ("DW", "R", "H"))
    return [(MONDAY + timedelta(days=n), types) for n in range(7) for types in sets]


def in_words(day: date, types: tuple[str, ...]) -> str:
    return f"{day:%A}: {', '.join(word for kind in types for word in TOPICS[kind])}"


def queries(day: date, types: tuple[str, ...]) -> tuple[ConstraintQuery, ...]:
    return build_queries("REFINE", day, tuple(ET(kind) for kind in types))


def percentiles(times: list[float]) -> dict[str, float]:
    return {"p50": statistics.median(times), "p95": statistics.quantiles(times, n=20)[-1]}


async def measure_time(work: Callable[[], Awaitable[set[str]]]) -> tuple[float, float, set[str]]:
    """Return the milliseconds in wall clock and processor time, and the result."""
    started, busy = time.perf_counter(), time.process_time()
    found = await work()
    return (time.perf_counter() - started) * 1_000, (time.process_time() - busy) * 1_000, found


async def measure_recall(folder: Path) -> dict[str, object]:
    random = Random(7)
    rules = [draw_rule(random, number) for number in range(CONSTRAINTS)]
    store = open_store(folder / "state.db")
    memory = Mem0Memory(Embedded(folder / "qdrant"), LocalNgrams(), home=folder / "mem0")
    others = [version_of(f"c{n}", user=f"V{n % 20}", description=f"{TOPICS['M'][n % 5]} {n}") for n in range(OTHERS)]
    await store.constraints.write([rule.version for rule in rules], cause="bench")
    for person in range(20):
        await store.constraints.write(others[person::20], cause="bench")
    started = time.perf_counter()
    await memory.report()
    opening = time.perf_counter() - started
    started, busy = time.perf_counter(), time.process_time()
    await Indexer(store.constraints, memory).catch_up()
    indexing, working = time.perf_counter() - started, time.process_time() - busy

    async def by_fields(day: date, types: tuple[str, ...]) -> set[str]:
        versions = await store.constraints.of(USER)
        asked = context_of(USER, day, stage="REFINE", event_types=list(types))
        return {item.uid for item in retrieve(versions, asked, queries(day, types)).applicable}

    async def by_words(day: date, types: tuple[str, ...], limit: int) -> set[str]:
        return {item.uid for item in await memory.search(USER, in_words(day, types), limit=limit)}

    times: dict[str, list[float]] = {name: [] for name in ("fields", *(f"words, {limit}" for limit in LIMITS))}
    processor: dict[str, list[float]] = {name: [] for name in times}
    recalls: dict[str, list[float]] = {name: [] for name in times}
    asked = situations()
    await by_fields(*asked[0])
    for number in range(ROUNDS):
        day, types = asked[number % len(asked)]
        required = {rule.version.uid for rule in rules if rule.is_required(day, set(types))}
        ways = {"fields": partial(by_fields, day, types)}
        ways |= {f"words, {limit}": partial(by_words, day, types, limit) for limit in LIMITS}
        for name, work in ways.items():
            took, busy, found = await measure_time(work)
            times[name].append(took)
            processor[name].append(busy)
            recalls[name].append(len(required & found) / len(required))
    await memory.aclose()
    await store.aclose()
    ours = statistics.median(times["fields"])
    return {
        "constraints": CONSTRAINTS,
        "of_others": OTHERS,
        "target_p95_ms": TARGET_MS,
        "ms": percentiles(times["fields"]),
        "processor_ms": percentiles(processor["fields"]),
        "recall_of_required": statistics.mean(recalls["fields"]),
        "plain_mem0_search": {
            name: {
                "ms": percentiles(times[name]),
                "processor_ms": percentiles(processor[name]),
                "ratio_of_ours": ours / statistics.median(times[name]),
                "recall_of_required": statistics.mean(recalls[name]),
            }
            for name in times
            if name != "fields"
        },
        "index": {
            "first_opening_s": opening,
            "constraints_per_s": (CONSTRAINTS + OTHERS) / indexing,
            "processor_ms_each": working / (CONSTRAINTS + OTHERS) * 1_000,
        },
    }


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(asyncio.run(measure_recall(Path(folder))), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
