"""Explanations of the engine about a day, and about an invalid document (S22, S106)."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from tests.factories.constraints import record_of

from fateforger.drafting.context import build_context
from fateforger.drafting.explanations import explain_place
from fateforger.drafting.instance import read_instance
from fateforger.drafting.model import find_violations
from fateforger.drafting.solver import draft_instance
from fateforger.errors import BadInput
from fateforger.planning.plan import TBPlan, resolve
from fateforger.planning.task_details import start_at
from fateforger.planning.wire import read_plan

DAY: dict[str, Any] = {
    "date": "2026-03-02",
    "tz": "Europe/Amsterdam",
    "frame": {"start": "09:00", "end": "17:00"},
    "policy": {"lunch": None, "shutdown": 0},
}
FIRST, SECOND = {"id": "a", "title": "A", "type": "SW"}, {"id": "b", "title": "B", "type": "SW"}


def mistake(**change: Any) -> str:
    with pytest.raises(BadInput) as caught:
        read_instance({**DAY, "tasks": [FIRST, SECOND], **change})
    return caught.value.message


def plan(*blocks: str) -> TBPlan:
    """Return a plan from lines such as ``a 09:00 60 A``."""
    events = []
    for each in blocks:
        key, start, minutes, name = each.split(maxsplit=3)
        events.append({"n": name, "t": "DW", "p": {"a": "fs", "st": start, "dur": f"PT{minutes}M"}, "key": key})
    return read_plan({"date": "2026-03-02", "tz": "Europe/Amsterdam", "events": events})


def make_rule(**fields: Any) -> dict[str, Any]:
    return {"uid": "c1", "constraint_record": record_of(None, **fields)}


def test_an_event_that_ends_before_it_starts_is_refused() -> None:
    event = {"title": "Talk", "start": "2026-03-02T12:00", "end": "2026-03-02T10:00"}
    assert "“Talk” ends before it starts; choose an end after the start" in mistake(immovables=[event])


def test_a_date_for_a_time_is_told_of_all_day() -> None:
    assert "“Fair” has a date for a time; all_day makes it a whole day" in mistake(
        immovables=[{"title": "Fair", "start": "2026-03-02", "end": "2026-03-03"}]
    )


def test_a_whole_day_may_be_written_as_dates() -> None:
    event = {"title": "Fair", "start": "2026-03-02", "end": "2026-03-03", "all_day": True}
    context = build_context(read_instance({**DAY, "immovables": [event]}))
    assert (len(context.events), context.free) == (1, 0)


@pytest.mark.parametrize(
    ("after", "words"),
    [
        ({"a": ["b"], "b": ["a"]}, "“A” and “B” wait for each other; take one of them out of after"),
        ({"b": ["b"]}, "“B” waits for itself; take one of them out of after"),
        ({"a": ["b"], "b": ["c"], "c": ["b"]}, "“B” and “C” wait for each other"),
    ],
    ids=["two", "one", "behind a third"],
)
def test_tasks_that_wait_for_each_other_are_refused_where_they_came_in(after: dict[str, list[str]], words: str) -> None:
    third = {"id": "c", "title": "C", "type": "SW"}
    assert words in mistake(tasks=[{**t, "after": after.get(t["id"], [])} for t in (FIRST, SECOND, third)])


def test_two_ways_to_one_task_are_no_circle() -> None:
    tasks = [FIRST, {**SECOND, "after": ["a"]}, {"id": "c", "title": "C", "type": "SW", "after": ["b", "a"]}]
    assert draft_instance(read_instance({**DAY, "tasks": tasks}), steps=0).unplaced == ()


def test_a_rule_that_leaves_the_time_that_is_free_to_nobody_is_named() -> None:
    """All the time before four is taken, and an hour behind it is not."""
    rule = make_rule(name="No work after four", description="No work after four", necessity="must",
                rule_kind="avoid_window", windows=[{"kind": "avoid", "start": "16:00", "end": "17:00"}])  # fmt: skip
    tasks = [{**FIRST, "minutes": 420, "priority": 1}, {**SECOND, "minutes": 60, "priority": 5}]
    result = draft_instance(read_instance({**DAY, "tasks": tasks, "constraints": [rule]}), steps=100)
    assert [left.reason for left in result.unplaced] == ["“No work after four” rules out the time that is still free"]


def test_a_neighbour_is_named_as_it_stands_on_the_plan() -> None:
    """A second piece says that it is one."""
    instance = read_instance(
        {
            **DAY,
            "tasks": [
                {**FIRST, "title": "Review", "minutes": 120, "type": "DW"},
                {**SECOND, "minutes": 60, "type": "DW"},
            ],
        }
    )
    there = plan("a 09:00 60 Review (1/2)", "a-2 10:00 60 Review (2/2)", "b 11:10 60 B")
    texts = [reason.text for reason in explain_place(there, instance, "b")]
    assert any("“Review (2/2)”" in text for text in texts)


def test_a_pause_that_is_missing_is_told_once() -> None:
    rule = make_rule(name="Pause", description="Pause", necessity="should", rule_kind="buffer",
                scalar_params={"duration_min": 20})  # fmt: skip
    event = {"title": "Talk", "start": "10:00", "end": "11:00"}
    instance = read_instance({**DAY, "immovables": [event], "constraints": [rule]})
    found = find_violations(instance, resolve(plan("a 09:00 60 A", "b 11:00 60 B")))
    assert [(each.keys, each.text) for each in found] == [
        (("a", "b"), "You said “Pause”, and there is less time than that around “A” and “B”.")
    ]


@pytest.mark.parametrize("clock", ["2026-03-01T19:00", "2026-03-03T05:00"])
def test_rules_count_blocks_far_outside_of_the_frame(clock: str) -> None:
    """A block that a person moved into the night is one of its day's blocks like any other."""
    moved = datetime.fromisoformat(clock).replace(tzinfo=ZoneInfo("Europe/Amsterdam"))
    rule = make_rule(
        name="One", description="One", necessity="must", rule_kind="capacity", scalar_params={"count_max": 1}
    )
    instance = read_instance({**DAY, "constraints": [rule]})
    there = resolve(start_at(plan("a 09:00 60 A", "b 11:00 60 B"), "b", moved))
    (found,) = find_violations(instance, there)
    assert sorted(found.keys) == ["a", "b"]
    assert found.text == "You said “One”, and there are 2 of them on that day."
    assert find_violations(build_context(instance), there) == (found,)
