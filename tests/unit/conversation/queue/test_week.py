"""A week from the queue: drafted on one card, each accepted day in a thread of its own."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from tests.fakes.google_calendar import CallFailure
from tests.unit.conversation.person import ANNA, CHANNEL, MONDAY, Harness, meeting
from tests.unit.conversation.queue.person import QueuePerson, buttons, labels

from fateforger.conversation.queue.service import edit_task
from fateforger.session.cards import Card
from fateforger.session.commands.thread import Opening
from fateforger.session.model import Session
from fateforger.session.queue_commands import PlanWeek, ReviseTask
from fateforger.session.stages import TimeboxingStage
from fateforger.tasks.task import Do, TaskState
from fateforger.values import replace

DAYS = [MONDAY + timedelta(days=n) for n in range(5)]
NAMES = ["Monday 2 March", "Tuesday 3 March", "Wednesday 4 March", "Thursday 5 March", "Friday 6 March"]


async def adds(anna: QueuePerson, title: str, minutes: int = 60, *, priority: int = 2, **details: Any) -> str:
    task = await anna.adds(title, work=Do(minutes=minutes), priority=priority, details=details)
    return task.id


def envelope(anna: QueuePerson) -> dict[str, Any]:
    about = anna.about()
    return {name: about[name] for name in ("command_id", "user_id", "at")}


async def plans(anna: QueuePerson, span: str = "coming") -> Card:
    return await anna.send(PlanWeek.model_validate({**anna.about(), "span": span}))


def read_days(card: Card) -> dict[str, str]:
    """Return the card's row for each day, by its name."""
    rows = [getattr(part, "text", "") for part in card.parts]
    return {name: row for name in NAMES for row in rows if row.startswith(f"**{name}**")}


def day_of(card: Card, title: str) -> date:
    return next(day for day, row in zip(DAYS, read_days(card).values(), strict=True) if title in row)


async def sessions(harness: Harness) -> dict[date, Session]:
    return {each.date: each for each in await harness.store.sessions.of_user(ANNA)}


async def test_a_week_shows_each_task_once_and_spreads_the_load(anna: QueuePerson, harness: Harness) -> None:
    """S251"""
    titles = [f"Chapter {n}" for n in range(10)]
    for title in titles:
        await adds(anna, title)
    card = await plans(anna)
    rows = read_days(card)
    assert list(rows) == NAMES
    assert [sum(title in row for row in rows.values()) for title in titles] == [1] * 10
    assert [sum(title in row for title in titles) for row in rows.values()] == [2] * 5
    assert "Nothing is on your calendar yet" in anna.words
    assert await sessions(harness) == {}


async def test_due_dates_and_orders_hold_across_the_days(anna: QueuePerson) -> None:
    """S251"""
    for n in range(8):
        await adds(anna, f"Filler {n}", 120)
    late = await adds(anna, "Collect figures")
    second = await adds(anna, "Write report", 180, after=(late,))
    await adds(anna, "Send report", 30, kind="shallow", after=(second,), due_day=DAYS[2].isoformat())
    await adds(anna, "Book room", 30, kind="shallow", from_day=DAYS[3].isoformat())
    card = await plans(anna)
    order = [day_of(card, title) for title in ("Collect figures", "Write report", "Send report")]
    assert order == sorted(order)
    assert order[-1] <= DAYS[2]
    assert day_of(card, "Book room") >= DAYS[3]
    for row in read_days(card).values():
        places = [row.find(title) for title in ("Collect", "Write", "Send") if title in row]
        assert places == sorted(places)


async def test_what_has_no_place_is_named_with_the_reason(anna: QueuePerson) -> None:
    await adds(anna, "Move house", 900, splittable=False)
    first = await adds(anna, "Build a shed", 1000, splittable=False)
    await adds(anna, "Paint the shed", 30, after=(first,))
    await plans(anna)
    assert "No room on these days" in anna.words
    assert (
        "- Move house: it needs 15 h, and none of these days has that much room. Make smaller tasks of it" in anna.words
    )
    assert "- Paint the shed: it comes after “Build a shed”, which has no place" in anna.words


async def test_tasks_that_wait_for_each_other_are_named(anna: QueuePerson, harness: Harness) -> None:
    """The form refuses them; a queue from before may hold some."""
    first = await adds(anna, "Paint the wall")
    second = await adds(anna, "Clear the room", after=(first,))
    await adds(anna, "Call Bo", 15)
    spec = (await anna.task(first)).spec
    spec = replace(spec, details=replace(spec.details, after=(second,)))
    refused = await edit_task(
        harness.store.tasks, ReviseTask(**{**envelope(anna), "task_id": first, "spec": spec}), now=harness.clock.now()
    )
    assert "would wait for each other" in refused
    await harness.store.tasks.change(ANNA, first, lambda task: replace(task, spec=spec), now=harness.clock.now())
    card = await plans(anna)
    assert "“Paint the wall” and “Clear the room” would wait for each other" in anna.words
    assert sum("Call Bo" in row for row in read_days(card).values()) == 1


async def test_all_days_open_in_threads_with_their_tasks_planned(anna: QueuePerson, harness: Harness) -> None:
    """S251"""
    tasks = [await adds(anna, f"Chapter {n}") for n in range(5)]
    before = read_days(await plans(anna))
    await anna.press("Open all 5 days")
    await anna.run_commands()
    found = await sessions(harness)
    assert sorted(found) == DAYS
    for day, row in zip(DAYS, before.values(), strict=True):
        session = found[day]
        assert session.stage is TimeboxingStage.REFINE
        assert session.planning.plan is not None
        (task,) = session.day.inputs.tasks
        assert task.title in row
        assert any(event.name == task.title for event in session.planning.plan.events)
        assert session.sync.written is None or session.options.calendar_write == "refine"
    assert {task.state for task in await anna.tasks()} == {TaskState.WAITING}
    assert {task.place for task in await anna.tasks()} == {each.id for each in found.values()}
    assert all("✓ open in a thread of its own" in row for row in read_days(anna.card).values())
    assert labels(anna.card) == ["Plan it again", "Add a task"]
    assert len(tasks) == 5
    assert "nothing to plan" in words(await plans(anna))


def words(card: Card) -> str:
    return card.text


async def test_one_day_opens_and_the_others_wait(anna: QueuePerson, harness: Harness) -> None:
    for n in range(5):
        await adds(anna, f"Chapter {n}")
    before = read_days(await plans(anna))
    assert "Drop the week" in labels(anna.card)
    await anna.press("Open", row="Tuesday 3 March")
    await anna.run_commands()
    assert list(await sessions(harness)) == [DAYS[1]]
    after = read_days(anna.card)
    assert "✓ open in a thread of its own" in after["Tuesday 3 March"]
    assert {k: v for k, v in after.items() if k != "Tuesday 3 March"} == {
        k: v for k, v in before.items() if k != "Tuesday 3 March"
    }
    assert "Drop the week" not in labels(anna.card)
    card = await plans(anna)
    assert "is being planned already" in read_days(card)["Tuesday 3 March"]


async def test_a_day_is_opened_once_though_pressed_on_an_old_card(anna: QueuePerson, harness: Harness) -> None:
    harness.clock.at += timedelta(days=3)
    await adds(anna, "Chapter 1")
    await plans(anna, "this")
    old = next(button for _, button in buttons(anna.card) if button.label == "Open all 2 days")
    await anna.send(anna.read_press(old))
    await anna.run_commands()
    first = await sessions(harness)
    await anna.send(anna.read_press(old))
    await anna.run_commands()
    assert await sessions(harness) == first
    assert sorted(first) == DAYS[3:]
    assert [first[day].stage for day in DAYS[3:]] == [TimeboxingStage.REFINE, TimeboxingStage.CAPTURE_INPUTS]


async def test_a_dropped_week_changes_nothing(anna: QueuePerson, harness: Harness) -> None:
    await adds(anna, "Chapter 1")
    await plans(anna)
    await anna.press("Drop the week")
    assert "as before" in anna.words
    assert await sessions(harness) == {}
    assert [task.state for task in await anna.tasks()] == [TaskState.ACTIVE]


async def test_a_day_full_of_meetings_gets_no_task(anna: QueuePerson, harness: Harness) -> None:
    meeting(harness, "Workshop", "09:00", "17:30", DAYS[1])
    for n in range(8):
        await adds(anna, f"Chapter {n}")
    rows = read_days(await plans(anna))
    assert "Chapter" not in rows["Tuesday 3 March"]
    assert "09:00 _Workshop_" in rows["Tuesday 3 March"]


async def test_a_calendar_that_cannot_be_read_plans_nothing(anna: QueuePerson, harness: Harness) -> None:
    await adds(anna, "Chapter 1")
    harness.calendar.inject(CallFailure(), verb="window")
    await plans(anna)
    assert "I cannot read your calendar of Monday 2 March, so I planned no week." in anna.words
    harness.calendar.calm()
    await anna.press("Try again")
    assert "Your week, Monday 2 March" in anna.words


@pytest.mark.parametrize("steps", [0, 1, 4, 5, 6, 10])
async def test_a_death_between_two_steps_loses_and_doubles_nothing(
    anna: QueuePerson, harness: Harness, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    """S251: The program dies before it queues one more command, and carries the click out again after its restart."""
    harness.clock.at += timedelta(days=3)
    tasks = [await adds(anna, f"Chapter {n}") for n in range(2)]
    await plans(anna, "this")
    click = anna.read_press(next(button for _, button in buttons(anna.card) if button.label.startswith("Open all")))
    jobs = harness.store.jobs
    kinds = type(jobs)
    enqueue, left = kinds.enqueue, iter([True] * steps)

    async def die(self: Any, job: Any, **when: Any) -> bool:
        if not next(left, False):
            raise SystemExit("killed")
        return await enqueue(self, job, **when)

    monkeypatch.setattr(kinds, "enqueue", die)
    with pytest.raises(SystemExit):
        await anna.send(click)
    monkeypatch.setattr(kinds, "enqueue", enqueue)
    await anna.reboot()
    await anna.run_commands()
    await anna.send(click)
    await anna.run_commands()
    found = await harness.store.sessions.of_user(ANNA)
    assert sorted(each.date for each in found) == DAYS[3:]
    assert {each.stage for each in found} == {TimeboxingStage.REFINE}
    assert sorted(task.id for each in found for task in each.day.inputs.tasks) == sorted(tasks)
    of_task = {task.id: each.id for each in found for task in each.day.inputs.tasks}
    assert {task.id: task.place for task in await anna.tasks()} == of_task


async def test_a_task_that_was_taken_meanwhile_is_left_out(anna: QueuePerson, harness: Harness) -> None:
    gone = await adds(anna, "Chapter 1")
    await adds(anna, "Chapter 2")
    await plans(anna)
    card = anna.card
    await anna.pulls(gone)
    all_ = next(button for _, button in buttons(card) if button.label == "Open all 5 days")
    await anna.send(anna.read_press(all_))
    await anna.run_commands()
    titles = [task.title for each in (await sessions(harness)).values() for task in each.day.inputs.tasks]
    assert titles == ["Chapter 2"]


@pytest.mark.parametrize(
    ("typed", "named"),
    [
        ("/week", "Your week, Monday 2 March to Friday 6 March"),
        ("/week this", "Your week, Monday 2 March to Friday 6 March"),
        ("/week next", "Your week, Monday 9 March to Friday 13 March"),
        ("/week soon", "the next five working days"),
    ],
)
async def test_a_typed_command_plans_the_week(anna: QueuePerson, typed: str, named: str) -> None:
    await adds(anna, "Chapter 1")
    about = {k: v for k, v in anna.about().items() if k != "channel"}
    await anna.send(Opening(**about, channel=CHANNEL, thread_ts=None, text=typed))
    assert named in anna.words


async def test_the_queue_offers_to_plan_the_week(anna: QueuePerson) -> None:
    await adds(anna, "Chapter 1")
    await anna.lists()
    await anna.press("Plan my week")
    assert "Your week, Monday 2 March" in anna.words
