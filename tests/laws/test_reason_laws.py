"""Each reason is true: with everything else pinned and the named cause taken away, the block begins at another time."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from tests.factories.instances import Document, any_day, day_of

from fateforger.drafting.instance import read_instance
from fateforger.drafting.model import write_draft
from fateforger.drafting.solver import draft_instance

pytestmark = pytest.mark.extra  # a campaign of many random cases


def draft_document(document: Document, *, steps: int = 500, reasons: bool = False) -> dict[str, Any]:
    return write_draft(draft_instance(read_instance(document), steps=steps, reasons=reasons))


def all_but(document: Document, result: dict[str, Any], key: str, without: str | None = None) -> Document:
    """Return the day with every block pinned in place, except one (and without another)."""
    pins = [
        {"key": b["key"], "title": b["title"], "type": b["type"], "start": b["start"], "minutes": b["minutes"]}
        | ({"task": b["id"]} if any(t["id"] == b["id"] for t in document["tasks"]) else {})
        for b in result["placed"]
        if b["key"] not in (key, without) and not b["key"].startswith("way-")
    ]
    block = next(b for b in result["placed"] if b["key"] == key)
    gone = next((b["id"] for b in result["placed"] if b["key"] == without), None)
    here = {b["id"] for b in result["placed"]}
    tasks = [t for t in document["tasks"] if t["id"] in here and (t["id"] != gone or gone == block["id"])]
    kept = {t["id"] for t in tasks}
    tasks = [{**t, "after": [a for a in t.get("after", ()) if a in kept]} for t in tasks]
    return {**document, "pinned": pins, "tasks": [{**t, "required": False} for t in tasks]}


def without(document: Document, kind: str, cause: str) -> Document:
    """Return the day without a cause."""
    match kind:
        case "rule":
            return {**document, "constraints": [c for c in document["constraints"] if c["uid"] != cause]}
        case "event":
            return {**document, "immovables": [e for e in document["immovables"] if e["id"] != cause]}
        case "policy":
            declined = {"one_thing_early": False, "focus": []}.get(cause, 0)
            parts = {"between_deep": ("after_deep", "before_deep")}.get(cause, (cause,))
            return {**document, "policy": {**document.get("policy", {}), **dict.fromkeys(parts, declined)}}
        case _:
            return {**document, "tasks": [{k: v for k, v in t.items() if k != kind} for t in document["tasks"]]}


def start_of(result: dict[str, Any], block: dict[str, Any], others: set[str]) -> str | None:
    """Return the new start of the only block that is free to move."""
    loose = [b for b in result["placed"] if b["key"] not in others and b["id"] == block["id"]]
    return loose[0]["start"] if loose else None


def test_without_its_cause_a_block_moves() -> None:
    seen: Counter[str] = Counter()
    documents = [day_of("typical", seed) for seed in range(6)] + [any_day(seed) for seed in range(40)]
    for document in documents:
        result = draft_document(document, reasons=True)
        if result["conflict"] is not None:
            continue
        for block in result["placed"]:
            for reason in result["reasons"][block["key"]]:
                kind, cause = reason["kind"], reason["cause"]
                if kind in {"pinned", "way", "only", "earliest", "best"} or cause in {"lunch", "shutdown"}:
                    continue
                gone = cause if kind == "block" else None
                pinned = all_but(document, result, block["key"], gone)
                loose = pinned if kind == "block" else without(pinned, kind, cause)
                for daily, none in (("lunch", None), ("shutdown", 0)):
                    if cause.startswith(f"{daily}-"):
                        loose = {**loose, "policy": {**loose.get("policy", {}), daily: none}}
                others = {pin["key"] for pin in loose["pinned"]}
                assert start_of(draft_document(loose), block, others) != block["start"], (document, block, reason)
                seen[kind] += 1
    assert seen["event"] > 20
    assert seen["block"] > 20
    assert seen["rule"] > 5


def test_the_reasons_of_a_day_name_what_was_said_and_when() -> None:
    document = {
        "date": "2026-03-02",
        "tz": "Europe/Amsterdam",
        "frame": {"start": "09:00", "end": "17:00"},
        "tasks": [{"id": "report", "title": "Report", "minutes": 60}],
        "constraints": [
            {
                "uid": "c1",
                "said_on": "2026-02-01",
                "constraint_record": {
                    "name": "slow mornings",
                    "description": "no deep work before ten",
                    "necessity": "must",
                    "payload": {
                        "rule_kind": "avoid_window",
                        "windows": [{"kind": "avoid", "start": "06:00", "end": "10:00"}],
                    },
                    "applies_event_types": ["DW"],
                },
            }
        ],
        "policy": {"lunch": None, "shutdown": 0},
    }
    assert draft_document(document, reasons=True)["reasons"] == {
        "report": [
            {
                "kind": "rule",
                "text": "It is here because you said “no deep work before ten” on 1 February 2026;"
                " otherwise it would begin at 09:00.",
                "cause": "c1",
                "instead": "2026-03-02T08:00:00+00:00",
            }
        ]
    }
