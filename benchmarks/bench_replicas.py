"""Measure how long people wait for their cards while many plan at once with two programs on one PostgreSQL.

Sixty people press three buttons each within ten seconds, and then write something. The workspace refuses calls as
Slack's documentation says; the chat side is the real one, each in a process of its own; the planner answers at once.
Times are from the click to the answer in the thread; acknowledgements are what the workspace waits for.
``--throughput`` has them press without a pause instead, with one, two and four programs; all share this machine's cores
with the workspace and the database.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from tests.postgres import programs, running_server
from tests.scenarios.chat import Person, eventually, workspace_at
from tests.scenarios.replica import replica

from benchmarks.bench_limits import CLICKS, PEOPLE, SECONDS
from localslack import Workspace
from localslack.people import WorkspaceUser

TARGETS = {"median": 2.0, "p95": 6.0, "share_429": 0.01, "ack_p95": 0.3, "above": 0}


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


async def measure(folder: Path, database: str, *, programs: int, limits: bool, seconds: float) -> dict[str, Any]:
    users = [WorkspaceUser(f"U{n:04d}", f"p{n}", f"Person {n}", "Etc/UTC", f"p{n}@example.com") for n in range(PEOPLE)]
    acks: list[float] = []
    calls = Calls()
    async with workspace_at(folder, users=tuple(users), limits=limits) as workspace, AsyncExitStack() as stack:
        calls.watch(workspace)
        for n in range(programs):
            await stack.enter_async_context(replica(workspace.config.public_url, database, f"replica {n}"))
        people = [Person(workspace, user.id, http=open_client()) for user in users]
        roots = [await person.start() for person in people]
        began = time.perf_counter()
        starts = [(person, root, n / PEOPLE) for n, (person, root) in enumerate(zip(people, roots, strict=True))]
        pressing = [click_through(*start, seconds, acks) for start in starts]
        taken = await asyncio.gather(*pressing)
        took = time.perf_counter() - began
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
        "calls": calls.made,
        "share_429": round(calls.refused / max(calls.made, 1), 4),
    }


def open_client() -> httpx.AsyncClient:
    """Return a client that never uses a connection which the workspace is about to close."""
    return httpx.AsyncClient(timeout=60, trust_env=False, limits=httpx.Limits(keepalive_expiry=2))


async def click_through(person: Person, root: str, place: float, seconds: float, acks: list[float]) -> list[float]:
    """Press the button of the newest card three times; return the seconds until each answer."""
    taken = []
    loop = asyncio.get_running_loop()
    began = loop.time()
    card = await person.sees(root, "Count")
    for click in range(1, CLICKS + 1):
        await asyncio.sleep(max(0.0, began + seconds * (click - 1 + place) / CLICKS - loop.time()))
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
    figures = []
    with running_server(found) as server:
        for count in (1, 2, 4) if throughput else (2,):
            with server.database() as database, tempfile.TemporaryDirectory() as folder:
                how: dict[str, Any] = {"limits": not throughput, "seconds": 0.0 if throughput else SECONDS}
                figures.append(asyncio.run(measure(Path(folder), database, programs=count, **how)))
    print(json.dumps({"cores": os.cpu_count(), "targets": TARGETS, "measured": figures}, indent=2))
    kept = all(each[name] <= target for each in figures for name, target in TARGETS.items())
    return 0 if throughput or kept else 1


if __name__ == "__main__":
    sys.exit(main())
