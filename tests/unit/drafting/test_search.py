"""The search for a day: its order among equals, and its progress."""

from __future__ import annotations

from datetime import time
from typing import Any

import pytest

from fateforger.drafting.compilation import compile_problem
from fateforger.drafting.context import build_context
from fateforger.drafting.instance import read_instance
from fateforger.drafting.neighborhood_search import greedy_placement, improve_placement, optimize_locally
from fateforger.drafting.placement import Placement
from fateforger.drafting.solver import draft_instance
from fateforger.planning.timing import zone

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


def make_rule(necessity: str) -> dict[str, Any]:
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
    result = draft_instance(read_instance({**DAY, "constraints": [make_rule(necessity)]}))
    blocks = [(b.type.words, b.key) for b in result.placed if b.type.words in {"deep work", "shallow work"}]
    assert [kind for kind, _ in blocks] == ["shallow work"] * 2 + ["deep work"] * 3
    assert blocks[2] == ("deep work", "one")


def test_how_many_steps_were_taken_is_told_while_the_search_goes_on() -> None:
    seen: list[int] = []
    crowded = [{"id": f"t{n}", "title": f"T{n}", "minutes": 40 + 5 * n} for n in range(12)]
    draft_instance(read_instance({**DAY, "tasks": crowded}), steps=500, seen=seen.append)
    assert seen == sorted(seen)
    assert (seen[0], len(seen) > 10, 400 < seen[-1] < 500) == (0, True, True)


def test_a_list_of_two_hundred_tasks_is_drafted_with_little_more_effort_than_one_of_twenty() -> None:
    """S458: without a bound, the local search of such a day took seventeen times as long as all else."""
    many = [{"id": f"t{n}", "title": f"T{n}", "minutes": 10, "type": "SW"} for n in range(200)]
    problem = compile_problem(build_context(read_instance({**DAY, "tasks": many})))
    placed, _ = improve_placement(problem, greedy_placement(problem), 0)
    assert problem.effort < 60_000
    assert sum(map(bool, placed)) > 20


def polish_starts(document: dict[str, Any], starts: dict[str, str]) -> dict[str, str]:
    """Return the starts of the blocks after polishing a placement with blocks at these starts."""
    context = build_context(read_instance(document))
    problem = compile_problem(context)
    placement = Placement(problem)
    for item in problem.items:
        if item.source.id in starts:
            hour, minute = map(int, starts[item.source.id].split(":"))
            placement.take(item, ((context.axis.slot(context.instant(time(hour, minute))), item.slots),))
    placed = optimize_locally(placement)
    local = zone(document["tz"])
    return {
        item.source.id: f"{context.axis.when(pieces[0][0]).astimezone(local):%H:%M}"
        for item, pieces in zip(problem.items, placed, strict=True)
        if pieces
    }


MORNING: dict[str, Any] = {
    "date": "2026-03-02",
    "tz": "Europe/Amsterdam",
    "frame": {"start": "09:00", "end": "10:00"},
    "policy": {"lunch": None, "shutdown": 0, "slack_percent": None},
}


def test_more_important_work_takes_the_place_of_less_important_work() -> None:
    """S416: even when the less important one comes first in the list, and fits as well."""
    tasks = [
        {"id": name, "title": name, "minutes": 60, "type": "SW", "priority": priority}
        for name, priority in (("less", 4), ("more", 2))
    ]
    assert polish_starts({**MORNING, "tasks": tasks}, {"less": "09:00"}) == {"more": "09:00"}


def test_a_later_start_makes_room_for_a_task_in_a_gap() -> None:
    """S416: five minutes before the call and five after it become ten for the note."""
    tasks: list[dict[str, Any]] = [
        {"id": "mail", "title": "Mail", "minutes": 25, "type": "SW", "priority": 3},
        {"id": "call", "title": "Call", "minutes": 25, "type": "SW", "priority": 3, "not_before": "09:30"},
        {"id": "note", "title": "Note", "minutes": 10, "type": "SW", "priority": 3},
    ]
    told = polish_starts({**MORNING, "tasks": tasks}, {"mail": "09:00", "call": "09:30"})
    assert told == {"mail": "09:00", "note": "09:25", "call": "09:35"}
