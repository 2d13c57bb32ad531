"""The same day by clicks and in words, through the whole program; and a model that goes away in the middle of it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import icalendar
import pytest
from tests.factories.words import also, build_move, frame, inputs_of, new, opening, patch, wants
from tests.fakes.openai_server import ReceivedRequest, ScriptedAnswer
from tests.scenarios.caldav import CalDav
from tests.scenarios.day import STEPS, commit, start
from tests.scenarios.person import Person, eventually
from tests.scenarios.program import Program
from tests.scenarios.understanding_server import Answers, Listener, speaking

from fateforger.conversation.running_turns import STOPPED

pytestmark = pytest.mark.process

NOW = {"FATEFORGER_NOW": "2026-03-02T07:00:00+01:00"}
TASKS = [
    new("Write report", 90),
    new("Answer mail", 30, depth="shallow"),
    new("Prepare talk", 60, one_thing=True),
]
DAY_IN_WORDS: tuple[tuple[str, str, list[dict[str, object]]], ...] = (
    ("Please plan my day", "Plan this day", [opening()]),
    ("Ja, der Tag stimmt", "the hours of your day", [wants("proceed")]),
    ("Oui, on continue", "What do you want to get done", [wants("proceed")]),
    (
        "Informe 90 min, correo 30 min y la charla, lo más importante, 60 min; adelante",
        "A first draft of",
        [wants("answer", also("proceed")), {**frame(), "frame": None, "inputs": inputs_of(add=TASKS)}],
    ),
    ("いいですね、次へ", "Commit to calendar", [wants("proceed")]),
    (
        "Die mail graag een kwartier later",
        "“Answer mail” is now 12:05–12:35",
        [wants("answer"), patch(build_move(2, "12:05", 30))],
    ),
    ("Now put it on my calendar", "Monday 2 March is on your calendar", [wants("proceed")]),
)
MEANINGS: Answers = {text: answers for text, _, answers in DAY_IN_WORDS}


@contextmanager
def program(data: Path, environment: dict[str, str] | None = None) -> Iterator[Program]:
    running = Program(data, environment={**NOW, **(environment or {})})
    running.start()
    try:
        yield running
    finally:
        if running.process is not None:
            running.kill()


def calendar_objects(running: Program) -> dict[str, list[tuple[str, str]]]:
    """Return every object by its name, with its visible fields."""
    unlike = {"DTSTAMP", "CREATED", "LAST-MODIFIED", "SEQUENCE"}
    found = {}
    for href, raw in CalDav(running.caldav_url()).raw().items():
        (event,) = icalendar.Calendar.from_ical(raw).walk("VEVENT")
        found[href] = [(k, str(v)) for k, v in event.property_items() if k not in unlike and not k.startswith("X-")]
    return found


def test_the_same_day_by_clicks_and_in_words(tmp_path: Path) -> None:
    """S214, S227: once only clicks, once only words, in six languages: the same plan, the same calendar objects. A
    plain answer takes at most two questions to the model, clicks none."""
    listener = Listener(MEANINGS)
    with speaking(listener) as settings:
        with program(tmp_path / "clicks", settings) as running:
            person = running.person()
            for _, step in STEPS[:-1]:
                step(person)
            person.choose("Answer mail", "15 min later")
            person.reads("“Answer mail” is now 12:05–12:35")
            person.press("Commit to calendar")
            person.reads("Monday 2 March is on your calendar")
            clicked, read = calendar_objects(running), person.says()
        assert listener.asked == {}
        with program(tmp_path / "words", settings) as running:
            person = running.person()
            for number, (text, expected, _) in enumerate(DAY_IN_WORDS):
                person.write(text, thread=number > 0)
                person.reads(expected)
            spoken = calendar_objects(running)
            assert person.clicks == 0
            assert last_card(person) == read.rsplit("Monday 2 March is on your calendar", 1)[1] + THUMBS
    assert len(clicked) == 5
    assert spoken == clicked
    assert {text: len(asked) for text, asked in listener.asked.items()} == {t: len(a) for t, _, a in DAY_IN_WORDS}
    assert max(len(asked) for asked in listener.asked.values()) == 2


THUMBS = "\nThis helped\nThis did not help"
"""Under what a model shaped."""


def last_card(person: Person) -> str:
    return person.says().rsplit("Monday 2 March is on your calendar", 1)[1]


@dataclass
class HeldListener(Listener):
    """Answers the question about one message only once something else was written."""

    message: str = ""
    written: threading.Event = field(default_factory=threading.Event)

    def script(self, asked: ReceivedRequest) -> ScriptedAnswer:
        if self.message in asked.last:
            assert self.written.wait(60)
        return super().script(asked)


def test_a_first_message_that_wants_no_plan_gets_the_welcome(tmp_path: Path) -> None:
    """And two that want one, the second written before the first is answered, start one (S228)."""
    meanings: Answers = {
        "Hallo!": [opening(plan=False)],
        "plan tomorrow from 8": [opening(date="2026-03-03", frame={**frame()["frame"], "day_start": "08:00"})],
        "tomorrow, please": [wants("answer"), {**frame(), "frame": None, "date": "2026-03-03"}],
    }
    listener = HeldListener(meanings, message="plan tomorrow from 8")
    with speaking(listener) as settings, program(tmp_path / "data", settings) as running:
        person = running.person()
        person.write("Hallo!", thread=False)
        person.reads("Plan my day")
        person.write("plan tomorrow from 8", thread=False)
        person.write("tomorrow, please", thread=False)
        listener.written.set()
        eventually(lambda: any("hours of your day" in t for t in threads(person)), "a day to plan")
        eventually(lambda: any("Tuesday 3 March" in t for t in threads(person)), "the day that was named")
        assert len([t for t in threads(person) if "hours of your day" in t]) == 1


def test_a_message_that_is_stopped_while_it_is_read_does_nothing(tmp_path: Path) -> None:
    """S456: neither a first message nor one about a plan, which is not read for rules either."""
    listener = Slow({})
    with speaking(listener) as settings, program(tmp_path / "data", settings) as running:
        person = running.person()
        person.write("gym at seven", thread=False)
        press_stop(person)
        person.reads(STOPPED)
        start(person)
        person.write("no meetings after five")
        press_stop(person)
        person.reads(STOPPED)
        person.press("Plan this day")
        person.reads("the hours of your day")
        assert listener.rules_asked == 0


@dataclass
class Slow(Listener):
    """Takes too long for every question, but for those for rules."""

    def script(self, asked: ReceivedRequest) -> ScriptedAnswer:
        if "should_extract" in asked.system:
            self.rules_asked += 1
        return ScriptedAnswer(slow=True)


def press_stop(person: Person) -> None:
    """Press Slack's own Stop once the thread shows that the bot is working."""
    ts = person.roots()[-1]["ts"]
    query = {"user": person.user, "channel": person.channel, "thread_ts": ts}
    eventually(lambda: (person.get("/ui/messages", **query)["session"] or {}).get("can_stop"), "Slack's Stop")
    assert person.post("/ui/stop", channel=person.channel, thread_ts=ts) == {"ok": True}


def threads(person: Person) -> list[str]:
    """Return the text of each thread of the direct messages."""
    found = []
    for root in person.roots():
        inside = person.get("/ui/messages", user=person.user, channel=person.channel, thread_ts=root["ts"])["messages"]
        found.append("\n".join(str(m.get("blocks") or m["text"]) for m in inside))
    return found


TROUBLE = (
    (ScriptedAnswer(status=401, text="Incorrect API key provided: sk-te***"), "does not accept my key"),
    (ScriptedAnswer(status=429, text="Slow down", headers={"retry-after": "900"}), "wants fewer requests right now"),
    (ScriptedAnswer(status=404, text="No such model"), "does not have the model"),
    (ScriptedAnswer("I would rather not."), "gave no answer that I can use"),
)


def test_without_its_model_the_day_is_finished_by_buttons(tmp_path: Path) -> None:
    """S124: a refused key, too many requests, no such model, nonsense, no server: each is shown and changes nothing."""
    listener = Listener(MEANINGS)
    with speaking(listener) as settings:
        running = Program(tmp_path / "data", environment={**NOW, **settings})
        running.start()
        person = running.person()
        person.write(DAY_IN_WORDS[0][0], thread=False)
        person.reads("Plan this day")
        for says, sentence in TROUBLE:
            listener.says = says
            person.write("go on")
            person.reads(sentence, "You can do the same with the buttons and forms on this card.")
    try:
        person.write("go on")
        person.reads("cannot be reached")
        assert "sk-te" not in person.says()
        for _, step in STEPS[1:-1]:
            step(person)
        commit(person)
        assert len(CalDav(running.caldav_url()).titles()) == 5
    finally:
        running.kill()
