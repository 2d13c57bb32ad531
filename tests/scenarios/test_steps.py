"""The steps of a turn in the real program, which is killed in the middle of them: one answer, and nothing is left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.factories.words import wants
from tests.fakes.openai_server import ScriptedAnswer
from tests.scenarios.person import Person, eventually
from tests.scenarios.program import Program
from tests.scenarios.understanding_server import Listener, speaking

pytestmark = pytest.mark.process

ANSWER = "the hours of your day"


@pytest.fixture
def listener() -> Listener:
    return Listener({"go on": [wants("proceed")]})


@pytest.fixture
def program(tmp_path: Path, listener: Listener) -> Iterator[Program]:
    with speaking(listener) as settings:
        running = Program(tmp_path / "data", {"FATEFORGER_NOW": "2026-03-02T07:00:00+01:00", **settings})
        running.start()
        try:
            yield running
        finally:
            if running.process is not None:
                running.kill()


def streams(person: Person) -> list[dict[str, Any]]:
    return [message for message in person.thread() if message.get("streaming_state") == "in_progress"]


def test_killed_in_the_middle_of_its_steps_a_turn_has_one_answer(program: Program, listener: Listener) -> None:
    """S273: neither the steps nor a second answer stay behind."""
    person = program.person()
    person.slash("/timebox")
    person.reads("Plan this day")
    listener.says = ScriptedAnswer(slow=True)
    person.write("go on")
    [steps] = eventually(lambda: streams(person), "the steps of the turn")
    assert [(step["title"], step["status"]) for step in steps["blocks"]] == [("Reading your message…", "in_progress")]
    listener.says = None
    program.restart()
    person.wait_connected()
    person.reads(ANSWER)
    eventually(lambda: not any("Reading your message" in str(message) for message in person.thread()), "no steps")
    answers = [message for message in person.thread() if ANSWER in str(message)]
    assert len(answers) == 1
    assert answers[0]["ts"] != steps["ts"]
