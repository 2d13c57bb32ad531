"""The queue through the whole program: a message becomes a task, it is pulled and done, over a kill -9; and a message of
Slack's is saved as one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.factories.words import first, work
from tests.scenarios.person import Person, eventually, label, texts
from tests.scenarios.person import controls as controls_of
from tests.scenarios.program import Program
from tests.scenarios.understanding_server import Listener, speaking

from localslack import DEFAULT_USERS

pytestmark = pytest.mark.process

NOW = {"FATEFORGER_NOW": "2026-03-02T07:00:00+01:00"}
SAID = "Bitte den Quartalsbericht schreiben"


def everything(person: Person) -> list[dict[str, Any]]:
    """Return all messages of the person's conversation with the bot: the roots, each with its replies."""
    found: list[dict[str, Any]] = []
    for root in person.roots():
        thread = person.get("/ui/messages", user=person.user, channel=person.channel, thread_ts=root["ts"])
        found += thread["messages"] or [root]
    return found


def reads(person: Person, text: str) -> dict[str, Any]:
    """Return the newest message with the text, once it is there."""

    def look() -> dict[str, Any] | None:
        said = [m for m in everything(person) if text in "\n".join(texts(m.get("blocks") or [{"text": m["text"]}]))]
        return said[-1] if said else None

    return eventually(look, f"“{text}”")


def press(person: Person, message: dict[str, Any], wanted: str) -> None:
    block_id, element = next((b, e) for b, e in controls_of(message["blocks"]) if label(e) == wanted)
    assert person.use(message, block_id, element)["ok"]


def test_a_message_is_queued_pulled_and_done_over_a_crash(tmp_path: Path) -> None:
    """S155, S159, S161: what was acknowledged is there after kill -9; the pull carries it out once."""
    listener = Listener({SAID: first(work("Quartalsbericht", priority=1))})
    with speaking(listener) as settings:
        running = Program(tmp_path / "data", environment={**NOW, **settings})
        running.start()
        try:
            person = running.person()
            person.write(SAID, thread=False)
            assert "Priority: high" in str(reads(person, "I put “Quartalsbericht” into your queue."))
            running.restart()
            person.wait_connected()
            assert person.slash("/pull")["ok"]
            card = reads(person, "This one is yours.")
            press(person, card, "Done")
            assert reads(person, "You said that it is done.")["ts"] == card["ts"]
            person.slash("/tasks")
            reads(person, "Your queue is empty.")
        finally:
            running.kill()
    assert len(listener.asked[SAID]) == 2  # what the message is about, and what it wants of the queue


def test_a_message_is_saved_as_a_task_with_a_link_to_it(tmp_path: Path) -> None:
    """Capture: without a model; the form is filled with the message, and the task says where it came from. Mentioned
    people have names (S464)."""
    running = Program(tmp_path / "data", environment=NOW)
    running.start()
    try:
        person = running.person()
        person.write(f"Call <@{DEFAULT_USERS[1].id}>\nabout the card", thread=False)
        (said,) = [m for m in person.roots() if m.get("user") == person.user]
        person.post("/ui/shortcut", callback_id="save_as_task", channel=person.channel, ts=said["ts"])
        fields = {block["block_id"]: block.get("element", {}) for block in person.form()["blocks"]}
        name = DEFAULT_USERS[1].name
        assert fields["field.title"]["initial_value"] == f"Call @{name}"
        assert fields["field.context"]["initial_value"] == f"Call @{name}\nabout the card"
        assert person.submit(priority="High")["ok"]
        reads(person, f"I put “Call @{name}” into your queue.")
        person.slash("/pull")
        assert f"/archives/{person.channel}/p" in str(reads(person, "This one is yours."))
    finally:
        running.kill()
