"""Messages outside of any plan: memory in words, what follows on an answer, and several wishes (S277, S278)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.factories.wishes import rule, wish
from tests.factories.words import also, build_move, inputs_of, new, opening, outside, patch, wanting, wants, work
from tests.unit.conversation.person import AMSTERDAM, ANNA, CHANNEL
from tests.unit.conversation.queue.person import words_of
from tests.unit.conversation.rules import CALLS, QUIET
from tests.unit.conversation.talker import Said, Talker, about, talker_at

from fateforger.conversation.running_turns import STOPPED, STOPPED_AT_REST
from fateforger.memory.record import ConstraintRecord
from fateforger.memory.vocabulary import Status
from fateforger.ports.model import Prompt
from fateforger.ports.people import PersonLanguage
from fateforger.session.cards import Card
from fateforger.session.commands.thread import Opening, build_opening_id
from fateforger.text import gettext as _
from fateforger.text import list_languages, speak
from fateforger.values import replace

MEMORY = outside("memory")


@pytest.fixture
async def talk(tmp_path: Path) -> AsyncIterator[Talker]:
    async with talker_at(tmp_path) as talker:
        yield talker


async def knows(talk: Talker) -> None:
    rules = [replace(each, user_id=ANNA) for each in (CALLS, QUIET)]
    await talk.harness.remembered.write(rules, cause="earlier")


async def status_of(talk: Talker, uid: str) -> Status:
    return (await record_of(talk, uid)).status


async def record_of(talk: Talker, uid: str) -> ConstraintRecord:
    versions = [v for v in await talk.harness.remembered.of(ANNA) if v.uid == uid]
    return max(versions, key=lambda version: version.seq).record


def quiet(what: str, **said: object) -> Said:
    """Return a wish about the rule of quiet mornings, in any row of the prompt."""
    return about("Quiet mornings", lambda number: wish(what, number, **said))


def calls(what: str, **said: object) -> Said:
    return about("No calls before ten", lambda number: wish(what, number, **said))


async def tells(talk: Talker, *answers: Said, text: str = "…") -> Card:
    card = await talk.outside(*answers, text=text)
    assert card is not None
    return card


async def test_what_is_known_is_listed_changed_confirmed_and_forgotten(talk: Talker) -> None:
    """S277: each memory wish in a direct message, without a plan."""
    await knows(talk)
    listed = await tells(talk, MEMORY, wish("memory_list_constraints"), text="what do you know about my mornings?")
    assert all(name in words_of(listed) for name in ("No calls before ten", "Quiet mornings"))
    shown = await tells(talk, MEMORY, quiet("memory_get_constraint"), text="only the quiet one")
    assert "No calls before ten" not in words_of(shown)
    await tells(talk, MEMORY, wish("remember", rule=rule(description="lunch at one")), text="lunch at one from now on")
    assert "lunch at one" in [v.record.words for v in await talk.harness.remembered.of(ANNA)]
    await tells(talk, MEMORY, quiet("memory_update_constraint", rule=rule(necessity="prefer")))
    assert (await record_of(talk, "quiet")).necessity == "prefer"
    await tells(talk, MEMORY, quiet("memory_archive_constraint", reason="over"), text="forget that one")
    assert await status_of(talk, "quiet") is Status.DECLINED
    await tells(talk, MEMORY, quiet("restore"), text="no, keep it after all")
    assert await status_of(talk, "quiet") is Status.LOCKED
    assert await talk.harness.store.sessions.of_user(ANNA) == ()


async def test_no_the_other_one(talk: Talker) -> None:
    """S277: the wrong change is undone and made on the other rule; the prompt holds the previous messages."""
    await knows(talk)
    await tells(talk, MEMORY, calls("memory_archive_constraint"), text="forget the thing about calls")
    assert await status_of(talk, "calls") is Status.DECLINED
    card = await tells(talk, MEMORY, quiet("memory_archive_constraint", instead=True), text="no, the other one")
    assert (await status_of(talk, "calls"), await status_of(talk, "quiet")) == (Status.LOCKED, Status.DECLINED)
    assert "No calls before ten" in talk.model.prompts[-2].user
    assert "said[" in talk.model.prompts[-1].user
    assert "Quiet mornings" in words_of(card)


async def test_taking_back_what_was_written_last(talk: Talker) -> None:
    """S277: also after a restart, because the talk is stored."""
    await tells(talk, MEMORY, wish("remember", rule=rule(description="lunch at one")))
    talk.harness.restart()
    await tells(talk, MEMORY, wish("undo"), text="take that back")
    (record,) = {v.uid: v.record for v in await talk.harness.remembered.of(ANNA)}.values()
    assert record.status is Status.DECLINED


async def test_a_question_of_the_bot_is_known_when_it_is_answered(talk: Talker) -> None:
    await knows(talk)
    asked = await tells(talk, MEMORY, wish("memory_archive_constraint", question="The calls, or the quiet morning?"))
    assert asked.text == "The calls, or the quiet morning?"
    await tells(talk, MEMORY, wish("memory_archive_constraint", 1), text="the first")
    assert all("The calls, or the quiet morning?" in prompt.user for prompt in talk.model.prompts[-2:])


async def test_a_button_of_the_last_card_is_pressed_by_words(talk: Talker) -> None:
    """S277: a drafted week is only on its card; "yes, open all days" opens its days, "no" drops it."""
    await talk.queue_person.adds("Taxes")
    week = await tells(talk, wanting("week"))
    known = await talk.harness.store.talks.of(ANNA)
    assert known is not None
    number = [button.action for button in known.buttons].index("week.all") + 1
    opened = await tells(talk, wanting("button", number=number), text="yes, open all days")
    assert "Open all 5 days" in talk.model.prompts[-1].user
    assert words_of(opened) != words_of(week)
    await talk.queue_person.run_commands()
    assert await talk.harness.store.sessions.of_user(ANNA)


async def test_a_talk_of_long_ago_is_not_continued(talk: Talker) -> None:
    await tells(talk, wanting("tasks"), text="what is in my queue?")
    talk.harness.clock.at += timedelta(hours=3)
    await talk.outside(outside("conversation", answer="Hello!"), text="hello")
    assert "said[" not in talk.model.prompts[-1].user


async def test_all_wishes_of_a_first_message_are_answered(talk: Talker) -> None:
    """S278: a question, a rule and a task in one message that asks for no plan; each is answered once."""
    parts = {"wants": "tasks", "rest": "no meetings before ten, and note the taxes"}
    await talk.outside(
        {**wanting("tasks"), **parts},
        {**MEMORY, "rest": "and note the taxes"},
        wish("remember", rule=rule(description="no meetings before ten")),
        work("Taxes"),
        text="what is in my queue? no meetings before ten, and note the taxes",
    )
    assert len(talk.queue_person.deliveries) == 3
    assert [each.record.words for each in await talk.harness.remembered.of(ANNA)] == ["no meetings before ten"]
    assert [task.spec.title for task in await talk.queue_person.tasks()] == ["Taxes"]


async def test_a_stop_after_a_part_of_a_first_message_says_that_the_rest_is_not_done(talk: Talker) -> None:
    """S456: what was answered before stays."""
    first: Said = {**wanting("tasks"), "wants": "tasks", "rest": "and note the taxes"}
    place = {"channel": CHANNEL, "thread_ts": "1", "tz": AMSTERDAM}
    about = {"command_id": "stopped", "user_id": ANNA, "at": talk.harness.clock.now()}
    message = Opening.model_validate({**about, **place, "text": "what is in my queue? and note the taxes"})

    def stop(_: Prompt) -> dict[str, Any]:
        assert talk.harness.coordinator.stop(message.turn_id, talk.harness.clock.now())
        return work("Taxes")

    talk.lines += [first, stop]
    assert await talk.harness.coordinator.on_opening(message)
    await talk.queue_person.read()
    assert len(talk.queue_person.deliveries) == 2
    assert STOPPED_AT_REST in words_of(talk.queue_person.card)
    assert await talk.queue_person.tasks() == ()


async def test_a_first_message_with_a_plan_a_rule_to_forget_and_a_task_for_the_queue(talk: Talker) -> None:
    """S278: its other wishes are carried out and kept as well."""
    await knows(talk)
    said = opening(
        date="2026-03-03",
        inputs=inputs_of(add=[new("Report", 90)]),
        also=[also("memory", "forget the thing about calls"), also("work", "put the taxes in my queue")],
    )
    await talk.outside(said, wish("memory_archive_constraint", 1), work("Taxes"))
    session = await talk.anna.session()
    assert (session.date, [t.title for t in session.day.inputs.tasks]) == (date(2026, 3, 3), ["Report"])
    assert [task.spec.title for task in await talk.queue_person.tasks()] == ["Taxes"]
    gone = [uid for uid in ("calls", "quiet") if await status_of(talk, uid) is Status.DECLINED]
    assert len(gone) == 1


async def test_a_message_about_a_plan_goes_to_its_thread(talk: Talker) -> None:
    """S278: "mail at four" in a direct message changes the plan, whose thread has the answer."""
    await talk.anna.to_refine("Report", "Mail")
    talk.harness.clock.at += timedelta(minutes=5)
    card = await talk.outside(
        outside("thread", number=1), wants("change"), patch(build_move(1, "16:00", 30)), text="mail at four"
    )
    assert card is not None
    assert card.text == "I took that to the plan for Monday 2 March; its thread has the answer."
    assert talk.harness.on_calendar()["Mail"] == "16:00-16:30"


def stopping(talk: Talker, command_id: str, answer: dict[str, Any]) -> Said:
    """Stop where a first message was written, while the model reads what it wants of a plan."""

    def stop(_: Prompt) -> dict[str, Any]:
        turn_id = build_opening_id(CHANNEL, command_id, ANNA)
        assert talk.harness.coordinator.stop(turn_id, talk.harness.clock.now())
        return answer

    return stop


async def opens(talk: Talker, command_id: str, *answers: Said) -> None:
    talk.lines += answers
    about = {"command_id": command_id, "user_id": ANNA, "at": talk.harness.clock.now()}
    place = {"channel": CHANNEL, "thread_ts": command_id, "tz": AMSTERDAM, "text": "…"}
    assert await talk.harness.coordinator.on_opening(Opening.model_validate({**about, **place}))
    await talk.anna.read()
    await talk.queue_person.read()


@pytest.mark.parametrize("rest", ["", "and note the taxes"])
async def test_a_stop_reaches_the_plan_to_which_a_message_goes(talk: Talker, rest: str) -> None:
    """S481: from the thread of the message, whose rest is not done either."""
    await talk.anna.to_refine("Report", "Mail")
    before = talk.harness.on_calendar()
    talk.harness.clock.at += timedelta(minutes=5)
    to_plan = {**outside("thread", number=1), "rest": rest}
    await opens(talk, "9", to_plan, stopping(talk, "9", wants("change")))
    assert talk.harness.on_calendar() == before
    assert (await talk.anna.session()).notice_lines == (STOPPED,)
    assert (len(talk.queue_person.deliveries), words_of(talk.queue_person.card)) == (1, STOPPED)
    assert await talk.queue_person.tasks() == ()


async def test_a_stop_after_the_plan_was_changed_ends_the_rest_of_the_message(talk: Talker) -> None:
    """S481: the changes so far stay, and a note says so."""
    await talk.anna.to_refine("Report", "Mail")
    talk.harness.clock.at += timedelta(minutes=5)
    to_plan = {**outside("thread", number=1), "rest": "and note the taxes"}
    moved = patch(build_move(1, "16:00", 30))
    await opens(talk, "9", to_plan, wants("change"), moved, stopping(talk, "9", work("Taxes")))
    assert talk.harness.on_calendar()["Mail"] == "16:00-16:30"
    assert STOPPED_AT_REST in words_of(talk.queue_person.card)
    assert await talk.queue_person.tasks() == ()


@pytest.mark.parametrize("language", list_languages())
async def test_memory_outside_of_plans_speaks_the_language_of_the_message(talk: Talker, language: str) -> None:
    """S277, S261."""
    await knows(talk)
    with speak("en"):
        told = {**MEMORY, "language": language}
        card = await tells(talk, told, wish("memory_archive_constraint", 1))
        assert await talk.harness.languages.of(ANNA) == PersonLanguage(language) or language == "en"
        talk.lines.append(outside("queue", language=language))
        again = await tells(talk, wanting("tasks"))
    with speak(language):
        assert again.text.startswith(_("Your queue is empty."))
        assert [part for part in card.parts if _("Your rules") in str(part) or _("Add a rule") in str(part)]
