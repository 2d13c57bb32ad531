"""Pulling: which task it is, that it is one, and what becomes of it (S146, S155, S157-S162)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

import pytest
from tests.unit.conversation.person import ANNA, EXECUTOR, MONDAY, Harness
from tests.unit.conversation.queue.person import QueuePerson, buttons, labels, words_of

from fateforger.errors import StoreUnavailable
from fateforger.planning.task_details import TaskDetails
from fateforger.session.forms import FormErrors
from fateforger.session.queue_commands import PullTask
from fateforger.tasks.ports import Change, Tasks
from fateforger.tasks.task import Do, PlanDay, QueuedTask, TaskState

FRIDAY = date(2026, 3, 6)


async def test_a_task_is_acknowledged_with_all_that_applies(anna: QueuePerson) -> None:
    """S155, S154: id, title, priority in words, workflow, rules, and the next command."""
    task = await anna.adds("Toggle dark mode", priority=1, project="web", workflow="tdd-cycle")
    assert words_of(anna.card) == (
        "I put “Toggle dark mode” into your queue.\n"
        f"`{task.id}` · something that you do · Priority: high · Project: web · Rules: tdd-cycle\n"
        "Rules that will apply:\n"
        "- A test exists and fails before implementation begins\n"
        "- The test passes before refactoring begins\n"
        "- All tests pass before a commit\n"
        "- The work is committed before it counts as done\n"
        "- The test is run after each implementation\n"
        "- Tests still pass after refactoring\n"
        "- Nothing is implemented before there is a test\n"
        "- Nothing is committed with a failing test\n"
        "- When the test fails, it is time to implement\n"
        "- When the test passes, it is time to refactor or to commit\n"
        f"Run `/pull {task.id}` to start it, or just go on; I keep it for you.\n\n"
        "It waits in your queue. Nothing has started yet."
    )
    assert labels(anna.card) == ["Pull it now", "Block time", "Remind me…", "Show my queue"]


async def test_a_repeated_command_adds_once(anna: QueuePerson) -> None:
    """K7: the same task, the same card, once."""
    await anna.fill("queue_add", title="Buy milk")
    (task,) = await anna.tasks()
    assert (task.spec.title, task.mode, task.state) == ("Buy milk", "dispositor", TaskState.ACTIVE)


async def test_pull_alone_takes_the_highest_priority_then_the_oldest(anna: QueuePerson) -> None:
    """S159"""
    low, high, later = await anna.adds("Low", priority=3), await anna.adds("High"), await anna.adds("Later")
    await anna.pulls()
    await anna.pulls()
    states = {task.spec.title: task.state for task in await anna.tasks()}
    assert states == {"High": TaskState.WAITING, "Later": TaskState.WAITING, "Low": TaskState.ACTIVE}
    assert (await anna.task(low.id)).attempts == 0
    assert {(await anna.task(each.id)).mode for each in (high, later)} == {"executor"}


async def test_pull_with_an_id_takes_that_one(anna: QueuePerson) -> None:
    """S158, S146: and its card says in which mode."""
    await anna.adds("First")
    second = await anna.adds("Second")
    await anna.pulls(second.id)
    assert "**Second**" in anna.words
    assert "It was pulled from your queue." in anna.words
    assert labels(anna.card) == ["Done", "Block time", "Put it back", "Show my queue"]


async def test_an_empty_queue_is_said_plainly(anna: QueuePerson) -> None:
    """S160"""
    await anna.pulls()
    assert anna.words == "Your queue is empty. There is nothing to pull.\n"


async def test_the_queue_says_what_is_due_when(anna: QueuePerson) -> None:
    """Also in App Home, and what is late is marked."""
    await anna.adds("Taxes", details={"due_day": "2026-03-06", "due_time": "12:00"})
    await anna.adds("Invoice", details={"due_day": "2026-02-27"})
    await anna.lists()
    home = words_of(await anna.harness.coordinator.home(ANNA))
    for words in (anna.words, home):
        assert "due Friday 6 March at 12:00" in words
        assert "⚠️ due Friday 27 February, and not done" in words


async def test_the_queue_is_listed_with_what_can_be_pressed(anna: QueuePerson) -> None:
    """S157"""
    task = await anna.adds("Buy milk", tags=("home",))
    await anna.lists()
    assert "1 task in your queue, 1 ready to be pulled." in anna.words
    assert f"[home] **Buy milk** `{task.id}` ready" in anna.words
    await anna.press("Pull", row="Buy milk")
    assert (await anna.task(task.id)).state is TaskState.WAITING


async def test_the_list_is_one_press_away_from_the_task_that_replaced_it(anna: QueuePerson) -> None:
    """S497"""
    await anna.adds("Buy milk")
    await anna.adds("Call the dentist")
    await anna.lists()
    await anna.press("Pull", row="Buy milk")
    assert "Call the dentist" not in anna.words
    await anna.press("Show my queue")
    assert "**Call the dentist**" in anna.words


async def test_a_task_for_a_later_day_says_so_and_is_not_the_next(anna: QueuePerson) -> None:
    """S407, S419: in the list and on App Home, until that day has come; it is pulled if it is named."""
    task = await anna.adds("Groceries", details=TaskDetails(from_day=date(2026, 3, 5)))
    await anna.lists()
    assert f"**Groceries** `{task.id}` for Thursday 5 March" in anna.words
    assert "1 task in your queue, 0 ready to be pulled." in anna.words
    assert "Pull the next" not in labels(anna.card)
    assert "1 task, 0 ready. The next ones are for a later day." in words_of(await anna.harness.coordinator.home(ANNA))
    await anna.pulls()
    assert anna.words.startswith(
        "Nothing can be pulled just now: what is in your queue waits for something, or is for a later day."
    )
    await anna.pulls(task.id)
    assert (await anna.task(task.id)).state is TaskState.WAITING


async def test_the_queue_says_the_same_everywhere(anna: QueuePerson) -> None:
    """S419: a priority that is not the normal one, what it waits for, its length and its times."""
    await anna.adds("Report", work=Do(minutes=90), priority=1, details=TaskDetails(at=time(9, 30)))
    await anna.lists()
    assert "high priority, ready, 1 h 30 min, at 09:30" in anna.words
    home = words_of(await anna.harness.coordinator.home(ANNA))
    assert "high priority · ready · 1 h 30 min · at 09:30" in home


@pytest.mark.parametrize("label", ["Done", "Put it back"])
async def test_a_word_about_a_task_counts_once(anna: QueuePerson, label: str) -> None:
    task = await anna.adds()
    await anna.pulls()
    await anna.press(label)
    after = await anna.task(task.id)
    assert after.state is {"Done": TaskState.DONE, "Put it back": TaskState.ACTIVE}[label]
    assert anna.deliveries[-1]["ts"] == "9.0"


async def test_what_is_somebody_elses_is_not_there(anna: QueuePerson, harness: Harness) -> None:
    task = await anna.adds()
    robin = QueuePerson(harness, user="U_ROBIN")
    await robin.pulls(task.id)
    assert robin.words == f"There is no task `{task.id}` in your queue.\n"
    assert (await anna.task(task.id)).state is TaskState.ACTIVE


async def test_what_is_not_done_after_all_comes_back(anna: QueuePerson) -> None:
    """S444: a slip of the finger is undone on the card that it was made on, and a second press changes nothing."""
    task = await anna.adds("Ask Ann")
    await anna.pulls()
    await anna.press("Done")
    assert labels(anna.card) == ["Not done", "Show my queue"]
    (button,) = (button for _, button in buttons(anna.card) if button.label == "Not done")
    again = anna.read_press(button)
    for _ in range(2):
        await anna.send(again)
    assert (await anna.task(task.id)).state is TaskState.ACTIVE


async def test_a_task_is_not_done_before_each_criterion_is_met(anna: QueuePerson) -> None:
    """S162: verified before it counts as done."""
    task = await anna.adds("Write the report", acceptance_criteria=("It has a summary", "Ben has read it"))
    await anna.pulls()
    refused = await anna.fill("queue_done", target=task.id, met=("0",))
    assert refused == FormErrors(errors={"met": "It is not done yet. Still open: Ben has read it."})
    assert (await anna.task(task.id)).state is TaskState.WAITING
    await anna.fill("queue_done", target=task.id, met=("0", "1"))
    assert (await anna.task(task.id)).state is TaskState.DONE


async def test_the_rules_of_the_workflow_are_held_against_what_was_done(anna: QueuePerson) -> None:
    """S162: a refusal names the rule and the remedy; what was done in order is kept with the task."""
    task = await anna.adds("Toggle", workflow="tdd-cycle")
    await anna.pulls()
    refused = await anna.fill("queue_done", target=task.id, did=("implement", "write_test"))
    assert isinstance(refused, FormErrors)
    assert "Rule: A test exists and fails before implementation begins." in refused.errors["did"]
    order = ("write_test", "see_test_fail", "implement", "run_test", "commit")
    assert not isinstance(await anna.fill("queue_done", target=task.id, did=order), FormErrors)
    after = await anna.task(task.id)
    assert after.state is TaskState.DONE
    assert [step.do for step in after.steps] == [(name,) for name in ("claim_task", *order, "close_task")]


async def test_planning_a_day_opens_its_thread_once_and_is_done_with_the_commit(anna: QueuePerson) -> None:
    """S146, S162: the thread is begun by the ordinary command, knows its mode, and what is done is seen."""
    task = await anna.adds("Plan Friday", work=PlanDay(date=FRIDAY))
    await anna.pulls()
    assert "I opened the plan for Friday 6 March in a thread of its own." in anna.words
    await anna.run_commands()
    person = await anna.planner()
    session = await person.session()
    assert (session.date, session.options.mode, session.id) == (FRIDAY, "executor", (await anna.task(task.id)).place)
    assert "I'll tick this task off once the day is on your calendar." in person.words
    await anna.looks()
    assert (await anna.task(task.id)).state is TaskState.WAITING
    for label in ("Plan this day", "Continue"):
        await person.press(label)
    await person.fill("tasks", title_1="Report", minutes_1=60)
    for label in ("Refine", "Commit to calendar"):
        await person.press(label)
    await anna.looks()
    after = await anna.task(task.id)
    assert (after.state, after.outcome) == (TaskState.DONE, "Friday 6 March is on your calendar.")
    told = anna.deliveries[-1]
    assert (told["channel"], told["thread_ts"], told["beside"]) == (session.channel, "1.0", True)
    await anna.looks()
    assert anna.deliveries[-1] is told


async def test_a_plan_that_is_given_up_is_a_task_that_failed_and_can_be_tried_again(anna: QueuePerson) -> None:
    task = await anna.adds("Plan Friday", work=PlanDay(date=FRIDAY))
    await anna.pulls()
    await anna.run_commands()
    person = await anna.planner()
    await person.press("Cancel")
    await anna.looks()
    failed = await anna.task(task.id)
    assert failed.state is TaskState.FAILED
    await anna.lists()
    await anna.press("Retry", row="Plan Friday")
    await anna.pulls()
    await anna.run_commands()
    again = await anna.task(task.id)
    assert (again.state, again.place == failed.place) == (TaskState.WAITING, False)


async def test_a_day_that_is_over_cannot_be_planned(anna: QueuePerson) -> None:
    task = await anna.adds("Plan Sunday", work=PlanDay(date=MONDAY - timedelta(days=1)))
    await anna.pulls()
    after = await anna.task(task.id)
    assert (after.state, after.outcome) == (
        TaskState.FAILED,
        "Sunday 1 March is over, so there is nothing left to plan on it.",
    )


async def test_pulls_at_once_take_a_task_each(anna: QueuePerson) -> None:
    """S161: no two pulls get one task."""
    for n in range(6):
        await anna.adds(f"Task {n}")
    await asyncio.gather(*(anna.harness.coordinator.handle(PullTask(**anna.about())) for _ in range(6)))
    assert [task.attempts for task in await anna.tasks()] == [1] * 6


async def test_a_pull_that_was_carried_out_is_not_carried_out_again(anna: QueuePerson) -> None:
    """K7: the job may be tried again after everything was done."""
    await anna.adds("First")
    await anna.adds("Second")
    command = PullTask(**anna.about())
    await anna.send(command)
    await anna.send(command)
    assert [task.state for task in await anna.tasks()] == [TaskState.WAITING, TaskState.ACTIVE]
    assert len([delivery for delivery in anna.deliveries if delivery["v"] == f"{command.command_id}/card"]) == 1


async def test_a_program_that_dies_between_claim_and_effect_leaves_nothing_undone(anna: QueuePerson) -> None:
    """S161: its claim is released at boot, and the command, which is still in the inbox, is carried out once."""
    task = await anna.adds("Plan Friday", work=PlanDay(date=FRIDAY))
    claimed = await anna.harness.store.tasks.claim(
        ANNA, EXECUTOR, now=anna.harness.clock.now(), lease_seconds=5.0, task_id=None
    )
    assert claimed is not None
    await anna.reboot()
    assert (await anna.task(task.id)).state is TaskState.ACTIVE
    await anna.pulls()
    await anna.run_commands()
    assert [s.date for s in await anna.harness.store.sessions.of_user(ANNA)] == [FRIDAY]


@dataclass
class BrokenQueue:
    """A queue in which no claim can be ended."""

    there: Tasks

    def __getattr__(self, name: str) -> Any:
        return getattr(self.there, name)

    async def settle(self, task: QueuedTask, change: Change, *, now: datetime) -> QueuedTask | None:
        raise StoreUnavailable("The disk is full.")


async def test_a_program_that_dies_between_effect_and_settling_does_not_do_it_twice(anna: QueuePerson) -> None:
    """S161: the thread of the day is begun under an id that follows from the task."""
    task = await anna.adds("Plan Friday", work=PlanDay(date=FRIDAY))
    command = PullTask(**anna.about())
    store = anna.harness.store
    anna.harness.tasks = BrokenQueue(store.tasks)
    anna.harness.restart()
    with pytest.raises(StoreUnavailable):
        await anna.send(command)
    anna.harness.tasks = None
    await anna.reboot()
    await anna.send(command)
    await anna.run_commands()
    assert len(await store.sessions.of_user(ANNA)) == 1
    assert (await anna.task(task.id)).state is TaskState.WAITING


async def test_the_claim_of_another_program_that_died_runs_out(anna: QueuePerson) -> None:
    """S161"""
    await anna.adds("First")
    await anna.harness.store.tasks.claim(ANNA, "another", now=anna.harness.clock.now(), lease_seconds=5.0)
    await anna.pulls()
    assert "Nothing can be pulled just now" in anna.words
    anna.harness.clock.at += timedelta(seconds=6)
    await anna.pulls()
    assert "**First**" in anna.words
