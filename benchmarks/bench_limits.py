"""Measure the time that people wait for their cards while many plan at once and Slack enforces its limits.

Sixty people press three buttons each within ten seconds. The workspace refuses calls as Slack's documentation says,
the chat side is the real one, and the planner answers at once, so that Slack's limits alone decide. The peer, in the
same run, is a workspace without limits. Times are from the click to the answer in the thread.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from prometheus_client import REGISTRY
from tests.scenarios.chat import Person, chat_at, eventually, workspace_at

from localslack.people import WorkspaceUser

PEOPLE = 60
CLICKS = 3
SECONDS = 10.0
TARGETS = {"median": 2.0, "p95": 6.0, "share_429": 0.01}


async def measure(folder: Path, *, limits: bool) -> dict[str, Any]:
    users = [WorkspaceUser(f"U{n:04d}", f"p{n}", f"Person {n}", "Etc/UTC", f"p{n}@example.com") for n in range(PEOPLE)]
    before, waited = count_calls(), count_waits()
    async with workspace_at(folder, users=tuple(users), limits=limits) as workspace:
        unlimited: dict[str, Any] = {"unlimited": frozenset()} if limits else {}
        async with chat_at(workspace, folder, changes=unlimited):
            people = [Person(workspace, user.id) for user in users]
            roots = [await person.start() for person in people]
            taken = await asyncio.gather(*map(click_through, people, roots, range(PEOPLE)))
    seconds = [each for took in taken for each in took]
    calls = {code: count - before.get(code, 0) for code, count in count_calls().items()}
    return {
        "answers": len(seconds),
        "median": round(statistics.median(seconds), 2),
        "p95": round(statistics.quantiles(seconds, n=20)[-1], 2),
        "longest": round(max(seconds), 2),
        "calls": sum(calls.values()),
        "share_429": round(calls.get("ratelimited", 0) / sum(calls.values()), 4),
        "seconds of waiting": {
            method: round(seconds - waited.get(method, 0), 1)
            for method, seconds in count_waits().items()
            if seconds - waited.get(method, 0) > 1
        },
    }


def count_calls() -> dict[str, float]:
    """Return the calls of Slack so far, by result."""
    found: dict[str, float] = {}
    for family in REGISTRY.collect():
        if family.name == "fateforger_slack_calls":
            for sample in family.samples:
                found[sample.labels["code"]] = found.get(sample.labels["code"], 0) + sample.value
    return found


def count_waits() -> dict[str, float]:
    """Return the seconds that calls waited within the limits so far, by method."""
    found = next((each for each in REGISTRY.collect() if each.name == "fateforger_slack_wait_seconds"), None)
    return {} if found is None else {sample.labels["method"]: sample.value for sample in found.samples}


async def click_through(person: Person, root: str, place: int) -> list[float]:
    """Press the button of the newest card three times; return the seconds until each answer."""
    taken = []
    loop = asyncio.get_running_loop()
    began = loop.time()
    card = await person.sees(root, "Count")
    for click in range(1, CLICKS + 1):
        await asyncio.sleep(max(0.0, began + SECONDS * (click - 1 + place / PEOPLE) / CLICKS - loop.time()))
        pressed = time.perf_counter()
        await person.use(card, "Count")

        async def look(clicks: int = click) -> dict[str, Any] | None:
            return next((m for m in await person.thread(root) if str(m).count("• count one") >= clicks), None)

        card = await eventually(look, f"answer {click}", deadline=300)
        taken.append(time.perf_counter() - pressed)
    return taken


def main() -> int:
    figures = {}
    for name, limits in (("without limits", False), ("with limits", True)):
        with tempfile.TemporaryDirectory() as folder:
            figures[name] = asyncio.run(measure(Path(folder), limits=limits))
    print(json.dumps({"targets": TARGETS, **figures}, indent=2))
    with_limits = figures["with limits"]
    return 0 if all(with_limits[name] <= target for name, target in TARGETS.items()) else 1


if __name__ == "__main__":
    sys.exit(main())
