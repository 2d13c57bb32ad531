"""Time for a task, and rules that wait for a word: carried out by ordinary commands, verified by what is there (S162)."""

from __future__ import annotations

from datetime import time

import pytest
from tests.unit.conversation.person import ANNA, MONDAY, Harness, Person
from tests.unit.conversation.queue.person import DM, QueuePerson, labels
from tests.unit.conversation.test_parity import make_guess

from fateforger.session.forms import FormErrors
from fateforger.session.model import Session
from fateforger.tasks.task import BlockTime, ReviewConstraints, TaskState


def an_hour(start: str | None = None) -> BlockTime:
    return BlockTime(date=MONDAY, minutes=60, start=None if start is None else time.fromisoformat(start))


async def in_stage(harness: Harness, stage: str) -> Person:
    person = Person(harness)
    await {"tasks": person.to_tasks, "refine": person.to_refine}[stage]()
    return person


@pytest.mark.parametrize("start", ["16:00", None])
async def test_a_block_goes_into_the_open_plan_of_that_day(
    anna: QueuePerson, harness: Harness, start: str | None
) -> None:
    person = await in_stage(harness, "refine")
    task = await anna.adds("Call the bank", work=an_hour(start))
    await anna.pulls()
    assert "I put it into the plan of Monday 2 March at" in anna.words
    await anna.run_commands()
    await person.read()
    session = await person.session()
    assert session.planning.plan is not None
    assert [event.name for event in session.planning.plan.events].count("Call the bank") == 1
    await anna.looks()
    assert (await anna.task(task.id)).state is TaskState.DONE


async def test_where_no_draft_is_yet_it_is_something_to_do_on_that_day(anna: QueuePerson, harness: Harness) -> None:
    person = await in_stage(harness, "tasks")
    task = await anna.adds("Call the bank", work=an_hour())
    await anna.pulls()
    await anna.run_commands()
    await anna.looks()
    assert (await anna.task(task.id)).state is TaskState.WAITING
    await person.read()
    await person.press("Continue")
    await anna.looks()
    assert (await anna.task(task.id)).outcome == "It has its time in the plan of Monday 2 March."


@pytest.mark.parametrize("stage", ["tasks", None])
async def test_a_time_that_no_draft_keeps_is_not_lost_unsaid(
    anna: QueuePerson, harness: Harness, stage: str | None
) -> None:
    if stage is not None:
        await in_stage(harness, stage)
    await anna.adds("Call the bank", work=an_hour("16:00"))
    await anna.press("Do it now")
    assert "The draft chooses when: you wanted 16:00, so move it there in Refine." in anna.words


async def test_a_block_that_another_agent_saw_to_is_found_by_its_title(anna: QueuePerson, harness: Harness) -> None:
    """S162: the agent reported it before there was an event, so nothing has to be repeated; that thread shows it."""
    task = await anna.adds("Call the bank", work=an_hour())
    now, waiting = harness.clock.now(), {"state": TaskState.WAITING, "outcome": "mcp:robot: Asked for it."}
    claimed = await harness.store.tasks.claim(ANNA, "mcp:robot", now=now, lease_seconds=60, task_id=task.id)
    assert claimed is not None
    await harness.store.tasks.settle(claimed, lambda it: it.model_copy(update=waiting), now=now)
    person = await in_stage(harness, "refine")
    await anna.looks()
    assert (await anna.task(task.id)).state is TaskState.WAITING
    assert await person.fill("add_block", title="Call the bank", start="16:00", minutes=60) is None
    await anna.looks()
    after = await anna.task(task.id)
    assert (after.state, after.place) == (TaskState.DONE, person.session_id)
    assert "It has its time in the plan of Monday 2 March." in anna.words


async def test_where_no_plan_is_open_one_is_opened_with_it(anna: QueuePerson) -> None:
    task = await anna.adds("Call the bank", work=an_hour())
    await anna.pulls()
    await anna.run_commands()
    (session,) = await anna.harness.store.sessions.of_user(ANNA)
    assert isinstance(session, Session)
    assert ([each.title for each in session.day.inputs.tasks], session.channel) == (["Call the bank"], DM)
    assert (await anna.task(task.id)).place.startswith(session.id)


async def test_a_block_that_finds_no_place_is_a_task_that_failed(anna: QueuePerson, harness: Harness) -> None:
    """Its thread says why; it can be tried again."""
    person = await in_stage(harness, "refine")
    task = await anna.adds("Night shift", work=BlockTime(date=MONDAY, minutes=24 * 60, start=time(9)))
    await anna.pulls()
    await anna.run_commands()
    await person.read()
    await anna.looks()
    after = await anna.task(task.id)
    session = await person.session()
    assert session.planning.plan is not None
    assert "Night shift" not in [event.name for event in session.planning.plan.events]
    assert (after.state, after.outcome) == (
        TaskState.FAILED,
        "It found no place in the plan of Monday 2 March; its thread says why.",
    )


async def test_time_that_is_free_nowhere_is_said_so(anna: QueuePerson, harness: Harness) -> None:
    """S480"""
    await in_stage(harness, "refine")
    task = await anna.adds("Night shift", work=BlockTime(date=MONDAY, minutes=24 * 60))
    await anna.pulls()
    after = await anna.task(task.id)
    assert (after.state, after.outcome) == (
        TaskState.FAILED,
        "The plan of Monday 2 March has no 24 h free in one piece. Say when it should start, or make room first.",
    )


async def test_time_is_blocked_for_a_task_that_was_pulled(anna: QueuePerson, harness: Harness) -> None:
    person = await in_stage(harness, "refine")
    task = await anna.adds("Report", work={"kind": "do", "minutes": 45})
    await anna.pulls()
    over = await anna.fill("queue_time", target=task.id, date=MONDAY.replace(day=1))
    assert over == FormErrors(errors={"date": "That day is over; choose today or a later one."})
    await anna.fill("queue_time", target=task.id, date=MONDAY)
    assert labels(anna.card) == ["Done", "Block time", "Put it back", "Show my queue"]
    await anna.run_commands()
    await person.read()
    session = await person.session()
    assert session.planning.plan is not None
    assert "Report" in [event.name for event in session.planning.plan.events]


async def test_rules_are_looked_through_until_none_waits_for_a_word(anna: QueuePerson, harness: Harness) -> None:
    person = Person(harness)
    await person.to_frame()
    await person.fill("rule_new", words="Gym")
    (version,) = await harness.store.constraints.of(ANNA)
    await harness.store.constraints.write([make_guess(version)], cause="guess")
    task = await anna.adds("Look through my rules", work=ReviewConstraints())
    await anna.pulls()
    assert "One rule waits for your word: right, or not?" in anna.words
    assert labels(anna.card) == ["Review all", "Put it back", "Show my queue"]
    shown = await anna.opens("rules", target='{"status":"confirm"}')
    assert "Gym" in str(shown)
    await anna.looks()
    assert (await anna.task(task.id)).state is TaskState.WAITING
    await person.press_in(await person.look("rule", target=f"0 {version.uid}"), "Confirm")
    await anna.looks()
    assert (await anna.task(task.id)).outcome == "No rule waits for your word."
