"""The feel of a conversation in a real browser: words for what goes on, Stop, thumbs, suggestions; a kill in between."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.command_line import run_program
from tests.factories.words import wants
from tests.fakes.openai_server import ScriptedAnswer
from tests.scenarios.program import Program
from tests.scenarios.test_browser_day import CHROMIUM, page
from tests.scenarios.understanding_server import Listener, speaking

from fateforger.conversation.running_turns import STOPPED
from fateforger.slack.notices import FIRST_WORDS
from fateforger.slack.phrases import THANKS

__all__ = ["page"]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.skipif(not CHROMIUM, reason="needs Debian's chromium: apt-get install chromium"),
]
WORKING = "FateForger is working…"
READING = "Reading your message…"
ANSWERS = {
    "go on": [wants("proceed")],
}


@pytest.fixture
def listener() -> Listener:
    return Listener(ANSWERS)


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


def say(page: Page, words: str) -> None:
    box = page.locator("#thread").get_by_role("combobox", name="Reply…")
    box.fill(words)
    box.press("Enter")


def test_words_stop_thumbs_and_no_ghost_after_a_kill(program: Program, listener: Listener, page: Page) -> None:
    """S115, S213, S217, S271, S273: one card throughout; what takes long says so, can be stopped, and leaves nothing
    behind."""
    expect.set_options(timeout=60_000)
    page.goto(program.address)
    expect(page.get_by_role("button", name=FIRST_WORDS[1], exact=True).last).to_be_visible()
    page.get_by_role("button", name="Plan my day", exact=True).first.click()
    expect(page.get_by_role("button", name="Plan this day")).to_be_visible()
    thread = page.locator("#thread")
    words, stop = thread.get_by_role("status"), thread.get_by_role("button", name="Stop", exact=True)

    listener.says = ScriptedAnswer(slow=True)
    say(page, "go on")
    expect(words).to_have_text(WORKING)
    expect(thread.get_by_text(READING)).to_be_visible()
    expect(stop).to_be_visible()
    stop.click()
    expect(thread.get_by_text(STOPPED)).to_be_visible()
    expect(words).to_be_hidden()
    expect(thread.get_by_text(READING)).to_be_hidden()

    say(page, "go on")
    expect(words).to_have_text(WORKING)
    expect(thread.get_by_text(READING)).to_be_visible()
    listener.says = None
    program.restart()
    expect(thread.get_by_text("the hours of your day").last).to_be_visible()
    expect(words).to_be_hidden()
    expect(thread.get_by_text(READING)).to_be_hidden()

    expect(thread.get_by_text("Mon 2 Mar: planning")).to_be_visible()
    thread.get_by_role("button", name="Rename this thread").click()
    page.get_by_role("textbox", name="Rename this thread").fill("The big day")
    page.get_by_role("button", name="Rename", exact=True).click()
    expect(thread.get_by_text("The big day")).to_be_visible()

    thread.get_by_role("button", name="This helped").last.click()
    expect(thread.get_by_text(THANKS)).to_be_visible()
    status, said, errors = run_program("feedback", "--json", "--data-dir", str(program.data))
    assert status == 0, errors
    [rating] = json.loads(said)["feedback"]
    assert (rating["helpful"], [name.partition("/")[0] for name in rating["prompts"]]) == (True, ["decide"])
