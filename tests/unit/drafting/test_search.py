"""How a day is searched: what comes first among its like, and what is seen of the search while it goes on."""

from __future__ import annotations

from typing import Any

import pytest

from fateforger.drafting.instance import read_instance
from fateforger.drafting.solver import draft_instance

DAY: dict[str, Any] = {
    "date": "2026-03-02",
    "tz": "Europe/Amsterdam",
    "frame": {"start": "09:00", "end": "17:00"},
    "tasks": [
        {"id": "plan", "title": "Plan", "minutes": 60},
        {"id": "talk", "title": "Talk", "minutes": 60},
        {"id": "one", "title": "One", "minutes": 60, "one_thing": True},
        {"id": "mail", "title": "Mail", "minutes": 30, "type": "SW"},
        {"id": "calls", "title": "Calls", "minutes": 30, "type": "SW"},
    ],
}


def said(necessity: str) -> dict[str, Any]:
    record = {
        "name": "warm up",
        "description": "shallow work before deep work",
        "necessity": necessity,
        "payload": {"rule_kind": "sequencing"},
        "applies_event_types": ["SW", "DW"],
    }
    return {"uid": "c1", "constraint_record": record}


@pytest.mark.parametrize("necessity", ["must", "should"])
def test_s206_the_one_thing_is_the_first_of_the_deep_work_when_shallow_work_comes_before(necessity: str) -> None:
    result = draft_instance(read_instance({**DAY, "constraints": [said(necessity)]}))
    blocks = [(b.type.words, b.key) for b in result.placed if b.type.words in {"deep work", "shallow work"}]
    assert [kind for kind, _ in blocks] == ["shallow work"] * 2 + ["deep work"] * 3
    assert blocks[2] == ("deep work", "one")


def test_how_many_steps_were_taken_is_told_while_the_search_goes_on() -> None:
    seen: list[int] = []
    crowded = [{"id": f"t{n}", "title": f"T{n}", "minutes": 40 + 5 * n} for n in range(12)]
    draft_instance(read_instance({**DAY, "tasks": crowded}), steps=500, seen=seen.append)
    assert seen == sorted(seen)
    assert (seen[0], len(seen) > 10, 400 < seen[-1] < 500) == (0, True, True)
