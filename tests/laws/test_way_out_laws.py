"""Laws for a draft's texts on work without a place: its reason and the cost of each choice are true (S22, S106)."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from tests.factories.instances import Document, any_day, clock, day_of
from tests.judge.day import Day
from tests.judge.findings import judge_reasons
from tests.laws.test_engine_laws import STEPS, day_with_named_tasks

from fateforger.drafting.instance import read_instance
from fateforger.drafting.model import write_draft
from fateforger.drafting.solver import draft_instance

pytestmark = pytest.mark.extra  # a campaign of many random cases

PROMISES = ("shrink", "split", "extend", "relax", "fill")


def draft_document(document: Document, *, options: bool) -> dict[str, Any]:
    return write_draft(draft_instance(read_instance(document), steps=STEPS[-1], options=options))


def apply_choice(document: Document, task: str, choice: dict[str, Any]) -> Document:
    """Return the day with a choice taken, as an agent would write it."""
    match choice["way"]:
        case "relax":
            rules = [rule for rule in document["constraints"] if rule["uid"] != choice["rule"]]
            return {**document, "constraints": rules}
        case "extend":
            hours, minutes = map(int, document["frame"]["end"].split(":"))
            end = clock(hours * 60 + minutes + choice["minutes"])
            return {**document, "frame": {**document["frame"], "end": end}}
        case "fill":
            return {**document, "policy": {**document.get("policy", {}), "slack_percent": None}}
        case "shrink":
            change = {"minutes": choice["minutes"]}
        case _:
            change = {"splittable": True}
    return {**document, "tasks": [{**t, **change} if t["id"] == task else t for t in document["tasks"]]}


def test_each_choice_places_its_task_and_costs_what_it_says() -> None:
    """S254"""
    seen: Counter[str] = Counter()
    documents = [any_day(seed) for seed in range(120)] + [day_of("typical", seed) for seed in range(15)]
    for document in [*documents, *(day_with_named_tasks(seed) for seed in range(40))]:
        before = draft_document(document, options=True)
        here = {block["id"]: block["title"] for block in before["placed"] if not block["id"].startswith("shutdown-")}
        for left in before["unplaced"]:
            for choice in left["choices"]:
                if choice["way"] not in PROMISES:
                    continue
                after = draft_document(apply_choice(document, left["id"], choice), options=False)
                there = {block["id"] for block in after["placed"]}
                assert left["id"] in there, (document, left["id"], choice)
                lost = [each["title"] for each in after["unplaced"] if each["id"] in here]
                cost = choice.get("cost", "")
                assert [title for title in lost if f"“{title}” then waits" not in cost] == [], (document, choice)
                assert cost.count("then waits") == len(lost)
                seen[choice["way"]] += 1
                seen["cost"] += bool(lost)
                assert choice.get("minutes", 0) % {"shrink": 15, "extend": 30}.get(choice["way"], 1) == 0, choice
    assert min(seen[what] for what in (*PROMISES, "cost")) > 0, seen


def test_each_reason_names_what_stood_in_the_way() -> None:
    """S253: As the judge of the gallery sees it, who shares no code with the solver."""
    reasons = 0
    for seed in range(200):
        document = any_day(seed) if seed % 3 else day_of("typical", seed)
        result = json.loads(json.dumps(draft_document(document, options=False)))
        result["unplaced"] = [each for each in result["unplaced"] if not each["id"].startswith("shutdown-")]
        reasons += len(result["unplaced"])
        assert list(judge_reasons(Day(document, result))) == [], seed
    assert reasons > 300
