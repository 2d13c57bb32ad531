"""The queue, the week and other days in words: in the thread of a plan as in a first message (S276)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path

import pytest
from tests.factories.wishes import rule, wish
from tests.factories.words import also, build_move, patch, wanting, wants, work
from tests.unit.conversation.person import CHANNEL
from tests.unit.conversation.queue.person import words_of
from tests.unit.conversation.talker import Talker, talker_at

from fateforger.session.stages import TimeboxingStage
from fateforger.tasks.task import PlanDay, TaskState


@pytest.fixture
async def talk(tmp_path: Path) -> AsyncIterator[Talker]:
    async with talker_at(tmp_path) as talker:
        yield talker


async def test_the_queue_in_the_thread_of_a_plan(talk: Talker) -> None:
    """S276: "put taxes in my queue", "what is in my queue?", "pull the next one", "that one is done"; the plan and its
    card stay as they are, and each answer comes next to it."""
    await talk.anna.to_refine("Report")
    before, arrived = await talk.anna.session(), len(talk.anna.arrived)
    added = await talk.in_thread(wants("work"), work("Taxes"), text="put taxes in my queue")
    assert added is not None
    assert added.text == "I put “Taxes” into your queue."
    assert (talk.queue_person.deliveries[-1]["channel"], talk.queue_person.deliveries[-1]["thread_ts"]) == (
        CHANNEL,
        before.thread_ts,
    )
    shown = await talk.in_thread(wants("work"), wanting("tasks"), text="what is in my queue?")
    assert shown is not None
    assert "**Taxes**" in words_of(shown)
    await talk.in_thread(wants("work"), wanting("pull"), text="pull the next one")
    (task,) = await talk.queue_person.tasks()
    assert task.state is TaskState.WAITING
    done = await talk.in_thread(wants("work"), wanting("done", number=1), text="that one is done")
    assert done is not None
    assert "1,Taxes,waiting,2" in talk.model.prompts[-1].user
    assert (await talk.queue_person.task(task.id)).state is TaskState.DONE
    after = await talk.anna.session()
    assert (after.planning.plan, after.stage) == (before.planning.plan, TimeboxingStage.REFINE)
    assert len(talk.anna.arrived) == arrived


async def test_the_button_of_the_plan_shows_the_same_queue(talk: Talker) -> None:
    """S276: Slack runs no slash commands in a thread, so the card of a plan has a button; both give one command."""
    await talk.queue_person.adds("Taxes")
    await talk.anna.to_refine("Report")
    said = await talk.in_thread(wants("work"), wanting("tasks"))
    await talk.anna.press("Show my queue")
    await talk.queue_person.read()
    assert talk.queue_person.card == said


async def test_the_week_and_another_day_from_a_thread(talk: Talker) -> None:
    """S276: "plan my week"; "and plan Friday, too" opens that day in a thread of its own."""
    await talk.queue_person.adds("Taxes")
    await talk.anna.to_refine("Report")
    week = await talk.in_thread(wants("work"), wanting("week"))
    assert week is not None
    assert "Taxes" in words_of(week)
    await talk.in_thread(
        wants("work"), work("Friday", "plan_day", date="2026-03-06", haste="asks"), text="and plan Friday, too"
    )
    await talk.queue_person.run_commands()
    days = {session.date for session in await talk.harness.store.sessions.of_user(talk.anna.user)}
    assert date(2026, 3, 6) in days


async def test_a_yes_after_a_card_of_the_queue_answers_that_card(talk: Talker) -> None:
    """S276, S277: "do it now" is refused with a reason; "do it anyway" is the button of that card."""
    task = await talk.queue_person.adds("Report", work=PlanDay(date=date(2026, 3, 6)), acceptance_criteria=("A", "B"))
    await talk.anna.to_refine("Mail")
    refused = await talk.in_thread(wants("work"), wanting("now", number=1), text="do the report now")
    assert refused is not None
    assert "only the queue asks for them" in refused.text
    await talk.in_thread(wants("accept_pending", number=1), wanting("button", number=2), text="do it anyway")
    assert "Do it anyway" in talk.model.prompts[-1].user
    assert (await talk.queue_person.task(task.id)).state is TaskState.STOPPED


async def test_a_reminder_from_the_thread_of_a_plan(talk: Talker) -> None:
    """S268, S269: kept, listed and cancelled in the thread of a plan as outside of it."""
    await talk.anna.to_refine("Report")
    told = work("Call the tax office", kind="remind", start="16:00")
    kept = await talk.in_thread(wants("work"), told, text="remind me to call the tax office at 4")
    assert kept is not None
    assert kept.text == "I will remind you of “Call the tax office” on Monday 2 March at 16:00."
    shown = await talk.in_thread(wants("work"), wanting("tasks"), text="which reminders are there?")
    assert shown is not None
    assert "⏰ Monday 2 March at 16:00" in words_of(shown)
    gone = await talk.in_thread(wants("work"), wanting("unremind", number=1), text="forget that reminder")
    assert gone is not None
    assert gone.text == "I will not remind you of “Call the tax office”; it stays in your queue."


async def test_a_change_of_the_plan_and_a_task_for_the_queue_in_one_message(talk: Talker) -> None:
    await talk.anna.to_refine("Report", "Mail")
    several = wants("change", also("work", "and note the taxes"), words="mail at four")
    added = await talk.in_thread(several, patch(build_move(1, "16:00", 30)), work("Taxes"))
    assert added is not None
    assert "Taxes" in added.text
    assert "“Mail” is now 16:00–16:30" in talk.anna.words


async def test_a_rule_that_is_heard_as_work_is_kept(talk: Talker) -> None:
    """The result does not depend on the first reading of the message."""
    await talk.anna.to_refine("Report")
    told = wish("remember", rule=rule(description="no calls before ten"))
    await talk.in_thread(wants("work"), wanting("memory"), told)
    assert [each.record.words for each in await talk.harness.remembered.of(talk.anna.user)] == ["no calls before ten"]


async def test_a_task_that_does_not_exist_is_said(talk: Talker) -> None:
    await talk.anna.to_refine("Report")
    assert await talk.in_thread(wants("work"), wanting("pause", number=7)) is None
    assert "There is no number 7 in the list" in talk.anna.words
