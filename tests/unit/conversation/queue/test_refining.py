"""Going through the tasks of a queue one by one: the task that is shown has the focus of its thread (S217, S218)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.factories.words import wanting, wants, work
from tests.unit.conversation.person import ANNA, CHANNEL, MONDAY
from tests.unit.conversation.queue.person import DM, QueuePerson, labels, words_of
from tests.unit.conversation.talker import Talker, talker_at

from fateforger.conversation.queue.refinement import FOCUS_FOR
from fateforger.session.queue_commands import RefineTasks
from fateforger.tasks.task import Do, TaskState


@pytest.fixture
async def talk(tmp_path: Path) -> AsyncIterator[Talker]:
    async with talker_at(tmp_path) as talker:
        yield talker


async def begin(anna: QueuePerson) -> str:
    """Send ``/task-refine`` and return the text of its first card."""
    return words_of(await anna.send(RefineTasks(**anna.about())))


async def test_each_task_that_lacks_something_is_shown_once(anna: QueuePerson) -> None:
    """S218: in the order of the queue; what is clear is left out, and what is fine as it is as well."""
    await anna.adds("Taxes", work={"kind": "do"})
    await anna.adds("Mail", work={"kind": "do", "minutes": 15})
    report = await anna.adds("Report", work={"kind": "do", "minutes": 90}, priority=0)
    assert f"Let's make this one clear: **Report** `{report.id}`" in await begin(anna)
    assert "Missing: how you know that it is done." in anna.words
    assert "1 more comes after it." in anna.words
    assert "until 09:00" in anna.words
    assert labels(anna.card) == ["Fill it in…", "Fine as it is", "That's enough"]
    await anna.press("Fine as it is")
    assert "**Taxes**" in anna.words
    assert "Missing: how long it takes." in anna.words
    await anna.press("Fine as it is")
    assert anna.words.startswith("Each task in your queue is clear enough to be planned.")
    assert labels(anna.card) == ["Plan my day", "Show my queue"]
    assert await anna.harness.store.talks.of(ANNA) is not None


async def test_a_filled_in_form_goes_on_to_the_next_one(anna: QueuePerson) -> None:
    """The answer comes where they go through the tasks, not only on App Home."""
    task = await anna.adds("Taxes", work={"kind": "do"})
    await anna.adds("Report", work={"kind": "do"})
    await begin(anna)
    await anna.fill("queue_edit", target=task.id, minutes=30)
    assert "“Taxes” is saved." in anna.words
    assert "**Report**" in anna.words
    assert anna.deliveries[-1]["channel"] == DM


async def test_enough_ends_it(anna: QueuePerson) -> None:
    await anna.adds("Taxes", work={"kind": "do"})
    await begin(anna)
    await anna.press("That's enough")
    assert anna.words.startswith("Fine, we leave it at that.")
    talk = await anna.harness.store.talks.of(ANNA)
    assert talk is not None
    assert talk.focus is None


async def test_words_without_a_name_are_about_the_task_in_focus_until_that_expires(talk: Talker) -> None:
    """S217: the prompt names the task in focus; after an hour there is none, and the program asks back."""
    await talk.queue_person.adds("Taxes", work={"kind": "do"})
    await talk.queue_person.adds("Report", work={"kind": "do"})
    first = await talk.outside(wanting("refine"), text="let's go through my tasks")
    assert first is not None
    assert "**Taxes**" in words_of(first)
    edit = {**work("Taxes", minutes=45), "wants": "edit"}
    nothing = await talk.outside(edit, text="45 minutes")
    assert nothing is not None
    assert "I could not tell which task of your queue you mean" in words_of(nothing)
    assert "focus" not in talk.model.prompts[-1].user

    await talk.queue_person.send(RefineTasks(**talk.queue_person.about() | {"channel": CHANNEL}))
    second = await talk.outside(edit, text="45 minutes")
    assert "focus" in talk.model.prompts[-1].user
    assert second is not None
    assert "“Taxes” is saved." in words_of(second)
    assert "**Report**" in words_of(second)
    assert [task.spec.work for task in await talk.queue_person.tasks()] == [Do(minutes=45), Do()]

    talk.harness.clock.at += FOCUS_FOR + timedelta(minutes=1)
    late = await talk.outside(edit, text="45 minutes")
    assert late is not None
    assert "I could not tell which task of your queue you mean" in words_of(late)
    assert (await talk.queue_person.tasks())[1].spec.work == Do()


async def test_in_the_thread_of_a_plan(talk: Talker) -> None:
    """Next to the plan, which stays as it is; "that one is done" is about the task in focus."""
    task = await talk.queue_person.adds("Taxes", work={"kind": "do"})
    await talk.anna.to_refine("Report")
    plan = (await talk.anna.session()).planning.plan
    shown = await talk.in_thread(wants("work"), wanting("refine"), text="go through my queue with me")
    assert shown is not None
    assert "**Taxes**" in words_of(shown)
    await talk.in_thread(wants("work"), {**work("Taxes", minutes=20), "wants": "edit"}, text="twenty minutes")
    assert (await talk.queue_person.task(task.id)).spec.work == Do(minutes=20)
    assert (await talk.queue_person.task(task.id)).state is TaskState.ACTIVE
    assert (await talk.anna.session()).planning.plan == plan


async def test_a_plan_that_was_pulled_says_so(anna: QueuePerson) -> None:
    """S146: at the head of its thread, in plain words."""
    await anna.adds("Plan Monday", work={"kind": "plan_day", "date": MONDAY.isoformat()})
    await anna.pulls()
    await anna.run_commands()
    (session,) = await anna.harness.store.sessions.of_user(ANNA)
    assert session.options.mode == "executor"
    outgoing = await anna.harness.store.outbox.pending(now=anna.harness.clock.now())
    assert any("It was pulled from your queue." in words_of(message.card) for message in outgoing)
