"""Each field of a task is the same by click, in words, at the command line, over MCP and in the queue's form."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import date, time
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.stores import new_file
from tests.factories.agents import ANNA, Agents
from tests.factories.inside import run_inside, without_doubt
from tests.factories.words import change, inputs, wants
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.person import Harness, Person
from tests.unit.conversation.queue.person import QueuePerson
from tests.unit.conversation.sessions import make_command, session, task, turn

from fateforger.conversation.turn_runs import run_turn
from fateforger.planning.task_details import BestTime, BoxItem, TaskDetails, TaskKind, Travel
from fateforger.session.model import InputFacts
from fateforger.session.open_work import with_queue
from fateforger.session.stages import TimeboxingStage
from fateforger.tasks.task import QueuedTask
from fateforger.values import replace

FRIDAY = date(2026, 3, 6)
FIRST = "FIRST"
"""Placeholder for the id of the task that comes before."""


@dataclass(frozen=True)
class Field:
    """The input for one field, by form, command and message, and the details that it has to give."""

    gives: TaskDetails
    filled: dict[str, Any]
    typed: tuple[str, ...]
    said: dict[str, Any] = field(default_factory=dict)
    """The model's reading of the words, where that differs from the form."""
    outside: dict[str, Any] = field(default_factory=dict)
    """Values of the queue outside the details, for an agent and in the queue's form."""


FIELDS = {
    "kind": Field(TaskDetails(kind=TaskKind.ERRAND), {"kind": "errand"}, ("--as", "errand")),
    "at": Field(TaskDetails(at=time(14)), {"at": time(14)}, ("--at", "14:00"), {"at": "14:00"}),
    "due": Field(
        TaskDetails(due_day=FRIDAY, due_time=time(16)),
        {"due_day": FRIDAY, "due_time": time(16)},
        ("--due", "2026-03-06 16:00"),
        {"due_day": "2026-03-06", "due_time": "16:00"},
    ),
    "not before": Field(
        TaskDetails(from_day=date(2026, 3, 2), from_time=time(13)),
        {"from_day": date(2026, 3, 2), "from_time": time(13)},
        ("--from", "2026-03-02 13:00"),
        {"from_day": "2026-03-02", "from_time": "13:00"},
    ),
    "best time": Field(TaskDetails(best=BestTime.EVENING), {"best": "evening"}, ("--best", "evening")),
    "priority": Field(
        TaskDetails(priority=1), {"priority": "1"}, ("--priority", "1"), {"priority": 1}, {"priority": 1}
    ),
    "people": Field(
        TaskDetails(people=("Ann", "Bob")),
        {"people": "Ann, Bob"},
        ("--with", "Ann", "--with", "Bob"),
        {"people": ["Ann", "Bob"]},
    ),
    "travel": Field(
        TaskDetails(travel=Travel(place="Dr. Ray", minutes=20)),
        {"place": "Dr. Ray", "travel_minutes": 20},
        ("--place", "Dr. Ray", "--travel", "20"),
    ),
    "pieces": Field(TaskDetails(splittable=True), {"splittable": True}, ("--in-pieces",)),
    "after": Field(TaskDetails(after=(FIRST,)), {"after": (FIRST,)}, ("--after", FIRST), {"after": ["Outline"]}),
    "box": Field(
        TaskDetails(items=(BoxItem(title="Card"), BoxItem(title="X-ray"))),
        {"items": "Card\nX-ray"},
        ("--item", "Card", "--item", "X-ray"),
        {"items": ["Card", "X-ray"]},
    ),
}


def with_first(values: Any, first: str) -> Any:
    return json.loads(json.dumps(values, default=str).replace(FIRST, first))


def on_the_day(queued: QueuedTask) -> TaskDetails:
    """Return the details with which a task of the queue comes onto a day's list."""
    (offered,) = with_queue(session(TimeboxingStage.CAPTURE_INPUTS), (), (queued,), ended=(), elsewhere=())
    return offered.task.details


Answer = tuple[TaskDetails, str]
"""The details of the task that it gave, and the id of the task that comes before."""


async def by_click(each: Field, harness: Harness, folder: Path) -> Answer:
    anna = Person(harness)
    await anna.to_tasks()
    await anna.fill("tasks", title_1="Outline", title_2="Dentist", proceed=False)
    first = (await anna.session()).day.inputs.tasks[0].id
    values = {**each.filled, **({"after": (first,)} if "after" in each.filled else {})}
    assert await anna.fill_row("Dentist", "task", size=1, **values) is None
    return (await anna.session()).day.inputs.tasks[1].details, first


async def in_words(each: Field, harness: Harness, folder: Path) -> Answer:
    first = task("Outline", 30)
    now = session(TimeboxingStage.CAPTURE_INPUTS, inputs=InputFacts(tasks=(first, task("Dentist", 45))))
    model = ScriptedModel(wants("answer"), inputs(change=[change(2, details=each.said or each.filled)]))
    out = await run_turn(turn(now, make_command("user_reply", text="…")), model)
    return out.session.day.inputs.tasks[1].details, first.id


async def at_the_command_line(each: Field, harness: Harness, folder: Path) -> Answer:
    new_file(folder).rename(folder / "fateforger.db")

    async def add(title: str, *options: str) -> QueuedTask:
        where = ("--user", "U1", "--data-dir", str(folder), "--now", "2026-03-02T09:00:00+00:00", "--json")
        status, out, err = await asyncio.to_thread(run_inside, "tasks", "add", title, *options, *where)
        assert (status, without_doubt(err)) == (0, ""), out
        return QueuedTask.model_validate({k: v for k, v in json.loads(out)["task"].items() if k != "waits_for"})

    first = await add("Outline")
    return on_the_day(await add("Dentist", *with_first(each.typed, first.id))), first.id


async def over_mcp(each: Field, harness: Harness, folder: Path) -> Answer:
    robot = Agents(harness.store)
    await robot.let_in()
    first = str((await robot.expect_success("create_task", {"title": "Outline"}))["task"]["id"])
    details = {} if each.outside else with_first(each.gives.model_dump(mode="json", exclude_defaults=True), first)
    await robot.expect_success("create_task", {"title": "Dentist", "details": details, **each.outside})
    (queued,) = [each for each in await harness.store.tasks.of(ANNA) if each.spec.title == "Dentist"]
    return on_the_day(queued), first


async def in_the_form_of_the_queue(each: Field, harness: Harness, folder: Path) -> Answer:
    anna = QueuePerson(harness)
    first = (await anna.adds("Outline")).id
    values = {**each.filled, **({"after": (first,)} if "after" in each.filled else {})}
    if "kind" in values:
        values["nature"] = values.pop("kind")
    await anna.fill("queue_add", size=1, title="Dentist", **values)
    (added,) = [each for each in await anna.tasks() if each.spec.title == "Dentist"]
    return on_the_day(added), first


async def in_the_form_that_edits(each: Field, harness: Harness, folder: Path) -> Answer:
    anna = QueuePerson(harness)
    first, second = (await anna.adds("Outline")).id, (await anna.adds("Dentist")).id
    values = {**each.filled, **({"after": (first,)} if "after" in each.filled else {})}
    if "kind" in values:
        values["nature"] = values.pop("kind")
    await anna.fill("queue_edit", target=second, size=1, **values)
    (edited,) = [each for each in await anna.tasks() if each.id == second]
    return on_the_day(edited), first


WAYS: tuple[Callable[[Field, Harness, Path], Awaitable[Answer]], ...] = (
    by_click,
    in_words,
    at_the_command_line,
    over_mcp,
    in_the_form_of_the_queue,
    in_the_form_that_edits,
)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FIELDS)
async def test_a_field_gives_the_same_task(
    name: str, way: Callable[[Field, Harness, Path], Awaitable[Answer]], harness: Harness, tmp_path_factory: Any
) -> None:
    """S247"""
    each = FIELDS[name]
    details, first = await way(each, harness, tmp_path_factory.mktemp("cli"))
    assert details == replace(each.gives, after=tuple(first for _ in each.gives.after))


def test_every_field_is_tried() -> None:
    """S247"""
    tried = {name for each in FIELDS.values() for name in each.gives.model_dump(exclude_defaults=True)}
    assert tried == set(TaskDetails.model_fields)
