"""Around the queue: the default is the queue, and the person can always have it otherwise (S163-S166)."""

from __future__ import annotations

from datetime import date

from tests.unit.conversation.queue.desk import Desk, labels

from fateforger.session.queue_commands import DoTaskNow
from fateforger.tasks.task import PlanDay, TaskState

FRIDAY = date(2026, 3, 6)


async def test_what_is_simple_is_done_at_once_with_a_note(anna: Desk) -> None:
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


async def test_what_is_complex_stays_in_the_queue_with_the_line_that_pulls_it(anna: Desk) -> None:
    """S164, option B; S166: it can be insisted."""
    task = await anna.adds("Toggle", workflow="feature-dev")
    await anna.press("Do it now")
    assert anna.words == (
        "The rules of feature-dev apply to this, and only the queue checks them. I keep “Toggle” there: run "
        f"`/pull {task.id}` to do it with all that.\n\nIt waits in your queue. Nothing has started yet."
    )
    assert labels(anna.card) == ["Pull it now", "Do it anyway"]
    assert (await anna.task(task.id)).state is TaskState.ACTIVE


async def test_who_insists_is_told_what_is_lost_and_gets_it(anna: Desk) -> None:
    """S165, option C: no rule check, no audit trail, no interruption."""
    task = await anna.adds("Toggle", workflow="feature-dev")
    await anna.press("Do it now")
    await anna.press("Do it anyway")
    assert "no rule is checked, nobody can look up later what was done, and it cannot be paused" in anna.words
    assert "It is yours to do, and I keep no list of it." in anna.words
    assert (await anna.task(task.id)).state is TaskState.STOPPED


async def test_a_repeated_click_does_it_once(anna: Desk) -> None:
    task = await anna.adds("Plan Friday", work=PlanDay(date=FRIDAY))
    command = DoTaskNow(**anna.about(), task_id=task.id)
    await anna.send(command)
    await anna.send(command)
    await anna.run_commands()
    assert len(await anna.house.store.sessions.of_user(anna.user)) == 1


async def test_what_runs_already_cannot_skip_the_queue(anna: Desk) -> None:
    task = await anna.adds()
    await anna.pulls()
    await anna.send(DoTaskNow(**anna.about(), task_id=task.id))
    assert "There is nothing to skip: the state of “Buy milk” is “waiting for you”." in anna.words
