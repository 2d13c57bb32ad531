"""Measure how long people wait for their cards while many plan at once with two programs on one PostgreSQL.

Sixty people press three buttons each within ten seconds, and then write something. The workspace refuses calls as
Slack's documentation says; the chat side is the real one, each in a process of its own; the planner answers at once.
Times are from the click to the answer in the thread; acknowledgements are what the workspace waits for.
With ``--throughput`` eight people press without a pause instead, without limits, with one, two and four programs. All
share this machine's cores with the workspace and the database, so the cost of an answer says more than its time.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
from tests.postgres import programs, running_server
from tests.scenarios.chat import Person, eventually, workspace_at
from tests.scenarios.replica import LIMITED, replica

from benchmarks.bench_limits import CLICKS, PEOPLE, SECONDS
from benchmarks.processor import find_server, read_processor_seconds
from localslack import Workspace
from localslack.people import WorkspaceUser

IDLE_SECONDS = 5.0
TARGETS = {"median": 2.0, "p95": 6.0, "share_429": 0.01, "ack_p95": 0.3, "above": 0}


@dataclass(frozen=True, slots=True)
class Load:
    """Clicks of each person within ``seconds``; with 0, each presses again as soon as the answer is there."""

    people: int = PEOPLE
    clicks: int = CLICKS
    seconds: float = SECONDS
    limits: bool = True


@dataclass
class Calls:
    """Counts what the workspace is asked for, and how much of it is refused."""

    made: int = 0
    refused: int = 0

    def watch(self, workspace: Workspace) -> None:
        """Count from here on."""
        limits = workspace.limits
        if limits is None:
            return
        take = limits.take

        def count(method: str, channel: str) -> int | None:
            late = take(method, channel)
            self.made += 1
            self.refused += late is not None
            return late

        limits.take = count  # type: ignore[method-assign]  # to look on


@dataclass(frozen=True, slots=True)
class Used:
    """Seconds on the clock, processor seconds, and transactions of a database."""

    seconds: float
    programs: float
    workspace: float
    database: float
    transactions: float
    undone: float

    def combine(self, other: Used, factor: float) -> Used:
        """Return the sum of this and ``factor`` times another."""
        return Used(*(mine + factor * theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))

    def describe(self) -> dict[str, float]:
        """Return milliseconds of processor time, and transactions."""
        times = {"programs_ms": self.programs, "workspace_ms": self.workspace, "database_ms": self.database}
        counts = {"transactions": self.transactions, "undone": self.undone}
        return {name: round(seconds * 1000, 1) for name, seconds in times.items()} | {
            name: round(count, 1) for name, count in counts.items()
        }


class Costs:
    """Measures what programs, workspace and database spend, less what they spend while they are idle."""

    def __init__(self, database: str, programs: Sequence[int]) -> None:
        self._database, self._programs, self._server = database, programs, find_server(database)
        self._idle = Used(0, 0, 0, 0, 0, 0)
        self._before = self._read()

    async def watch_idle(self) -> None:
        """Measure for some seconds what is spent while nothing happens; then begin."""
        await asyncio.sleep(IDLE_SECONDS)  # the measure itself
        spent = self._read().combine(self._before, -1)
        self._idle = Used(0, 0, 0, 0, 0, 0).combine(spent, 1 / spent.seconds)
        self._before = self._read()

    def find_each(self, count: int) -> dict[str, float]:
        """Return the cost since then, divided by ``count``."""
        spent = self._read().combine(self._before, -1)
        busy = spent.combine(self._idle, -spent.seconds)
        return Used(0, 0, 0, 0, 0, 0).combine(busy, 1 / count).describe()

    def _read(self) -> Used:
        with psycopg.connect(self._database) as connection:
            row = connection.execute(_TRANSACTIONS).fetchone()
        assert row is not None
        spent = sum(map(read_processor_seconds, self._programs))
        return Used(time.perf_counter(), spent, time.process_time(), read_processor_seconds(self._server), *row)


_TRANSACTIONS = "SELECT xact_commit, xact_rollback FROM pg_stat_database WHERE datname = current_database()"


async def measure(folder: Path, database: str, load: Load, *, programs: int) -> dict[str, Any]:
    users = list_users(load.people)
    acks: list[float] = []
    calls = Calls()
    async with workspace_at(folder, users=users, limits=load.limits) as workspace, AsyncExitStack() as stack:
        calls.watch(workspace)
        kept = LIMITED if load.limits else ""
        url = workspace.config.public_url
        running = [
            await stack.enter_async_context(replica(url, database, f"replica {n}", limits=kept))
            for n in range(programs)
        ]
        people = [Person(workspace, user.id, http=open_client()) for user in users]
        roots = [await person.start() for person in people]
        costs = Costs(database, [program.pid for program in running])
        await costs.watch_idle()
        began = time.perf_counter()
        pressing = [click_through(*pair, n, load, acks) for n, pair in enumerate(zip(people, roots, strict=True))]
        taken = await asyncio.gather(*pressing)
        took = time.perf_counter() - began
        each_cost = costs.find_each(load.people * load.clicks)
        below = await asyncio.gather(*map(is_answered_below, people, roots))
    times = [each for answers in taken for each in answers]
    return {
        "programs": programs,
        "answers": len(times),
        "answers_a_second": round(len(times) / took, 1),
        "median": round(statistics.median(times), 2),
        "p95": round(statistics.quantiles(times, n=20)[-1], 2),
        "longest": round(max(times), 2),
        "ack_median": round(statistics.median(acks), 3),
        "ack_p95": round(statistics.quantiles(acks, n=20)[-1], 3),
        "above": below.count(False),
        "of an answer": each_cost,
        "calls": calls.made,
        "share_429": round(calls.refused / max(calls.made, 1), 4),
    }


def list_users(count: int) -> tuple[WorkspaceUser, ...]:
    """Return people for a workspace."""
    return tuple(
        WorkspaceUser(f"U{n:04d}", f"p{n}", f"Person {n}", "Etc/UTC", f"p{n}@example.com") for n in range(count)
    )


def open_client() -> httpx.AsyncClient:
    """Return a client that reuses no connection, because the workspace may be closing it."""
    return httpx.AsyncClient(timeout=60, trust_env=False, limits=httpx.Limits(max_keepalive_connections=0))


async def click_through(person: Person, root: str, place: int, load: Load, acks: list[float]) -> list[float]:
    """Press the button of the newest card again and again; return the seconds until each answer."""
    taken = []
    loop = asyncio.get_running_loop()
    began = loop.time()
    card = await person.sees(root, "Count")
    for click in range(1, load.clicks + 1):
        due = began + load.seconds * (click - 1 + place / load.people) / load.clicks
        await asyncio.sleep(max(0.0, due - loop.time()))
        pressed = time.perf_counter()
        await person.use(card, "Count")
        acks.append(time.perf_counter() - pressed)

        async def look(clicks: int = click) -> dict[str, Any] | None:
            await asyncio.sleep(0.2)  # sixty people who look all the time would be what is measured
            return next((m for m in await person.thread(root) if str(m).count("• count one") >= clicks), None)

        card = await eventually(look, f"answer {click}", deadline=300)
        taken.append(time.perf_counter() - pressed)
    return taken


async def is_answered_below(person: Person, root: str) -> bool:
    """Write something, and check that its answer is the last message of the thread."""
    await person.say("and now this", root)
    await person.sees(root, "• and now this")
    return "• and now this" in str((await person.thread(root))[-1])


def main() -> int:
    found = programs()
    if found is None:
        print("PostgreSQL is not installed; nothing is measured")
        return 0
    throughput = "--throughput" in sys.argv
    load = Load(people=8, clicks=10, seconds=0.0, limits=False) if throughput else Load()
    figures = []
    with running_server(found) as server:
        for count in (1, 2, 4) if throughput else (2,):
            with server.database() as database, tempfile.TemporaryDirectory() as folder:
                figures.append(asyncio.run(measure(Path(folder), database, load, programs=count)))
            print(json.dumps(figures[-1], indent=2), flush=True)
    print(json.dumps({"cores": os.cpu_count(), "targets": TARGETS}))
    kept = all(each[name] <= target for each in figures for name, target in TARGETS.items())
    return 0 if throughput or kept else 1


if __name__ == "__main__":
    sys.exit(main())
