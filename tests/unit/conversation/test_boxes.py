"""Small tasks share one block with its list; each is ticked off on its own, and all of it can be undone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tests.unit.conversation.person import MORNING, Harness, Person
from tests.unit.conversation.queue.person import QueuePerson, buttons

from fateforger.planning.plan import resolve
from fateforger.session.cards import DayView, Picture
from fateforger.session.model import Session
from fateforger.tasks.task import TaskState
from fateforger.ui.picture_words import split_by_font

SMALL: dict[str, Any] = {
    "title_1": "Bank",
    "minutes_1": 15,
    "title_2": "Expenses",
    "minutes_2": 20,
    "title_3": "Train",
    "minutes_3": 10,
}
OFFER = "Bank, Expenses and Train are small. Together they are one box of 45 min, each ticked off on its own."


async def with_small_tasks(anna: Person) -> None:
    await anna.to_tasks()
    await anna.fill("tasks", **SMALL, kind_1="shallow", kind_2="shallow", kind_3="shallow", proceed=False)


async def to_box(anna: Person) -> None:
    """Commit a day with a box."""
    await with_small_tasks(anna)
    await anna.press("Put together")
    for label in ("Continue", "Refine", "Commit to calendar"):
        await anna.press(label)


def list_tasks(now: Session) -> list[tuple[str, int | None]]:
    return [(task.title, task.minutes) for task in now.day.inputs.tasks]


def list_blocks(now: Session) -> list[tuple[str, int]]:
    assert now.planning.plan is not None
    usual = {"Lunch", "Shut down"}
    return [(b.event.name, b.minutes) for b in resolve(now.planning.plan) if b.event.name not in usual]


def notes(harness: Harness, title: str) -> str:
    return next(e.description for e in harness.calendar.store.get_live_events().values() if e.summary == title)


async def test_small_tasks_are_put_together_and_taken_apart_by_one_click(anna: Person) -> None:
    """S248"""
    await with_small_tasks(anna)
    before = (await anna.session()).day.inputs
    assert OFFER in anna.words
    await anna.press("Put together")
    assert list_tasks(await anna.session()) == [("Small tasks", 45)]
    assert "☐ Bank, ☐ Expenses, ☐ Train" in anna.words
    await anna.choose("Small tasks", "Take apart")
    assert (await anna.session()).day.inputs == before


async def test_two_small_tasks_are_not_offered_and_a_dated_one_is_not_boxed(anna: Person) -> None:
    await with_small_tasks(anna)
    await anna.fill_row("Bank", "task", minutes=30)
    assert "Put together" not in anna.labels()
    ids = " ".join(task.id for task in (await anna.session()).day.inputs.tasks)
    await anna.fill_row("Train", "task", size=1, people="Ann")
    await anna.click("task.together", target=ids)
    assert "“Train” has people, so it keeps a block of its own." in anna.words


async def test_blocks_are_put_together_in_refine_and_one_undo_takes_it_back(anna: Person) -> None:
    await with_small_tasks(anna)
    await anna.press("Continue")
    await anna.press("Refine")
    before = await anna.session()
    await anna.press("Put together")
    assert list_blocks(await anna.session()) == [("Small tasks", 45)]
    await anna.press("Undo last update")
    after = await anna.session()
    assert (list_blocks(after), after.day.inputs) == (list_blocks(before), before.day.inputs)


async def test_items_are_ticked_off_on_the_committed_day_and_on_the_calendar(anna: Person, harness: Harness) -> None:
    """S248"""
    await to_box(anna)
    assert notes(harness, "Small tasks") == "☐ Bank\n☐ Expenses\n☐ Train"
    assert "☐ Bank, ☐ Expenses, ☐ Train" in anna.words
    await anna.press("☐ Bank")
    assert notes(harness, "Small tasks") == "☑ Bank\n☐ Expenses\n☐ Train"
    assert "“Bank” is done." in anna.words
    await anna.press("Undo last update")
    assert notes(harness, "Small tasks") == "☐ Bank\n☐ Expenses\n☐ Train"
    harness.restart()
    await anna.press("☐ Bank")
    await anna.press("☐ Expenses")
    await anna.press("☑ Bank")
    assert notes(harness, "Small tasks") == "☐ Bank\n☑ Expenses\n☐ Train"


async def test_what_is_not_ticked_is_offered_again_and_a_whole_box_is_not(anna: Person, harness: Harness) -> None:
    """S248"""
    await to_box(anna)
    await anna.press("☐ Bank")
    harness.clock.at = MORNING + timedelta(days=1)
    tuesday = Person(harness)
    await tuesday.to_tasks()
    (offered,) = (await tuesday.session()).open_work.offered
    assert [(item.title, item.done) for item in offered.task.details.items] == [
        ("Bank", True),
        ("Expenses", False),
        ("Train", False),
    ]


async def test_a_box_of_which_all_is_ticked_is_done(anna: Person, harness: Harness) -> None:
    await to_box(anna)
    for title in ("Bank", "Expenses", "Train"):
        await anna.press(f"☐ {title}")
    assert "That was all of “Small tasks”; it is done." in anna.words
    harness.clock.at = MORNING + timedelta(days=1)
    tuesday = Person(harness)
    await tuesday.to_tasks()
    assert (await tuesday.session()).open_work.offered == ()


async def test_a_box_in_the_queue_is_ticked_off_there(harness: Harness) -> None:
    """S248"""
    anna = QueuePerson(harness)
    box = await anna.adds("Admin", details={"items": [{"title": "Bank"}, {"title": "Expenses"}]})
    await anna.pulls(box.id)
    await anna.press("☐ Bank")
    assert [item.done for item in (await anna.tasks())[0].spec.details.items] == [True, False]
    assert "☑ Bank" in [button.label for _, button in buttons(anna.card)]
    await anna.press("☑ Bank")
    await anna.press("☐ Bank")
    await anna.press("☐ Expenses")
    (done,) = await anna.harness.store.tasks.of(anna.user, ended=True)
    assert done.state is TaskState.DONE
    await anna.press("☑ Expenses")
    (again,) = await anna.tasks()
    assert (again.state, [item.done for item in again.spec.details.items]) == (TaskState.WAITING, [True, False])
    assert "It is open again." in anna.words


async def test_the_picture_says_what_is_done_in_letters_that_it_has(anna: Person) -> None:
    """Its renderer draws a whole line in another font where one character is missing."""
    await to_box(anna)
    await anna.press("☐ Bank")
    (view,) = [part.day for part in anna.card.parts if isinstance(part, Picture)]
    assert isinstance(view, DayView)
    (box,) = [block.title for block in view.blocks if block.title.startswith("Small tasks")]
    assert box == "Small tasks: Bank (done), Expenses, Train"
    assert "" not in {family for family, _ in split_by_font(box)}


async def test_what_is_ticked_on_a_day_is_ticked_in_the_queue(harness: Harness, anna: Person) -> None:
    """S248: in both directions, and all of the box is done there as well."""
    queue_person = QueuePerson(harness)
    await queue_person.adds("Admin", details={"items": [{"title": "Bank"}, {"title": "Expenses"}]})
    await anna.to_tasks()
    await anna.press("Add")
    for label in ("Continue", "Refine", "Commit to calendar", "☐ Bank"):
        await anna.press(label)
    (box,) = await queue_person.tasks()
    assert [item.done for item in box.spec.details.items] == [True, False]
    await anna.press("☐ Expenses")
    assert await queue_person.tasks() == ()
    await anna.press("☑ Expenses")
    (box,) = await queue_person.tasks()
    assert (box.state, [item.done for item in box.spec.details.items]) == (TaskState.WAITING, [True, False])
    await anna.press("Back")
    await anna.press("Back")
    await anna.fill_row("Admin", "task", remove=True)
    (box,) = await queue_person.tasks()
    assert (box.state, [item.done for item in box.spec.details.items]) == (TaskState.ACTIVE, [True, False])


async def test_small_tasks_of_the_queue_are_done_there_when_their_box_is(harness: Harness, anna: Person) -> None:
    """S248"""
    queue_person = QueuePerson(harness)
    for title in ("Bank", "Expenses", "Train"):
        await queue_person.adds(title, work={"kind": "do", "minutes": 10}, details={"kind": "shallow"})
    await anna.to_tasks()
    await anna.press("Add all 3 from the queue")
    for label in ("Put together", "Continue", "Refine", "Commit to calendar", "☐ Bank"):
        await anna.press(label)
    assert [task.spec.title for task in await queue_person.tasks()] == ["Expenses", "Train"]
    await anna.press("☑ Bank")
    assert len(await queue_person.tasks()) == 3


async def test_what_is_done_on_a_day_is_done_in_the_queue(harness: Harness, anna: Person) -> None:
    """S248: a task with criteria waits there until the person says that each is met."""
    queue_person = QueuePerson(harness)
    await queue_person.adds("Letter", work={"kind": "do", "minutes": 60})
    report = await queue_person.adds("Report", work={"kind": "do", "minutes": 60}, acceptance_criteria=["Sent to Ann"])
    await anna.to_tasks()
    await anna.press("Add all 2 from the queue")
    for label in ("Continue", "Refine", "Commit to calendar"):
        await anna.press(label)
    harness.clock.at = MORNING.replace(hour=11)
    plan = (await anna.session()).planning.plan
    assert plan is not None
    keys = {block.event.name: block.key for block in resolve(plan)}
    await anna.press("Back to refine")
    await anna.fill("replan", done=(keys["Letter"], keys["Report"]))
    (left,) = await queue_person.tasks()
    assert (left.id, left.outcome) == (report.id, "It is not done yet. Still open: Sent to Ann.")
    await anna.press("Undo last update")
    assert {task.spec.title: task.state for task in await queue_person.tasks()} == dict.fromkeys(
        ("Letter", "Report"), TaskState.WAITING
    )
