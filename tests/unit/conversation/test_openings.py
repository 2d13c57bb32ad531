"""A first message in words: it starts a day, on the day it names, once; or it is answered with the welcome (S94, S227,
S228)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import pytest
from tests.factories.told_rules import build_extraction, rule
from tests.factories.wishes import rule as words_of_rule
from tests.factories.wishes import wish
from tests.factories.words import also, day, frame_of, inputs_of, new, opening, wants
from tests.fakes.scripted_model import Line, ScriptedModel
from tests.unit.conversation.person import AMSTERDAM, ANNA, CHANNEL, MONDAY, Harness, Person, meeting, open_harness_at
from tests.unit.conversation.queue.person import QueuePerson

from fateforger.adapters.clock import SystemClock
from fateforger.conversation.language.rule_extraction import build_interpreter
from fateforger.conversation.running_turns import STOPPED
from fateforger.errors import ModelRejected, ModelUnreachable
from fateforger.ports.jobs import Job
from fateforger.ports.model import Prompt
from fateforger.session.cards import Button, Card, Controls, Feedback
from fateforger.session.commands.thread import Opening, TimeboxingUserReply, build_opening_id
from fateforger.session.forms import Click
from fateforger.session.placement import by_time
from fateforger.session.queue_commands import ReadAgain
from fateforger.session.stages import TimeboxingStage
from fateforger.workers.lanes import NOTIFICATION, TryLater
from fateforger.workers.memory import build_extract_handler, build_extract_job

TUESDAY = date(2026, 3, 3)


class Talk:
    """A person's first messages, with a model that says its lines."""

    def __init__(self, harness: Harness, model: ScriptedModel) -> None:
        self.harness, self.model = harness, model
        self.person = Person(harness)

    async def opens(self, text: str, ts: str = "1.0", *, reads: bool = True, **more: object) -> bool:
        """Write a first message, and read what is answered unless something else is written before it is there."""
        given = {"command_id": f"m-{ts}", "thread_ts": ts, "at": self.harness.clock.now(), **more}
        command = Opening.model_validate({"user_id": ANNA, "channel": CHANNEL, "tz": AMSTERDAM, "text": text, **given})
        began = await self.harness.coordinator.on_opening(command)
        if reads:
            await self.person.read()
        return began


Begin = Callable[..., Awaitable[Talk]]


@pytest.fixture
async def talk(tmp_path: Path) -> AsyncIterator[Begin]:
    """Yield a function that opens a program whose model says the given lines."""
    opened: list[Harness] = []

    async def begin(*lines: Line) -> Talk:
        model = ScriptedModel(*lines)
        opened.append(await open_harness_at(tmp_path, model=model))
        return Talk(opened[-1], model)

    yield begin
    for harness in opened:
        await harness.close()


async def test_a_day_its_frame_and_its_tasks_in_the_first_message(talk: Begin) -> None:
    """S270: there is one question to the model and no confirmation; the card of the tasks shows the noted facts."""
    said = opening(date="2026-03-03", frame=frame_of(day_start="08:00"), inputs=inputs_of(add=[new("Report", 90)]))
    anna = await talk(said)
    assert await anna.opens("plan tomorrow from 8, I have to write the report, 90 minutes") is True
    session = await anna.person.session()
    assert (session.date, session.day.frame.day_start, session.stage.number) == (TUESDAY, time(8), 2)
    assert [(t.title, t.minutes) for t in session.day.inputs.tasks] == [("Report", 90)]
    assert anna.model.asked[:1] == ["start"]
    assert set(anna.model.asked[1:]) <= {"draft"}, "only the draft that is prepared for the next step"
    assert anna.person.card.text == "What do you want to get done on Tuesday 3 March?"
    assert "Noted: your day 08:00–18:00; Report, 1 h 30 min." in anna.person.words
    assert session.thread_ts == "1.0"


async def test_the_card_of_a_first_message_offers_the_queue(talk: Begin) -> None:
    """A waiting task can be added at once, without another message."""
    anna = await talk(opening(date="2026-03-03", inputs=inputs_of(add=[new("Report", 90)])))
    await QueuePerson(anna.harness).adds("Call the tax office", work={"kind": "do", "minutes": 15})
    await anna.opens("plan tomorrow, the tax office from my queue and the report, 90 minutes")
    assert "In your queue: Call the tax office (15 min)" in anna.person.words


async def test_a_day_that_is_not_clear_is_asked(talk: Begin) -> None:
    """S94: it stays as it was, and the card of Stage 0 asks."""
    anna = await talk(opening(question="Which Friday, the 6th or the 13th?"))
    assert await anna.opens("Vrijdag plannen") is True
    assert "Which Friday, the 6th or the 13th?" in anna.person.words
    assert (await anna.person.session()).date == MONDAY


async def test_a_day_that_is_over_is_said(talk: Begin) -> None:
    anna = await talk(opening(date="2026-03-01"))
    assert await anna.opens("plan yesterday") is True
    assert "⚠️ Sunday 1 March is over; choose today or a later day." in anna.person.words


async def test_what_makes_no_sense_starts_the_day_and_is_said(talk: Begin) -> None:
    anna = await talk(opening(inputs=inputs_of(add=[new("Nap", 2_000)])))
    assert await anna.opens("plan a nap of 2000 minutes") is True
    assert "A task takes between 1 minute and 24 hours, not 2000 minutes." in anna.person.words


async def test_anything_else_is_for_the_welcome(talk: Begin) -> None:
    anna = await talk(opening(plan=False))
    assert await anna.opens("hello there") is False
    assert anna.person.arrived == []


async def test_words_after_the_command_begin_a_plan_in_any_case(talk: Begin) -> None:
    """S447: the command itself asks for a plan, for any reading of the words."""
    anna = await talk(opening(plan=False))
    assert await anna.opens("hello there", to_plan=True, thread_ts=None) is True
    assert anna.person.card.text == "Shall we plan Monday 2 March?"


@pytest.mark.parametrize(
    "lines", [(ModelUnreachable("It is down."),), ("no idea", "no idea")], ids=["model down", "nonsense"]
)
async def test_a_message_that_no_model_could_read_is_kept_and_read_again(talk: Begin, lines: tuple[Line, ...]) -> None:
    """S262: the words of the person are on the button; nothing else takes their place."""
    anna = await talk(*lines, opening(date="2026-03-03"))
    assert await anna.opens("plan tomorrow, report 2 h") is True
    card = await sent_card(anna.harness)
    assert card.text.startswith("I could not read your message")
    again, *others = [button for part in card.parts if isinstance(part, Controls) for button in part.items]
    assert isinstance(again, Button)
    assert [getattr(other, "label", "") for other in others] == ["Plan my day", "Add a task", "Keep it as a rule"]
    assert getattr(others[-1], "target", "") == "plan tomorrow, report 2 h"
    click = {"command_id": "c2", "user_id": ANNA, "at": anna.harness.clock.now(), "session_id": ""}
    command = anna.harness.coordinator.read_click(Click(**click, action=again.action, target=again.target))
    assert isinstance(command, ReadAgain)
    await anna.harness.coordinator.handle(
        command.model_copy(update={"channel": CHANNEL, "thread_ts": "1.0", "tz": AMSTERDAM})
    )
    await anna.person.read()
    assert (await anna.person.session()).date == TUESDAY
    assert "plan tomorrow, report 2 h" in anna.model.prompts[-1].user


async def sent_card(harness: Harness) -> Card:
    """Return the outgoing card that belongs to no session."""
    job = await harness.store.jobs.claim(NOTIFICATION.name, "w", now=harness.clock.now(), lease_seconds=60)
    assert job is not None
    return NOTIFICATION.parse(job).card


async def test_an_empty_mention_is_not_read(talk: Begin) -> None:
    anna = await talk()
    assert await anna.opens("") is False


async def test_without_a_model_nothing_is_read(harness: Harness) -> None:
    assert harness.coordinator.reads_words is False
    assert await Talk(harness, ScriptedModel()).opens("plan tomorrow") is False


async def test_a_repeated_message_starts_once(talk: Begin) -> None:
    """K7: a job that is tried again does not ask the model again."""
    anna = await talk(opening())
    assert [await anna.opens("plan"), await anna.opens("plan")] == [True, True]
    assert len(await anna.harness.store.sessions.of_user(ANNA)) == 1


async def test_two_rapid_first_messages_start_once(talk: Begin) -> None:
    """S228: the second one, in a thread of its own, belongs to the session that the first began: it was written before
    that was answered, however long the answer took."""
    anna = await talk(opening(), wants("answer"), day(date="2026-03-03"))
    await anna.opens("plan my day", "1.0", reads=False)
    anna.harness.clock.at += timedelta(seconds=90)
    assert await anna.opens("tomorrow I mean", "2.0") is True
    assert len(await anna.harness.store.sessions.of_user(ANNA)) == 1
    assert (await anna.person.session()).date == TUESDAY
    assert anna.model.asked == ["start", "decide", "date"]


async def test_the_second_of_two_rapid_first_messages_can_be_stopped(talk: Begin) -> None:
    """S481: from its own thread; its answer is in that of the first."""
    anna = await talk(opening(), wants("answer"))
    await anna.opens("plan my day", "1.0", reads=False)
    stops = []

    def stop(_: Prompt) -> Line:
        turn_id = build_opening_id(CHANNEL, "2.0", ANNA)
        stops.append(anna.harness.coordinator.stop(turn_id, anna.harness.clock.now()))
        return wants("answer")

    anna.harness.model = anna.model = ScriptedModel(by=stop)
    anna.harness.restart()
    assert await anna.opens("tomorrow I mean", "2.0") is True
    assert stops == [True]
    assert (await anna.person.session()).date == MONDAY
    assert STOPPED in anna.person.words


@pytest.mark.parametrize("answered", [True, False], ids=["after the answer", "in another thread"])
async def test_what_is_said_outside_of_a_new_plan_stays_outside(talk: Begin, *, answered: bool) -> None:
    """S228: the person saw the answer and wrote next to it, or they went on in a thread of something else."""
    anna = await talk(opening(), opening(plan=False, answer="You are welcome."))
    await anna.opens("plan my day", "1.0", reads=answered)
    anna.harness.clock.at += timedelta(seconds=3)
    assert await anna.opens("thank you for yesterday", "0.5", opens=answered) is True
    assert anna.model.asked == ["start", "start"]
    assert (await sent_card(anna.harness)).text == "You are welcome."


async def test_a_later_first_message_starts_another(talk: Begin) -> None:
    anna = await talk(opening(), opening(date="2026-03-03"))
    await anna.opens("plan my day", "1.0")
    anna.harness.clock.at += timedelta(minutes=5)
    await anna.opens("plan tomorrow", "2.0")
    assert {s.date for s in await anna.harness.store.sessions.of_user(ANNA)} == {MONDAY, TUESDAY}


async def test_what_follows_in_the_thread_counts_once_the_session_runs(talk: Begin) -> None:
    anna = await talk(opening(), wants("proceed"))
    await anna.opens("plan my day", "1.0")
    assert await anna.opens("that one, yes", "1.0", command_id="m2") is True
    assert (await anna.person.session()).stage.number == 1
    assert anna.model.asked == ["start", "decide"]


async def test_s101_a_request_to_start_is_not_read_for_rules(talk: Begin) -> None:
    """Only a message that the reading marks as a rule is read for rules."""
    anna = await talk(opening(date="2026-03-03"), wants("answer", rules=True), day())
    anna.harness.extractor = ScriptedModel(by=lambda _: None)
    anna.harness.model = anna.model
    anna.harness.restart()
    assert await anna.opens("plan tomorrow") is True
    assert await anna.harness.waiting() == 0
    await anna.person.says("never before ten")
    assert await anna.harness.waiting() == 1


async def test_a_first_message_is_heard_whole(talk: Begin) -> None:
    """S263: this covers its times, its tasks, its rule, and its other wishes."""
    gym = new("Gym", 60, details={"kind": "habit", "at": "07:00"})
    first = opening(
        date="2026-03-03",
        inputs=inputs_of(add=[gym, new("Report", 120, depth="deep")]),
        also=[also("ask", "when is my standup?"), also("draft")],
        rules=True,
    )
    anna = await talk(first, {"answer": "At half past nine."}, ModelRejected("It drafts nothing."))
    ten = build_extraction(rule("Ten", "no meetings before 10", rule_kind="avoid_window"))
    anna.harness.extractor = ScriptedModel(by=lambda _: ten)
    anna.harness.model = anna.model
    anna.harness.restart()
    meeting(anna.harness, "Stand-up", "09:30", "09:45", day=TUESDAY)
    text = "plan tomorrow, gym at 7, report 2 h deep, no meetings before 10. when is my standup? and draft it"
    assert await anna.opens(text) is True
    session = await anna.person.session()
    assert (session.date, session.stage) == (TUESDAY, TimeboxingStage.SKELETON)
    assert session.planning.plan is not None
    assert {f"{b.start:%H:%M} {b.event.name}" for b in by_time(session.planning.plan)} >= {"07:00 Gym"}
    assert session.day.snapshot is not None
    assert "At half past nine." in anna.person.words
    assert "Stand-up" in anna.model.prompts[1].user
    await anna.harness.work()
    assert [version.record.name for version in await anna.harness.remembered.of(ANNA)] == ["Ten"]


async def test_a_first_message_is_read_with_the_time_of_day(talk: Begin) -> None:
    """K11: also in the evening, when the day that is planned is usually the next one."""
    anna = await talk(opening(date="2026-03-03"))
    anna.harness.clock.at = datetime(2026, 3, 2, 19, 30, tzinfo=UTC)
    assert await anna.opens("plan tomorrow") is True
    assert "2026-03-02 20:30" in anna.model.prompts[0].user


async def test_the_thumbs_of_a_first_card_stay_when_the_calendar_and_a_rule_arrive(talk: Begin) -> None:
    """S286: they are about the first message, whenever the rest of its card is known."""
    first = opening(date="2026-03-03", inputs=inputs_of(add=[new("Report", 90)]), rules=True)
    anna = await talk(first, *[ModelRejected("It drafts nothing.")] * 9)
    ten = build_extraction(rule("Ten", "no meetings before 10", rule_kind="avoid_window"))
    anna.harness.extractor = ScriptedModel(by=lambda _: ten)
    anna.harness.model = anna.model
    anna.harness.restart()
    meeting(anna.harness, "Stand-up", "09:30", "09:45", day=TUESDAY)

    def find_thumbs() -> list[str]:
        return [part.turn for part in anna.person.card.parts if isinstance(part, Feedback)]

    async def is_read() -> bool:
        return (await anna.person.session()).day.snapshot is not None

    await anna.opens("plan tomorrow, report 90 minutes, no meetings before 10")
    assert find_thumbs() == ["m-1.0"]
    await anna.harness.until(is_read)
    await anna.person.read()
    assert "1 h 30 min together; your day has 8 h 45 min without meetings." in anna.person.words
    assert find_thumbs() == ["m-1.0"]
    await anna.harness.work()
    await anna.person.read()
    assert "I'll remember “Ten”" in anna.person.words
    assert find_thumbs() == ["m-1.0"]
    await anna.person.press("Back")
    assert find_thumbs() == []


async def test_a_first_message_can_ask_for_what_is_written(talk: Begin) -> None:
    """Other requests in it have their effects, like those of any other message."""
    put_away = wish("remember", rule=words_of_rule(name="Ten", description="no calls before 10", topics=["calls"]))
    anna = await talk(opening(date="2026-03-03", also=[also("memory", "and remember: no calls before 10")]), put_away)
    assert await anna.opens("plan tomorrow, and remember: no calls before 10") is True
    assert [version.record.name for version in await anna.harness.remembered.of(ANNA)] == ["Ten"]
    assert anna.model.asked == ["start", "memory"]


async def test_the_rule_of_a_first_message_waits_for_its_session(talk: Begin) -> None:
    """The message may be read for rules before the session that it begins is saved."""
    store = (await talk()).harness.store
    reply = TimeboxingUserReply(
        command_id="m1", user_id=ANNA, at=datetime(2026, 3, 2, 7, tzinfo=UTC), session_id="s9", text="no calls"
    )
    new = build_extract_job(reply)
    handler = build_extract_handler(build_interpreter(ScriptedModel()), store.jobs, store.sessions, SystemClock())
    with pytest.raises(TryLater):
        await handler.perform(Job(1, new.lane, new.key, new.dedupe, new.payload, 1, 1))
