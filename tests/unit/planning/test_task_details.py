"""Details of a task: their conflicts, their texts, and those of earlier versions."""

from __future__ import annotations

import json
from datetime import date, time
from typing import Any

import pytest
from pydantic import ValidationError

from fateforger.errors import first_mistake
from fateforger.planning.plan import ET
from fateforger.planning.task_details import BoxItem, TaskDetails, TaskKind, Travel, list_facts
from fateforger.session.commands.plan import AddBlock
from fateforger.session.model import Task
from fateforger.tasks.task import Do, TaskSpec

FRIDAY, MONDAY = date(2026, 3, 6), date(2026, 3, 2)


def test_only_deep_and_shallow_tasks_are_work() -> None:
    assert {kind.value: kind.type for kind in TaskKind} == {
        "deep": ET.DEEP_WORK,
        "shallow": ET.SHALLOW_WORK,
        "habit": ET.HABIT,
        "errand": ET.HABIT,
        "meal": ET.REGENERATION,
        "family": ET.HABIT,
        "rest": ET.REGENERATION,
    }


def test_details_are_said_in_a_few_words() -> None:
    details = TaskDetails(
        at=time(14),
        due_day=FRIDAY,
        due_time=time(16),
        people=("Ann", "Bob"),
        travel=Travel(place="Dr. Ray", minutes=20),
        splittable=False,
        items=(BoxItem(title="Card", done=True), BoxItem(title="X-ray")),
    )
    assert list_facts(details) == (
        "at 14:00",
        "due Friday 6 March at 16:00",
        "with Ann and Bob",
        "Dr. Ray, 20 min each way",
        "in one piece",
        "1 of 2 done",
    )
    assert list_facts(TaskDetails()) == ()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"due_day": MONDAY, "from_day": FRIDAY},
            "It is due before it may begin; choose a later due day, or an earlier first day.",
        ),
        (
            {"due_time": "09:00", "from_time": "10:00"},
            "It is due before it may begin; choose a later due time, or an earlier start.",
        ),
        ({"at": "09:00", "from_time": "10:00"}, "It starts before it may begin; leave out one of the two times."),
        ({"at": "09:00", "due_time": "09:00"}, "It is due before it starts; choose a later due time."),
        ({"travel": {}}, "A way needs a place, or the minutes that it takes."),
        ({"at": "noonish"}, "“noonish” is not a time of day; write it like 09:30."),
    ],
)
def test_a_contradiction_is_one_clear_sentence(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError) as caught:
        TaskDetails.model_validate(given)
    assert first_mistake(caught.value).sentence == sentence


def test_times_of_different_days_do_not_contradict_each_other() -> None:
    TaskDetails(from_day=MONDAY, from_time=time(15), due_day=FRIDAY, due_time=time(12))


def test_a_task_stored_by_an_earlier_version_opens() -> None:
    stored = {"id": "t", "title": "Mail", "minutes": 30, "depth": "shallow", "in_pieces": True, "notes": "x"}
    task = Task.model_validate(stored)
    assert task.details == TaskDetails(kind=TaskKind.SHALLOW, splittable=True)
    assert Task.model_validate_json(task.model_dump_json()) == task


def test_a_queued_task_stored_by_an_earlier_version_opens() -> None:
    work = {"kind": "do", "minutes": 30, "day": FRIDAY.isoformat()}
    spec = TaskSpec.model_validate_json(
        json.dumps({"title": "Mail", "work": work, "details": {"due_day": "2026-03-02"}})
    )
    assert (spec.work, spec.details) == (Do(minutes=30), TaskDetails(from_day=FRIDAY, due_day=FRIDAY))
    assert TaskSpec.model_validate_json(spec.model_dump_json()) == spec
    assert TaskSpec.model_validate({"title": "Mail", "work": {**work, "day": None}}).details == TaskDetails()


def test_a_task_that_is_kept_for_a_day_is_not_due_before_it() -> None:
    wednesday = TaskDetails(from_day=MONDAY, from_time=time(17), due_day=FRIDAY, due_time=time(12))
    assert wednesday.move_to(FRIDAY) == TaskDetails(from_day=FRIDAY, due_day=FRIDAY, due_time=time(12))
    assert wednesday.allow_on(MONDAY) == wednesday
    assert TaskDetails(from_day=FRIDAY, from_time=time(9)).allow_on(MONDAY) == TaskDetails()


def test_a_block_command_stored_by_an_earlier_version_opens() -> None:
    head = {"command_id": "c", "user_id": "U1", "at": "2026-03-02T08:00:00Z", "session_id": "s"}
    stored = {**head, "title": "Stars", "start": "21:00", "minutes": 60}
    assert AddBlock.model_validate({**stored, "depth": "deep"}).task_kind is TaskKind.DEEP
    assert AddBlock.model_validate({**stored, "depth": None}).task_kind is None
    assert AddBlock.model_validate(stored).task_kind is None
