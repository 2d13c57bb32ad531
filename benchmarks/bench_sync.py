"""Measure the cost of deciding and of carrying out, each line with its target and its peer.

Deciding, in processor time: a plan of 40 blocks against a calendar with 40 events. The peer, in the same run and
taking turns with us, is the smallest correct algorithm: look each event up by its key and compare five fields (no
records, no merge, no reasons), and for blocks without a key the greedy choice of the nearest event with the same
title. There all titles are the same, so that every pair is possible, and all times are random. Naming the fields that
differ (with DeepDiff) is compared with plain comparisons of the same pairs.

Carrying out: a calendar that takes 200 ms for each call, with a journal on disk. The peer makes the same calls one
after another, without a journal.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from tests.factories.days import block, plan_of
from tests.factories.paper import Paper, day_of, fields, make_block
from tests.fakes.google_calendar import GoogleCalendarFake
from tests.fakes.google_mcp import GoogleMcp
from tests.fakes.google_tools import GoogleTools
from tests.fakes.memory_journal import MemoryJournal

from fateforger.adapters.calendar.calendars import open_mcp_calendar
from fateforger.adapters.store.store import open_store
from fateforger.calendar.access import CommitContext
from fateforger.calendar.engine import number_ops, plan_sync
from fateforger.calendar.event import EventFields, EventImage
from fateforger.calendar.matching import Candidate, pair_alike
from fateforger.calendar.model import DesiredDay, Ledger, Snapshot, list_changes
from fateforger.calendar.ports import Outcome, Write
from fateforger.calendar.submitter import CalendarSubmitter
from fateforger.planning.plan import TBPlan

ROUNDS = 300
WARM_UP = 20
CALL_SECONDS = 0.2
Decided = tuple[DesiredDay, Snapshot, Ledger]


# --- deciding ---


def decide_known(count: int, changed: int = 0) -> Decided:
    """Return a case of the same blocks by key; ``changed`` of them have moved."""
    given = [make_block(f"k{n}", fields(f"Task {n}", 30 * n, 30), index=n) for n in range(count)]
    paper = Paper().submit(day_of(*given))[0]
    blocks = [
        make_block(f"k{n}", fields(f"Task {n}", 30 * n + (5 if n < changed else 0), 25), index=n)
        if n < changed
        else make_block(f"k{n}", fields(f"Task {n}", 30 * n, 30), index=n)
        for n in range(count)
    ]
    return day_of(*blocks), paper.snapshot(), paper.ledger


def decide_unknown(count: int) -> Decided:
    """Return a case of one title, no keys, random times: every pair is possible, and most rows have to move others."""
    random = Random(0)

    def draw_day(name: str, late: int) -> DesiredDay:
        shapes = [fields("Focus", 15 * random.randrange(90) + late, random.choice([15, 30, 60])) for _ in range(count)]
        return day_of(*(make_block(f"{name}{n}", shape, index=n) for n, shape in enumerate(shapes)))

    paper = Paper().submit(draw_day("old", 0))[0]
    return draw_day("new", 1), paper.snapshot(), paper.ledger


def ours(case: Decided) -> int:
    desired, snapshot, ledger = case
    return len(plan_sync(desired, snapshot, ledger, op_ids=number_ops("t")).writes)


def pairing(case: Decided) -> int:
    desired, snapshot, _ = case
    blocks = [Candidate(wish.key, wish.fields.canon) for wish in desired.blocks]
    return len(pair_alike(blocks, [Candidate(event.id, event.canon) for event in snapshot.events]))


def naming(case: Decided) -> int:
    """Count the fields that differ, of each block and the event at the same place."""
    desired, snapshot, _ = case
    pairs = zip(snapshot.events, desired.blocks, strict=True)
    return sum(len(list_changes(event.canon, wish.fields.canon)) for event, wish in pairs)


def naming_by_hand(case: Decided) -> int:
    desired, snapshot, _ = case
    pairs = zip(snapshot.events, desired.blocks, strict=True)
    canonical = ((event.canon, wish.fields.canon) for event, wish in pairs)
    return sum(old != new for event, wish in canonical for old, new in zip(event, wish, strict=True))


def naive_by_key(case: Decided) -> int:
    desired, snapshot, _ = case
    events = {event.properties["ffu"]: event for event in snapshot.events}
    ops = 0
    for wish in desired.blocks:
        event = events.pop(wish.key, None)
        ops += event is None or _differs(wish.fields, event)
    return ops + len(events)


def naive_greedy(case: Decided) -> int:
    desired, snapshot, _ = case
    left = list(snapshot.events)
    ops = 0
    for wish in desired.blocks:
        same = [event for event in left if event.summary.strip().lower() == wish.fields.summary.strip().lower()]
        if same:
            left.remove(min(same, key=lambda event: abs((event.fields.start - wish.fields.start).total_seconds())))
        ops += 1
    return ops + len(left)


def _differs(one: EventFields, other: EventImage) -> bool:
    return (one.summary, one.description, one.start, one.end, one.color_id) != (
        other.summary,
        other.description,
        other.start,
        other.end,
        other.color_id,
    )


def measure_deciding(
    case: Decided, work: Callable[[Decided], int], peer: Callable[[Decided], int]
) -> list[list[float]]:
    """Return the milliseconds of processor time, ours and the peer's."""
    times: list[list[float]] = [[], []]
    for _ in range(ROUNDS):
        for measured, which in zip(times, (work, peer), strict=True):
            started = time.process_time()
            which(case)
            measured.append((time.process_time() - started) * 1000)
    return [measured[WARM_UP:] for measured in times]


# --- carrying out ---


class SlowCalendar(GoogleCalendarFake):
    """Every call travels for a while."""

    async def window(self, start: datetime, end: datetime) -> tuple[EventImage, ...]:
        await asyncio.sleep(CALL_SECONDS)
        return await super().window(start, end)

    async def get(self, event_id: str) -> EventImage | None:
        await asyncio.sleep(CALL_SECONDS)
        return await super().get(event_id)

    async def write(self, write: Write) -> Outcome:
        await asyncio.sleep(CALL_SECONDS)
        return await super().write(write)


class RealTime:
    def now(self) -> datetime:
        return datetime.now(UTC)


def forty(first: int = 0) -> TBPlan:
    return plan_of(*(block(f"k{n}", _clock(8 * 60 + 15 * n), 15) for n in range(first, 40)))


def change_plan() -> TBPlan:
    """Return a plan that is 8 updates, 2 creates and 1 delete away from ``forty``."""
    moved = [block(f"k{n}", _clock(8 * 60 + 15 * n), 15, name=f"k{n}!") for n in range(1, 9)]
    same = [block(f"k{n}", _clock(8 * 60 + 15 * n), 15) for n in range(9, 40)]
    return plan_of(block("x", "06:00", 15), block("y", "06:30", 15), *moved, *same)


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


async def seconds(work: Awaitable[object]) -> float:
    started = time.perf_counter()
    await work
    return time.perf_counter() - started


async def one_by_one(calls: int) -> None:
    for _ in range(calls):
        await asyncio.sleep(CALL_SECONDS)


async def measure_carrying_out(folder: Path) -> dict[str, dict[str, float]]:
    store = open_store(folder / "state.db")
    calendar = SlowCalendar()
    outside = CommitContext(calendar, store.journal, RealTime(), asyncio.sleep)
    submitter = CalendarSubmitter(outside, owner="bench", new_id=lambda: uuid.uuid4().hex)
    steps: Sequence[tuple[str, float, Callable[[], Awaitable[object]]]] = [
        ("40 creates", 5, lambda: submitter.submit_plan(forty(), cause="1")),
        ("8 updates, 2 creates, 1 delete", 2.5, lambda: submitter.submit_plan(change_plan(), cause="2")),
        ("the same again", 2 * CALL_SECONDS + 0.1, lambda: submitter.submit_plan(change_plan(), cause="3")),
        ("undo of it", 2.5, lambda: submitter.undo_last(cause="4")),
    ]
    result: dict[str, dict[str, float]] = {}
    views: list[object] = []
    for name, target, act in steps:
        before = len(calendar.calls)
        took = await seconds(act())
        calls = len(calendar.calls) - before
        peer = await seconds(one_by_one(calls))
        views.append(await managed_view(calendar))
        result[name] = {
            "target_seconds": target,
            "seconds": took,
            "calls": calls,
            "peer_seconds": peer,
            "ratio": took / peer,
        }
    await store.aclose()
    committed, changed_view, again, undone = views
    if undone != committed or again != changed_view or changed_view == committed:
        raise AssertionError("undo did not bring back the day as it was")
    return result


async def managed_view(calendar: GoogleCalendarFake) -> object:
    """Return the visible fields of our blocks, by key."""
    first, last = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 4, tzinfo=UTC)
    events = await GoogleCalendarFake.window(calendar, first, last)
    return sorted((event.properties["ffu"], *map(str, event.canon)) for event in events)


async def count_requests() -> dict[str, int]:
    """Count the requests to Google for 8 updates, 2 creates and 1 delete, through the calendar server's tools.

    The second count is that of a client which calls each tool with the server's own defaults, after one read of the
    day.
    """
    tools = GoogleTools()
    async with (
        GoogleMcp(tools) as server,
        aclosing(open_mcp_calendar(server.url, time_zone="Europe/Berlin")) as calendar,
    ):
        outside = CommitContext(calendar, MemoryJournal(), RealTime(), asyncio.sleep)
        submitter = CalendarSubmitter(outside, owner="bench", new_id=lambda: uuid.uuid4().hex)
        await submitter.submit_plan(forty(), cause="1")
        before = tools.spent
        await submitter.submit_plan(change_plan(), cause="2")
    return {"requests": tools.spent - before, "peer_requests": 2 + 8 * 6 + 2 * 4 + 1}


def quantile(values: list[float], share: float) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[round(share * 100) - 1]


def main() -> None:
    cases: dict[str, tuple[float, Decided, Callable[[Decided], int], Callable[[Decided], int]]] = {
        "40 x 40, nothing changed": (0.5, decide_known(40), ours, naive_by_key),
        "40 x 40, 8 changed": (0.5, decide_known(40, 8), ours, naive_by_key),
        "40 x 40, all changed": (3, decide_known(40, 40), ours, naive_by_key),
        "40 x 40, pairing alone": (3, decide_unknown(40), pairing, naive_greedy),
        "40 x 40, no key known": (3, decide_unknown(40), ours, naive_greedy),
        "60 x 60, pairing alone": (8, decide_unknown(60), pairing, naive_greedy),
        "60 x 60, no key known": (8, decide_unknown(60), ours, naive_greedy),
        "40 pairs, which fields": (0.5, decide_known(40, 40), naming, naming_by_hand),
    }
    deciding: dict[str, dict[str, float]] = {}
    print(f"{'deciding':28}{'target p95':>12}{'p50':>9}{'p95':>9}{'peer p50':>12}{'p95':>9}{'ratio p50':>12}")
    for name, (target, case, work, peer) in cases.items():
        times, peer_times = measure_deciding(case, work, peer)
        row = {
            "target_p95_ms": target,
            "p50_ms": quantile(times, 0.5),
            "p95_ms": quantile(times, 0.95),
            "peer_p50_ms": quantile(peer_times, 0.5),
            "peer_p95_ms": quantile(peer_times, 0.95),
        }
        row["ratio_p50"] = row["p50_ms"] / row["peer_p50_ms"]
        deciding[name] = row
        print(
            f"{name:28}{target:10.1f}ms{row['p50_ms']:7.2f}ms{row['p95_ms']:7.2f}ms{row['peer_p50_ms']:10.2f}ms"
            f"{row['peer_p95_ms']:7.2f}ms{row['ratio_p50']:12.2f}"
        )
    with tempfile.TemporaryDirectory() as name:
        carrying_out = asyncio.run(measure_carrying_out(Path(name)))
    print(f"\n{'carrying out, 200 ms a call':32}{'calls':>6}{'target':>9}{'took':>9}{'one by one':>13}{'ratio':>8}")
    for name, row in carrying_out.items():
        print(
            f"{name:32}{row['calls']:6.0f}{row['target_seconds']:8.2f}s{row['seconds']:8.2f}s"
            f"{row['peer_seconds']:12.2f}s{row['ratio']:8.2f}"
        )
    print("The day after the undo is the day before the commit, field by field.")
    google = asyncio.run(count_requests())
    ratio = google["requests"] / google["peer_requests"]
    print(
        f"\nrequests to Google: {google['requests']}, by the server's defaults {google['peer_requests']} ({ratio:.2f})"
    )
    json.dump({"sync": {"deciding": deciding, "carrying_out": carrying_out, "google": google}}, sys.stdout)
    print()


if __name__ == "__main__":
    main()
