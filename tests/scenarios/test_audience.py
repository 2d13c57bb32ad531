"""Other people's view of a day that is planned in a channel: a note that it continues elsewhere, and no word of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.factories.words import opening
from tests.scenarios.caldav import CalDav
from tests.scenarios.day import STEPS
from tests.scenarios.person import Person, eventually, texts
from tests.scenarios.program import Program
from tests.scenarios.understanding_server import Listener, speaking

from fateforger.slack import phrases

pytestmark = pytest.mark.process

NOW = {"FATEFORGER_NOW": "2026-03-02T07:00:00+01:00", "FATEFORGER_WATCH_SECONDS": "0.2"}
GENERAL, ROBIN = "C0000GENERAL", "U0000ROBIN"
THERAPY, COFFEE = "Therapy with Dr. Secret", "Coffee with Kim"
SAID = "Please plan my day"
PRIVATE = (THERAPY, COFFEE, "Write report", "Prepare talk", "Monday 2 March", "blocks")


@contextmanager
def running(folder: Path, settings: dict[str, str] | None = None) -> Iterator[Program]:
    program = Program(folder / "data", environment={**NOW, **(settings or {})})
    program.start()
    calendar = CalDav(program.caldav_url())
    at = [datetime(2026, 3, 2, hour, tzinfo=UTC) for hour in (11, 12, 13)]
    calendar.put("one", THERAPY, at[0], at[1], CLASS="PRIVATE")
    calendar.put("two", COFFEE, at[1], at[2])
    try:
        yield program
    finally:
        if program.process is not None:
            program.kill()


def read_in(person: Person, channel: str) -> list[str]:
    """Return every text that a person can read in a channel, in its threads as well."""
    found: list[str] = []
    for root in person.get("/ui/messages", user=person.user, channel=channel)["messages"]:
        query = {"user": person.user, "channel": channel, "thread_ts": root["ts"]}
        for message in person.get("/ui/messages", **query)["messages"] or [root]:
            found += [message["text"], *texts(message.get("blocks") or [])]
    return found


def nothing_of_it(program: Program) -> list[str]:
    """Return Robin's texts of the channel, after checking that they hold no word of any person's day."""
    robin = Person(program.address, ROBIN)
    seen = read_in(robin, GENERAL)
    assert [text for text in seen for word in PRIVATE if word in text] == []
    assert [text for text in read_in(robin, robin.channel) for word in PRIVATE if word in text] == []
    return seen


def in_general(person: Person, words: str) -> None:
    eventually(lambda: words in read_in(person, GENERAL) or None, f"{words!r} in the channel")


def planned_in_direct_messages(person: Person) -> None:
    for _, step in STEPS[1:]:
        step(person)
    said = person.says()
    assert THERAPY in "\n".join(read_in(person, person.channel))
    assert "is on your calendar" in said


def test_a_command_in_a_channel_plans_in_direct_messages(tmp_path: Path) -> None:
    """K14: the line is for Alex only; Robin sees nothing at all, also after every step and after a restart."""
    with running(tmp_path) as program:
        alex = program.person()
        alex.post("/ui/slash", channel=GENERAL, command="/timebox", text="")
        in_general(alex, phrases.PLANNED_ELSEWHERE)
        alex.reads("Plan this day")
        planned_in_direct_messages(alex)
        program.restart()
        alex.open(program.address)
        alex.wait_connected()
        assert nothing_of_it(program) == []
        refused = Person(program.address, ROBIN).http.get(
            f"{program.url}/ui/messages", params={"user": ROBIN, "channel": alex.channel}
        )
        assert refused.status_code >= 400


def test_a_mention_and_the_button_of_its_welcome_plan_in_direct_messages(tmp_path: Path) -> None:
    """K14: without a model."""
    with running(tmp_path) as program:
        alex = program.person()
        ts = alex.post("/ui/message", channel=GENERAL, text="@fateforger hello", thread_ts=None)["message"]["ts"]
        direct, alex.channel = alex.channel, GENERAL
        alex.press("Plan my day")
        in_general(alex, phrases.PLANNED_ELSEWHERE)
        alex.channel = direct
        alex.reads("Plan this day")
        planned_in_direct_messages(alex)
        seen = nothing_of_it(program)
        assert any("I plan your day with you" in text for text in seen)
        assert ts


@pytest.mark.parametrize("command", [False, True], ids=["mention", "command"])
def test_what_a_model_reads_in_a_channel_is_planned_in_direct_messages(tmp_path: Path, *, command: bool) -> None:
    """K14, S447: this holds for a message in words, with a mention or after the command."""
    with speaking(Listener({SAID: [opening()]})) as settings, running(tmp_path, settings) as program:
        alex = program.person()
        if command:
            alex.post("/ui/slash", channel=GENERAL, command="/timebox", text=SAID)
        else:
            alex.post("/ui/message", channel=GENERAL, text=f"@fateforger {SAID}", thread_ts=None)
        in_general(alex, phrases.ANSWERED_ELSEWHERE)
        alex.reads("Plan this day")
        assert [text for text in nothing_of_it(program) if SAID not in text] == []


def test_a_message_of_a_channel_is_saved_as_a_task_in_direct_messages(tmp_path: Path) -> None:
    """K14: the shortcut on a message, and the queue opened in the channel; only Alex sees the form and the cards."""
    with running(tmp_path) as program:
        alex, robin = program.person(), Person(program.address, ROBIN)
        said = robin.post("/ui/message", channel=GENERAL, text="Who sends the report?", thread_ts=None)["message"]
        alex.post("/ui/shortcut", callback_id="save_as_task", channel=GENERAL, ts=said["ts"])
        alex.form()
        assert alex.submit(task="Write report for the surgeon")["ok"]

        def there() -> bool:
            return any("Write report for the surgeon" in text for text in read_in(alex, alex.channel))

        eventually(there, "the task in direct messages")
        alex.post("/ui/message", channel=GENERAL, text="@fateforger /tasks", thread_ts=None)
        in_general(alex, phrases.ANSWERED_ELSEWHERE)
        eventually(
            lambda: any("1 task in your queue" in text for text in read_in(alex, alex.channel)) or None, "the queue"
        )
        assert [text for text in nothing_of_it(program) if "report" in text.lower()] == ["Who sends the report?"] * 2
