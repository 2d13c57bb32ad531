"""The whole day in a real browser: click through the stages, commit, look at the calendar store, undo, compare."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Page, Response, expect, sync_playwright
from tests.scenarios.caldav import CalDav
from tests.scenarios.day import all_steps
from tests.scenarios.person import eventually
from tests.scenarios.program import Program

CHROMIUM = shutil.which("chromium") or ""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.skipif(not CHROMIUM, reason="needs Debian's chromium: apt-get install chromium"),
]


@pytest.fixture
def program(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Program]:
    environment = {"FATEFORGER_NOW": "2026-03-02T07:00:00+01:00"}
    running = Program(tmp_path / "data", environment, cold=getattr(request, "param", None) == "cold")
    running.start()
    try:
        yield running
    finally:
        if running.process is not None:
            running.kill()


@pytest.fixture
def page() -> Iterator[Page]:
    """Yield a page; at the end no script may have failed, and no press may have been refused."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(viewport={"width": 1500, "height": 950})
        context.set_default_timeout(60_000)
        opened = context.new_page()
        mistakes: list[str] = []
        answers: list[Response] = []
        opened.on("pageerror", lambda error: mistakes.append(str(error)))
        opened.on("response", lambda answer: answers.append(answer) if answer.request.method == "POST" else None)
        yield opened
        mistakes += [answer.text() for answer in answers if not answer.json()["ok"]]
        browser.close()
    assert mistakes == []


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).last.click()


@pytest.mark.core
@pytest.mark.parametrize("program", ["cold"], indirect=True)
def test_six_stages_in_the_browser_and_back(program: Program, page: Page) -> None:
    """S39-S57, S85, S90: what a first-time user clicks, and the calendar store before, after and after undo."""
    calendar = CalDav(program.caldav_url())
    calendar.put("standup", "Standup", datetime(2026, 3, 2, 8, 30, tzinfo=UTC), datetime(2026, 3, 2, 9, 0, tzinfo=UTC))
    before = calendar.raw()
    expect.set_options(timeout=60_000)
    page.goto(program.address)
    page.get_by_role("button", name=re.compile("^Plan (my|a) day$")).last.click()
    press(page, "Plan this day")
    expect(page.get_by_text("the hours of your day").last).to_be_visible()
    expect(page.get_by_text("Standup").last).to_be_visible()
    press(page, "Continue")
    press(page, "Add tasks")
    dialog = page.get_by_role("dialog")
    deep = dialog.get_by_role("textbox", name="Deep work, one task a line optional", exact=True)
    deep.fill("Write report, 90 min\nAnswer mail, 30 min")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="A first draft of Monday 2 March")).to_be_visible()
    picture = page.get_by_role("img", name=re.compile("^Monday 2 March, 09:00 to 18:00: 4 blocks and 1 meeting"))
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") == 1040
    press(page, "Refine")
    press(page, "Commit to calendar")
    expect(page.get_by_role("heading", name="Monday 2 March is on your calendar")).to_be_visible()
    assert {"Write report", "Answer mail", "Lunch", "Shut down", "Standup"} == set(calendar.titles())
    assert {href: raw for href, raw in calendar.raw().items() if href in before} == before
    day = page.frame_locator("iframe")
    expect(day.get_by_text("Write report").first).to_be_visible()
    program.restart()
    expect(page.get_by_role("button", name="Undo", exact=True).last).to_be_enabled()
    eventually(lambda: program.person() is not None, "the program is back")
    press(page, "Undo")
    expect(page.get_by_text("Taken back").last).to_be_visible()
    assert calendar_after(program) == before
    expect(day.get_by_text("Write report")).to_have_count(0)
    assert (program.stop(), program.log.read_text().rpartition("nothing is lost.\n")[2]) == (0, "")


def calendar_after(program: Program) -> dict[str, bytes]:
    """Return the objects of the store at its current address."""
    return CalDav(program.caldav_url()).raw()


def test_a_block_dragged_in_the_day_pane_is_the_persons_edit(program: Program, page: Page) -> None:
    """The thread's card follows a drag and a stretch by keys, and Undo leaves the block where the person put it."""
    calendar = CalDav(program.caldav_url())
    for _ in all_steps(program.person()):
        pass
    expect.set_options(timeout=60_000)
    page.goto(program.address)
    page.get_by_role("button", name=re.compile("replies")).first.click()
    day = page.frame_locator("iframe")
    block = day.get_by_role("button", name=re.compile("^Prepare talk, Mon 2 Mar, 09:00 – 10:00"))
    expect(block).to_be_visible()
    box = block.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 90, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 90, box["y"] + 40)
    page.mouse.move(box["x"] + 90, box["y"] + 20 + 31 * 12)
    page.mouse.up()
    expect(day.get_by_text("Prepare talk is at 15:00 – 16:00 now.")).to_be_visible()
    expect(page.get_by_text(re.compile("You changed “Prepare talk”")).last).to_be_visible()
    expect(page.get_by_text(re.compile("15:00–16:00")).last).to_be_visible()
    day.get_by_role("button", name=re.compile("^Prepare talk, Mon 2 Mar, 15:00")).focus()
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Enter")
    expect(day.get_by_text("Prepare talk is at 15:00 – 16:30 now.")).to_be_visible()
    expect(page.get_by_text(re.compile("15:00–16:30")).last).to_be_visible()
    press(page, "Undo")
    expect(page.get_by_text("Taken back").last).to_be_visible()
    assert calendar.events() == [("Prepare talk", "2026-03-02T15:00:00+01:00", "2026-03-02T16:30:00+01:00")]
