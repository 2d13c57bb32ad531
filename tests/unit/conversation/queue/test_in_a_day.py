"""Stage 2 offers the tasks of the queue; a task on a day is the person's until they report it as done."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.unit.conversation.person import Harness, Person
from tests.unit.conversation.queue.person import QueuePerson

from fateforger.session.cards import Button, Note, Prose
from fateforger.session.queue_commands import SettleTask
from fateforger.tasks.task import TaskState


@pytest.fixture
async def person(harness: Harness, anna: QueuePerson) -> Person:
    await anna.adds("Ask Ann", priority=1, work={"kind": "do", "minutes": 30})
    await anna.adds("Buy milk")
    await anna.adds("Plan it", work={"kind": "plan_day", "date": "2026-03-05"})
    await anna.adds("Call Carl")
    found = Person(harness)
    await found.to_tasks()
    return found


async def list_tasks(person: Person) -> list[str]:
    return [task.title for task in (await person.session()).day.inputs.tasks]


async def add(person: Person, title: str) -> None:
    """Press Add on a task of the queue."""
    (part,) = [p for p in person.card.parts if isinstance(p, Prose) and p.text.startswith(f"In your queue: {title}")]
    assert isinstance(part.control, Button)
    await person.click(part.control.action, part.control.target)


async def test_the_queue_is_offered_one_by_one_or_whole(person: Person, anna: QueuePerson) -> None:
    """A task that needs a thread of its own is not offered to a day."""
    offered = (await person.session()).open_work.offered
    assert [(each.task.title, each.task.minutes, each.source) for each in offered] == [
        ("Ask Ann", 30, "queue"),
        ("Buy milk", None, "queue"),
        ("Call Carl", None, "queue"),
    ]
    assert "In your queue: Ask Ann (30 min)" in person.words
    await add(person, "Buy milk")
    assert await list_tasks(person) == ["Buy milk"]
    await person.press("Add all 2 from the queue")
    assert await list_tasks(person) == ["Buy milk", "Ask Ann", "Call Carl"]
    assert "In your queue" not in person.words
    states = {task.spec.title: task.state for task in await anna.tasks()}
    assert states == {
        "Ask Ann": TaskState.WAITING,
        "Buy milk": TaskState.WAITING,
        "Call Carl": TaskState.WAITING,
        "Plan it": TaskState.ACTIVE,
    }
    milk = next(task for task in await anna.tasks() if task.spec.title == "Buy milk")
    assert milk.outcome == "It is planned for Monday 2 March. Say here when it is done."
    assert (milk.place, milk.claim) == (person.session_id, None)


async def test_what_is_taken_off_the_day_can_be_pulled_again(person: Person, anna: QueuePerson) -> None:
    await add(person, "Buy milk")
    await person.choose("Buy milk", "Remove")
    milk = next(task for task in await anna.tasks() if task.spec.title == "Buy milk")
    assert (milk.state, milk.outcome, milk.place) == (TaskState.ACTIVE, "", "")
    await person.fill("tasks", title_1="Taxes", proceed=False)
    assert "In your queue: Buy milk" in person.words


async def test_a_day_that_is_given_up_gives_its_tasks_back(person: Person, anna: QueuePerson) -> None:
    await add(person, "Buy milk")
    await person.press("Cancel")
    assert {task.state for task in await anna.tasks()} == {TaskState.ACTIVE}


async def test_the_person_says_that_it_is_done(person: Person, anna: QueuePerson, harness: Harness) -> None:
    """A finished task is not offered again; one without an answer is offered the next day."""
    await person.press("Add all 3 from the queue")
    milk = next(task for task in await anna.tasks() if task.spec.title == "Buy milk")
    card = await anna.send(SettleTask(**anna.about(), task_id=milk.id, word="done"))
    assert [part.text for part in card.parts if isinstance(part, Note)] == [], "it waits no more"
    assert (await anna.task(milk.id)).state is TaskState.DONE
    harness.clock.at += timedelta(days=1)
    tomorrow = Person(harness)
    await tomorrow.to_tasks()
    assert [each.task.title for each in (await tomorrow.session()).open_work.offered] == ["Ask Ann", "Call Carl"]
    await add(tomorrow, "Ask Ann")
    ann = next(task for task in await anna.tasks() if task.spec.title == "Ask Ann")
    assert ann.outcome == "It is planned for Tuesday 3 March. Say here when it is done."
