"""Around the queue: what can be done here is done, and nothing else is claimed (S163-S166)."""

from __future__ import annotations

from datetime import date

import pytest
from tests.unit.conversation.queue.person import QueuePerson, labels, words_of

from fateforger.conversation.queue.work import NO_MODEL
from fateforger.session.queue_commands import DoTaskNow
from fateforger.tasks.task import Decompose, PlanDay, ReviewParts, TaskState

FRIDAY = date(2026, 3, 6)
CANNOT = (
    "myself. I plan days, block time, break goals into parts, remind you, answer questions, and keep what you tell me."
)


async def test_what_is_simple_is_done_at_once_with_a_note(anna: QueuePerson) -> None:
    """S163, option A."""
    task = await anna.adds("Plan Friday", work=PlanDay(date=FRIDAY))
    await anna.press("Do it now")
    assert anna.words.startswith(
        "I go ahead right away. Note that this isn't tracked in your queue.\n\nI opened the plan"
    )
    assert "It did not go through your queue." in anna.words
    after = await anna.task(task.id)
    assert (after.state, after.mode) == (TaskState.STOPPED, "direct")
    await anna.run_commands()
    person = await anna.planner()
    assert (await person.session()).options.mode == "direct"


@pytest.mark.parametrize("insists", [False, True])
async def test_ordinary_work_is_not_claimed_and_stays(anna: QueuePerson, *, insists: bool) -> None:
    """S163, S165: the refusal comes at once; the task stays, and can get time in a day."""
    task = await anna.adds("Move the office", workflow="feature-dev")
    assert labels(anna.card) == ["Pull it now", "Block time", "Remind me…", "Show my queue"]
    await anna.send(DoTaskNow(**anna.about(), task_id=task.id, insists=insists))
    assert anna.words.startswith(f"I cannot do “Move the office” {CANNOT} It stays in your queue.")
    assert labels(anna.card) == ["Pull it now", "Block time", "Show my queue"]
    assert (await anna.task(task.id)).state is TaskState.ACTIVE
    await anna.fill("queue_time", target=task.id, date=FRIDAY, minutes=60)
    await anna.run_commands()
    person = await anna.planner()
    assert [each.title for each in (await person.session()).day.inputs.tasks] == ["Move the office"]


async def test_a_review_is_the_persons(anna: QueuePerson) -> None:
    """S165: else the parts of the goal would wait for ever."""
    task = await anna.adds("Review", work=ReviewParts(goal="ff-222222"))
    await anna.send(DoTaskNow(**anna.about(), task_id=task.id, insists=True))
    assert (await anna.task(task.id)).state is TaskState.ACTIVE


async def test_what_is_complex_stays_in_the_queue_with_the_line_that_pulls_it(anna: QueuePerson) -> None:
    """S164, option B; S166: it can be insisted."""
    task = await anna.adds("Thesis", work=Decompose(), workflow="decompose")
    await anna.press("Do it now")
    assert anna.words == (
        "This has several parts, and somebody has to look at them before they are worked on. I keep “Thesis” there: run "
        f"`/pull {task.id}` to do it with all that.\n\nIt waits in your queue. Nothing has started yet."
    )
    assert labels(anna.card) == ["Pull it now", "Do it anyway"]
    assert (await anna.task(task.id)).state is TaskState.ACTIVE


async def test_what_fails_at_once_is_not_taken_out(anna: QueuePerson) -> None:
    """S165: without a model no parts can be proposed, so the goal stays and says so."""
    task = await anna.adds("Thesis", work=Decompose(), workflow="decompose")
    await anna.press("Do it now")
    await anna.press("Do it anyway")
    assert words_of(anna.card).startswith(NO_MODEL)
    assert (await anna.task(task.id)).state is TaskState.ACTIVE


async def test_a_repeated_click_does_it_once(anna: QueuePerson) -> None:
    task = await anna.adds("Plan Friday", work=PlanDay(date=FRIDAY))
    command = DoTaskNow(**anna.about(), task_id=task.id)
    await anna.send(command)
    await anna.send(command)
    await anna.run_commands()
    assert len(await anna.harness.store.sessions.of_user(anna.user)) == 1


async def test_what_runs_already_cannot_skip_the_queue(anna: QueuePerson) -> None:
    task = await anna.adds()
    await anna.pulls()
    await anna.send(DoTaskNow(**anna.about(), task_id=task.id))
    assert "There is nothing to skip: the state of “Buy milk” is “waiting for you”." in anna.words
