"""Laws for every draft of the engine, judged by a checker that shares no code with it (S10, S106, S206-S208)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import timedelta
from itertools import pairwise, product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.factories.instances import Document, any_day, day_of
from tests.laws.drafting_checker import InstanceChecker, PlacedPiece

from fateforger.drafting.instance import read_instance
from fateforger.drafting.model import write_draft
from fateforger.drafting.solver import draft_instance
from fateforger.planning.plan import resolve_strict
from fateforger.planning.wire import read_plan

DAYS = int(os.environ.get("DRAFTING_DAYS", "2000"))
"""Number of days to draw; more with DRAFTING_DAYS=20000."""
CONFLICTS = DAYS // 16
"""Number of days on which each conflict is checked from all sides."""
SHARES = 4
"""The first share is looked at with every change."""
share_of_days = pytest.mark.parametrize(
    "share", [0, *(pytest.param(share, marks=pytest.mark.extra) for share in range(1, SHARES))]
)
STEPS = (15, 65, 250)
"""Most days are searched for a short while, so that there can be many of them."""
MINUTE = timedelta(minutes=1)


def draft_document(document: Document, steps: int = 250, *, reasons: bool = False) -> dict[str, Any]:
    return write_draft(draft_instance(read_instance(document), steps=steps, reasons=reasons))


@share_of_days
def test_every_must_is_kept_or_in_a_conflict(share: int) -> None:
    conflicts = 0
    for seed in range(share, DAYS, SHARES):
        document = any_day(seed)
        result = draft_document(document, steps=STEPS[seed // SHARES % len(STEPS)])
        assert InstanceChecker(document).faults(result) == [], seed
        resolve_strict(read_plan(result["plan"]))
        conflicts += result["conflict"] is not None
    assert DAYS // SHARES // 20 < conflicts < DAYS // SHARES // 2


def with_musts(document: Document, musts: set[str]) -> Document:
    """Return the day with only those musts: no other rules or pinned blocks, and all other tasks optional."""
    return {
        **document,
        "constraints": [
            c for c in document["constraints"] if c["constraint_record"]["necessity"] != "must" or c["uid"] in musts
        ],
        "tasks": [{**t, "required": t["required"] and t["id"] in musts} for t in document["tasks"]],
        "pinned": [p for p in document.get("pinned", ()) if p["key"] in musts],
    }


def day_with_named_tasks(seed: int) -> Document:
    """Return up to three days with meetings, and musts that name tasks: an order, and a buffer."""
    lot = Random(f"named-{seed}")
    days = lot.randint(1, 3)
    dates = [f"2026-03-{2 + n:02}" for n in range(days)]
    tasks = [
        {
            "id": f"t{n}",
            "title": f"Task {n}",
            "type": lot.choice(("DW", "SW", "H")),
            "minutes": lot.choice((30, 60, 90)),
        }
        | {"required": lot.random() < 0.3, "splittable": lot.random() < 0.3}
        | ({"deadline": f"{lot.choice(dates)}T{lot.choice(('11:00', '12:00'))}"} if lot.random() < 0.3 else {})
        | ({"not_before": f"{lot.choice(dates)}T{lot.choice(('09:30', '11:00'))}"} if lot.random() < 0.3 else {})
        for n in range(lot.randint(2, 6))
    ]
    ids = [task["id"] for task in tasks]
    events = [
        {
            "id": f"e{n}",
            "busy": True,
            "start": f"{date}T{hour:02}:00",
            "end": f"{date}T{hour:02}:{lot.choice((15, 30))}",
        }
        for n, (date, hour) in enumerate((date, lot.randint(9, 12)) for date in dates for _ in range(lot.randint(0, 2)))
    ]
    payloads = {"order": {"rule_kind": "sequencing"}, "buffer": {"rule_kind": "buffer"}}
    return {
        "date": dates[0],
        "tz": "Europe/Amsterdam",
        "days": days,
        "frame": {"start": "09:00", "end": "13:00"},
        "immovables": events,
        "tasks": tasks,
        "constraints": [
            {
                "uid": name,
                "tasks": lot.sample(ids, lot.randint(2 if name == "order" else 1, min(3, len(ids)))),
                "constraint_record": {
                    "name": name,
                    "necessity": "must",
                    "payload": {**payload, "scalar_params": {"duration_min": 20} if name == "buffer" else {}},
                },
            }
            for name, payload in payloads.items()
        ],
        "policy": {"lunch": None, "shutdown": 0},
    }


@share_of_days
def test_a_must_about_named_tasks_is_kept_for_these_across_days(share: int) -> None:
    """An order holds over all days; a buffer touches the tasks that it names, and no others."""
    beside = conflicts = across = 0
    for seed in range(share, 600, SHARES):
        document = day_with_named_tasks(seed)
        result = draft_document(document, steps=STEPS[seed // SHARES % len(STEPS)])
        conflicts += result["conflict"] is not None
        judge = InstanceChecker({**document, "constraints": []})
        pieces = judge.pieces(result)
        order, buffer = (rule["tasks"] for rule in document["constraints"])
        if "order" not in result["relaxed"]:
            there = [[piece for piece in pieces if piece.task == task] for task in order]
            for earlier, later in pairwise(there):
                assert not later or (earlier and earlier[-1].end <= later[0].start), seed
                across += bool(earlier and later) and earlier[-1].end.date() != later[0].start.date()
        if "buffer" not in result["relaxed"]:
            named = [piece for piece in pieces if piece.task in buffer]
            assert list(judge.near_meetings(named, 20 * MINUTE)) == [], seed
            gaps = [(one, two) for one in named for two in pieces if one.end <= two.start < one.end + 20 * MINUTE]
            assert gaps == [], seed
        others = [piece for piece in pieces if piece.task not in buffer]
        beside += bool(list(judge.near_meetings(others, 20 * MINUTE)))
    assert min(beside, conflicts, across) > 5


def test_a_conflict_is_no_larger_than_it_has_to_be() -> None:
    """Without any one of its members, all the others are kept, as the checker sees it."""
    seen = 0
    for seed in range(CONFLICTS):
        document = any_day(seed)
        conflict = draft_document(document, steps=0)["conflict"]
        if conflict is None:
            continue
        seen += 1
        assert draft_document(with_musts(document, set(conflict)), steps=0)["conflict"] is not None
        for member in conflict:
            fewer = with_musts(document, set(conflict) - {member})
            result = draft_document(fewer, steps=0)
            assert result["conflict"] is None, (seed, member)
            assert InstanceChecker(fewer).faults(result) == [], (seed, member)
    assert seen > CONFLICTS // 8


def test_a_conflict_is_one() -> None:
    """Every way to place what is required, tried one after another on the five-minute grid, breaks one of the musts."""
    proved = 0
    for seed in range(1200):
        document = any_day(seed)
        conflict = draft_document(document, steps=0)["conflict"]
        if proved == 25:
            break
        if conflict is None:
            continue
        alone = with_musts(document, set(conflict))
        needed = [t for t in alone["tasks"] if t["required"]]
        asks = any(
            "duration_min" in c["constraint_record"]["payload"]["scalar_params"]
            and c["constraint_record"]["payload"]["rule_kind"] == "capacity"
            for c in alone["constraints"]
        )
        if len(needed) > 2 or asks or any(t.get("splittable") or t.get("after") for t in needed):
            continue
        proved += 1
        assert not any(is_kept(alone, way) for way in ways(alone, needed)), seed
    assert proved > 15


def ways(document: Document, needed: list[dict[str, Any]]) -> Any:
    """Yield each combination of starts for the tasks, with the pinned blocks where they are."""
    judge = InstanceChecker(document)
    pins = [place_pin(judge, pin) for pin in document.get("pinned", ())]
    starts = []
    at = judge.start
    while at < judge.end:
        if int(at.timestamp()) % 300 == 0:
            starts.append(at)
        at += MINUTE
    for chosen in product(starts, repeat=len(needed)):
        yield [*pins, *(place_task(task, start) for task, start in zip(needed, chosen, strict=True))]


def place_pin(judge: InstanceChecker, pin: dict[str, Any]) -> PlacedPiece:
    start = judge.instant(pin["start"])
    return PlacedPiece(pin["key"], pin["key"], pin["type"], start, start + pin["minutes"] * MINUTE)


def place_task(task: dict[str, Any], start: Any) -> PlacedPiece:
    minutes = task.get("minutes", 60 if task["type"] == "DW" else 30)
    return PlacedPiece(task["id"], task["id"], task["type"], start, start + minutes * MINUTE)


def is_kept(document: Document, pieces: list[PlacedPiece]) -> bool:
    result = {
        "placed": [
            {"id": p.task, "key": p.key, "type": p.type, "start": p.start.isoformat(), "minutes": p.minutes}
            for p in pieces
        ],
        "unplaced": [{"id": t["id"]} for t in document["tasks"] if all(t["id"] != p.task for p in pieces)],
        "relaxed": [],
        "conflict": None,
    }
    return not InstanceChecker(document).faults(result)


@pytest.mark.parametrize("family", ["light", "typical", "heavy"])
def test_the_days_of_the_benchmark_are_right_as_well(family: str) -> None:
    for seed in range(4):
        result = draft_document(day_of(family, seed), steps=300)
        resolve_strict(read_plan(result["plan"]))
        assert result["conflict"] is None


def test_the_same_day_is_drafted_the_same_in_another_process() -> None:
    """The draft depends neither on the hash seed nor on the process."""
    documents = [day_of("typical", 1), day_of("heavy", 2), any_day(7)]
    here = [[draft_document(document, steps=150, reasons=True) for document in documents] for _ in range(2)]
    assert here[0] == here[1]
    lines = "\n".join(json.dumps(document) for document in documents)
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-m", "fateforger", "plan", "draft", "--batch", "-", "--steps", "150"],
            input=lines, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed},
        )  # fmt: skip
        assert [json.loads(line) for line in done.stdout.splitlines()] == here[0]


@pytest.mark.parametrize("family", ["light", "typical", "heavy", "crowded", "week"])
def test_the_committed_days_are_those_of_their_generator(family: str) -> None:
    lines = (Path(__file__).parents[2] / "benchmarks" / "instances" / f"{family}.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [day_of(family, seed) for seed in range(len(lines))]
