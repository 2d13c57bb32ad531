"""Measure the cost of a grown database: each round of background work, ``/livez``, memory, and a turn.

First, with 20,000 sessions of 1,000 people, the processor time of rounds: after a start, when nothing is known yet,
until they have caught up, and later. Then, with a million sessions, the same click in that database and in an empty
one, by turns; the ratio within this run has a limit. ``--postgres`` measures the turns on PostgreSQL as well. A
database of a million takes 5 GB of the disk for some minutes.

The calendars of this benchmark answer at once, because it is the store that is measured.
"""

from __future__ import annotations

import asyncio
import json
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock_time
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import text
from starlette.applications import Starlette
from starlette.routing import Route
from tests.contracts.session_examples import session as example
from tests.factories.constraints import version_of
from tests.fakes.google_calendar import GoogleCalendarFake
from tests.fakes.manual_clock import ManualClock
from tests.fakes.one_calendar import OneCalendar
from tests.fakes.scripted_model import ScriptedModel
from tests.postgres import programs, running_server
from tests.unit.conversation.person import Harness, open_harness_at

from benchmarks.bench_turn import Day, answers
from fateforger.adapters.store.store import metadata, open_store
from fateforger.app.ops import Operations
from fateforger.app.web import WebServer
from fateforger.calendar.model import Ledger, Snapshot
from fateforger.cli.program import exempt_loaded_objects
from fateforger.conversation.calendar_watch import Watcher
from fateforger.conversation.rituals.schedule import RitualSettings
from fateforger.conversation.session_messages import SessionCloser
from fateforger.conversation.turn_runs import warm_up
from fateforger.session.model import WriteCounts
from fateforger.session.stages import TimeboxingStage
from fateforger.workers.memory import TidyScheduler

PEOPLE, DAYS, ACTIVE = 1_000, 20, 1_000
MILLION = 1_000_000
FIRST = 1_000_000
"""The number of the first session, so that the ids of all are in order."""
TURNS, WARM_UP = 30, 4
NEVER = datetime(1969, 1, 1, tzinfo=UTC)
MOST_ROUND_MS, MOST_LIVE_MS, MOST_MB, MOST_RATIO = 200.0, 20.0, 500.0, 1.3


def build_quiet_day(day: date, tz: str) -> Snapshot:
    return Snapshot(day=day, tz=tz, events=())


@dataclass(frozen=True, slots=True)
class RoundCosts:
    """Milliseconds of processor time of each round: until they have caught up, and later."""

    first: list[float]
    later: list[float]

    @property
    def most(self) -> float:
        return max(self.first + self.later)


@dataclass(frozen=True, slots=True)
class QuietCalendar:
    """A calendar on which nothing happens."""

    writing: bool = False

    async def read(self, day: date, tz: str) -> tuple[Snapshot, Ledger]:
        return build_quiet_day(day, tz), Ledger()

    async def late(self) -> tuple[str, ...]:
        return ()


_COPY = """
INSERT INTO planning_session
    (id, version, user_id, channel, touched_at, schema_version, session, day, tz, status, stage, written, judged)
SELECT 'copy' || n, 1, 'U' || (n % {people}), 'D' || (n % {people}), {touched}, schema_version,
    replace(replace(session, '"id":"' || id || '"', '"id":"copy' || n || '"'), 'USAMPLE', 'U' || (n % {people})),
    day, tz, {status}, stage, {written}, 1
FROM planning_session, ({numbers}) AS numbers
WHERE planning_session.id = 'sample{age}'
"""
_SQLITE_NUMBERS = (
    "WITH RECURSIVE counted(n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM counted WHERE n < {last}) "
    "SELECT n FROM counted"
)
_NUMBERS = "SELECT generate_series({first}, {last}) AS n"


async def write_sql(harness: Harness, statement: str) -> None:
    await harness.store.database.write(lambda connection: connection.execute(text(statement)))


def number_rows(harness: Harness, first: int, last: int) -> str:
    """Return the query for the numbers from ``first`` to ``last``, named ``n``."""
    is_sqlite = harness.store.database.engine.dialect.name == "sqlite"
    return (_SQLITE_NUMBERS if is_sqlite else _NUMBERS).format(first=first, last=last)


async def make_samples(harness: Harness) -> None:
    """Store one session of each of the last days."""
    now = harness.clock.now()
    for age in range(DAYS):
        day = now.date() - timedelta(days=age)
        sample = example(f"sample{age}", user_id="USAMPLE", date=day, stage=TimeboxingStage.REVIEW_COMMIT)
        kept = sample.after_command("c", now - timedelta(days=40)).with_sync(written=WriteCounts(created=3))
        kept = kept.with_day(snapshot=build_quiet_day(day, sample.tz))
        await harness.store.sessions.save(kept, expected=0)


async def fill(harness: Harness, count: int, *, active: int = 0) -> None:
    """Store sessions of many people by SQL: copies of the samples. The first ``active`` are in use."""
    instant, day, share = int(harness.clock.now().timestamp() * 1e6), 86_400_000_000, count // DAYS
    for age in range(DAYS):
        begin = FIRST + age * share
        in_use = f"n < {FIRST + active}"
        statement = _COPY.format(
            people=PEOPLE,
            age=age,
            touched=f"CASE WHEN {in_use} THEN {instant} - n * 1000 ELSE {instant} - {day} * {age + 1} - n END",
            status=f"CASE WHEN {in_use} OR n % 5 = 0 THEN 'active' ELSE 'cancelled' END",
            written=f"CASE WHEN {in_use} THEN 'yes' ELSE 'returned' END",
            numbers=number_rows(harness, begin, begin + share - 1),
        )
        await write_sql(harness, statement)


async def fill_people(harness: Harness) -> None:
    """Give each person a rule, messages at chosen times and an App Home: copies of the first person's."""
    settings = RitualSettings(
        user_id="U0",
        morning=clock_time(8),
        at_end=True,
        channel="D0",
        tz="Europe/Amsterdam",
        since=harness.clock.now(),
    )
    await harness.store.constraints.write([version_of("rule0", user="U0")], cause="rule 0")
    await harness.store.rituals.change("U0", lambda _before: settings)
    await harness.store.homes.open("U0")
    numbers = number_rows(harness, 1, PEOPLE - 1)
    for name in ("constraint_version", "ritual", "home"):
        columns = [column for column in metadata.tables[name].c if column.name != "seq"]
        values = [_COPIED.get(column.name, column.name) for column in columns]
        into = f"INSERT INTO {name} ({', '.join(column.name for column in columns)})"
        await write_sql(
            harness, f"{into} SELECT {', '.join(values)} FROM {name}, ({numbers}) AS numbers WHERE user_id = 'U0'"
        )


_COPIED = {
    "user_id": "'U' || n",
    "uid": "'rule' || n",
    "cause": "'rule ' || n",
    "record": "replace(record, 'rule0', 'rule' || n)",
    "settings": "replace(settings, 'U0', 'U' || n)",
}
"""Columns in which a person's rows differ from those of the first person."""


def build_rounds(harness: Harness) -> dict[str, Callable[[], Awaitable[object]]]:
    store, clock = harness.store, harness.clock
    calendars = OneCalendar(harness.submitter, QuietCalendar())
    watcher = Watcher(sessions=store.sessions, jobs=store.jobs, calendars=calendars, clock=clock)
    return {
        "watching": watcher.run_once,
        "closing": SessionCloser(store.sessions, store.jobs, clock).run_once,
        "missed days": harness.return_leftovers,
        "waiting tasks": harness.check_waiting_tasks,
        "rituals": harness.rituals.send_due,
        "tidying": TidyScheduler(store.constraints, store.sessions, store.jobs, clock, tz="Etc/UTC").run_once,
        "pruning": lambda: store.retention.prune(now=clock.now()),
        "homes, looking": lambda: store.homes.claim_due(NEVER, until=NEVER),
        "outbox": lambda: store.outbox.pending(now=clock.now()),
        "resuming": harness.coordinator.resume,
    }


async def iter_costs(work: Callable[[], Awaitable[object]]) -> AsyncIterator[float]:
    """Yield the milliseconds of processor time of each round, in all threads, until nothing is left over."""
    left_over = True
    while left_over:
        began = time.process_time()
        left_over = await work() is True
        yield (time.process_time() - began) * 1000


async def measure_rounds(harness: Harness) -> dict[str, RoundCosts]:
    """Measure the rounds until they have caught up, and three more."""
    return {
        name: RoundCosts([ms async for ms in iter_costs(work)], [ms for _ in range(3) async for ms in iter_costs(work)])
        for name, work in build_rounds(harness).items()
    }


async def measure_live(harness: Harness) -> float:
    """Return the median milliseconds of 20 answers of ``/livez``."""
    server = WebServer("127.0.0.1", 0, any_host=True)
    await server.start(Starlette(routes=[Route("/livez", Operations(harness.store, harness.clock)._live)]))  # noqa: SLF001  the route alone
    took = []
    try:
        async with httpx.AsyncClient(trust_env=False) as client:
            for _ in range(20):
                began = time.perf_counter()
                assert (await client.get(f"{server.url}/livez")).status_code == 200
                took.append((time.perf_counter() - began) * 1000)
    finally:
        await server.stop()
    return statistics.median(took)


async def compare_turns(full: Harness, empty: Harness) -> tuple[float, float]:
    """Return the median milliseconds of a click in the full database and in the empty one, turn by turn."""
    days = [Day(harness, ScriptedModel(by=answers)) for harness in (full, empty)]
    for day in days:
        await day.to_tasks()
    took: tuple[list[float], list[float]] = ([], [])
    for _ in range(TURNS + WARM_UP):
        for day, times in zip(days, took, strict=True):
            times.append(await day.click())
    one, other = (statistics.median(times[WARM_UP:]) for times in took)
    return one, other


async def compare_in(folder: Path, name: str, where: tuple[str, str] | None = None) -> dict[str, Any]:
    """Fill a database, and compare its turns with those of an empty one."""
    houses = []
    for n, part in enumerate(("full", "empty")):
        (folder / part).mkdir()
        harness = await open_harness_at(folder / part)
        if where is not None:
            await harness.close()
            harness = Harness(open_store(where[n]), GoogleCalendarFake(), ManualClock())
        houses.append(harness)
    await make_samples(houses[0])
    await fill(houses[0], MILLION)
    if where is not None:
        await write_sql(houses[0], "ANALYZE")  # as PostgreSQL does by itself within a minute
    full, empty = await compare_turns(*houses)
    for harness in houses:
        await harness.close()
    ratio = full / empty
    print(f"{name}: a click with {MILLION:,} sessions {full:.1f} ms, with none {empty:.1f} ms, ratio {ratio:.2f}")
    return {"full_ms": full, "empty_ms": empty, "ratio": ratio}


async def run() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        harness = await open_harness_at(Path(folder))
        await make_samples(harness)
        await fill(harness, PEOPLE * DAYS, active=ACTIVE)
        await fill_people(harness)
        warm_up()
        exempt_loaded_objects()
        live = await measure_live(harness)
        rounds = await measure_rounds(harness)
        await harness.close()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{PEOPLE * DAYS:,} sessions of {PEOPLE:,} people, {ACTIVE:,} in use; processor time of rounds in ms")
    for name, costs in rounds.items():
        first = f"{len(costs.first):3} until it has caught up, {sum(costs.first):6.0f} in all"
        print(f"  {name:18}{first}, {costs.most:4.0f} at most, then {statistics.median(costs.later):4.0f}")
    print(f"/livez {live:.1f} ms, peak memory {memory:.0f} MB")
    with tempfile.TemporaryDirectory() as folder:
        turns = {"sqlite": await compare_in(Path(folder), "SQLite")}
    if "--postgres" in sys.argv:
        turns["postgresql"] = await compare_on_postgres()
    most = {name: costs.most for name, costs in rounds.items()}
    print(json.dumps({"growth": {"rounds_ms": most, "live_ms": live, "memory_mb": memory, "turns": turns}}))
    kept = max(most.values()) <= MOST_ROUND_MS and live <= MOST_LIVE_MS and memory <= MOST_MB
    return kept and all(each["ratio"] <= MOST_RATIO for each in turns.values())


async def compare_on_postgres() -> dict[str, Any]:
    found = programs()
    if found is None:
        raise SystemExit("PostgreSQL is not installed")
    with (
        running_server(found) as server,
        server.database() as full,
        server.database() as empty,
        tempfile.TemporaryDirectory() as name,
    ):
        return await compare_in(Path(name), "PostgreSQL", (full, empty))


if __name__ == "__main__":
    sys.exit(0 if asyncio.run(run()) else 1)
