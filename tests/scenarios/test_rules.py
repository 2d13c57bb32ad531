"""A person's rules in a real browser, on the local workspace: added by form, seen on the card, denied, taken back; a review
of many with pages, a search and an edit; and the same from App Home, without a session."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.command_line import run_program
from tests.factories.constraints import line_of
from tests.scenarios.program import Program
from tests.scenarios.test_browser_day import CHROMIUM, page

__all__ = ["page"]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.skipif(not CHROMIUM, reason="needs Debian's chromium: apt-get install chromium"),
]
RULE = "No calls before 10"


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    running = Program(tmp_path / "data", {"FATEFORGER_NOW": "2026-03-02T07:00:00+01:00"})
    try:
        yield running
    finally:
        if running.process is not None:
            running.kill()


def press(where: Page | Locator, label: str) -> None:
    where.get_by_role("button", name=label, exact=True).last.click()


def add(page: Page, words: str, *, times: str) -> None:
    """Fill the form that is open; the kind brings up the field for times."""
    form = page.get_by_role("dialog")
    form.get_by_label("The rule, in your words").fill(words)
    form.get_by_role("combobox", name="What it is about").click()
    page.get_by_role("option", name="A time of day to keep free of it").click()
    form.get_by_label("Times of day").fill(times)
    press(form, "Add")


def test_a_rule_is_added_seen_denied_and_taken_back(program: Program, page: Page) -> None:
    """S32, S33, S35, S36, S214: by form alone, without a model."""
    expect.set_options(timeout=60_000)
    page.goto(program.start().address)
    press(page, "Plan my day")
    press(page, "Plan this day")
    press(page, "Add a rule")
    form, thread = page.get_by_role("dialog"), page.locator("#thread")
    add(page, RULE, times="before ten")
    expect(
        form.get_by_text("“before ten” needs a beginning and an end; write it like 9-12 or 9:30-12.")
    ).to_be_visible()
    expect(form.get_by_label("The rule, in your words")).to_have_value(RULE)
    form.get_by_label("Times of day").fill("0-10")
    press(form, "Add")
    expect(form).to_be_hidden()
    expect(thread.get_by_text(f"Your rules for this day: “{RULE}” (should).")).to_be_visible()

    press(thread, "Your rules")
    expect(thread.get_by_text("1 rule: 1 counts on this day.")).to_be_visible()
    thread.get_by_role("button", name=f"Deny / Edit: “{RULE}”").click()
    press(form, "Decline")
    expect(form.get_by_text("Not used: You declined it.")).to_be_visible()
    press(form, "Back")
    expect(thread.get_by_text("I know no rules of yours yet.")).to_be_visible()
    thread.get_by_role("button", name=re.compile("^Undo: ")).last.click()
    expect(thread.get_by_text("1 rule: 1 counts on this day.")).to_be_visible()


def test_many_rules_are_paged_searched_and_edited(program: Program, page: Page, tmp_path: Path) -> None:
    """S34, S35: also from App Home, where no session runs."""
    expect.set_options(timeout=60_000)
    told = tmp_path / "told.jsonl"
    lines = [line_of(f"{n:02}", user="U0000ALEX", name=f"Rule {n:02}", description=f"word{n:02}") for n in range(30)]
    told.write_text("\n".join(json.dumps(line) for line in lines))
    status, _, errors = run_program("constraints", "import", str(told), "--data-dir", str(program.data))
    assert status == 0, errors
    page.goto(program.start().address)
    page.get_by_role("tab", name="Home").click()
    press(page, "Your rules")
    form = page.get_by_role("dialog")
    expect(form.get_by_text("Rules 1 to 12 of 30. The day is Monday 2 March.")).to_be_visible()
    press(form, "Next page")
    expect(form.get_by_text("Rules 13 to 24 of 30.")).to_be_visible()
    form.get_by_label("Search your rules").fill("word29")
    press(form, "Search")
    expect(form.get_by_text("1 of your 30 rules fits.")).to_be_visible()
    press(form, "Edit: “Rule 29”")
    form.get_by_label("Short name").fill("The last rule")
    form.get_by_role("radio", name="Must: never break it").check()
    press(form, "Save")
    expect(form.get_by_text("The last rule", exact=True)).to_be_visible()
    expect(form.get_by_text("“The last rule” is changed.")).to_be_visible()
    press(form, "Show all rules")
    expect(form.get_by_text("The last rule", exact=True)).to_be_visible()
    expect(form.get_by_label("Search your rules")).to_have_value("")


def test_a_change_against_a_rule_waits_and_a_block_says_why_it_is_there(
    program: Program, page: Page, tmp_path: Path
) -> None:
    """S22, S175, S196: the rule in the person's words, one click to do it all the same, and the reasons for a block."""
    expect.set_options(timeout=60_000)
    told = tmp_path / "told.jsonl"
    windows = [{"kind": "avoid", "start": "06:00", "end": "08:45"}]
    rule = line_of(
        "quiet", user="U0000ALEX", name="Quiet mornings", description="nothing before a quarter to nine",
        necessity="must", rule_kind="avoid_window", windows=windows,
    )  # fmt: skip
    told.write_text(json.dumps(rule))
    status, _, errors = run_program("constraints", "import", str(told), "--data-dir", str(program.data))
    assert status == 0, errors
    page.goto(program.start().address)
    form, thread = page.get_by_role("dialog"), page.locator("#thread")
    press(page, "Plan my day")
    press(page, "Plan this day")
    press(thread, "Continue")
    press(thread, "Add tasks")
    form.get_by_role("textbox", name="Deep work, one task a line optional", exact=True).fill("Write report, 60 min")
    press(form, "Save")
    press(thread, "Refine")
    press(thread, "Add block")
    form.get_by_label("Title", exact=True).fill("Call Ben")
    form.get_by_label("Starts at").fill("08:00")
    form.get_by_label("Minutes").fill("30")
    press(form, "Add")
    said = "On 1 February 2026 you said: “nothing before a quarter to nine”."
    expect(thread.get_by_text(f"I did not do that, because of a rule you want kept. {said}")).to_be_visible()
    press(thread, "Do it anyway, for this day")
    expect(thread.get_by_text("“Call Ben” is in, 08:00–08:30.")).to_be_visible()
    expect(thread.get_by_text("“Quiet mornings” does not count for this day.")).to_be_visible()
    thread.get_by_role("combobox", name="Why here?").click()
    page.get_by_role("option", name="09:00–10:00 Write report").click()
    expect(thread.get_by_text("It is the earliest time that is free and long enough for it.")).to_be_visible()


def test_a_rule_over_the_order_of_the_day(program: Program, page: Page) -> None:
    """S131, S139, S214: from App Home in rule words, a mistake shown with its place; held to in Refine, set aside."""
    expect.set_options(timeout=60_000)
    page.goto(program.start().address)
    page.get_by_role("tab", name="Home").click()
    press(page, "Add a day rule")
    form, thread = page.get_by_role("dialog"), page.locator("#thread")
    expect(form.get_by_text("Kinds of blocks:")).to_be_visible()
    form.get_by_label("The rule", exact=True).fill("NEVER: focus_after_10")
    form.get_by_role("radio", name="Must: never break it").check()
    press(form, "Add")
    expect(form.get_by_text("At line 1, column 8: Nothing is declared with the name “focus_after_10”.")).to_be_visible()
    form.get_by_label("The rule", exact=True).fill("NEVER: deep_work_after_10")
    press(form, "Add")
    expect(form).to_be_hidden()

    page.get_by_role("tab", name="Messages").click()
    press(page, "Plan my day")
    press(page, "Plan this day")
    expect(thread.get_by_text("Your rules for this day: “No deep work past 10:00” (must).")).to_be_visible()
    press(thread, "Continue")
    press(thread, "Add tasks")
    form.get_by_role("textbox", name="Deep work, one task a line optional", exact=True).fill("Write report, 60 min")
    press(form, "Save")
    press(thread, "Refine")
    press(thread, "Add block")
    form.get_by_label("Title", exact=True).fill("Sums")
    form.get_by_label("Starts at").fill("11:00")
    form.get_by_label("Minutes").fill("30")
    press(form, "Add")
    expect(
        thread.get_by_text("These break it: “Sums” (11:00–11:30). Move it, shorten it, or leave it out.")
    ).to_be_visible()
    press(thread, "Do it anyway, for this day")
    expect(thread.get_by_text("“Sums” is in, 11:00–11:30.")).to_be_visible()
    expect(thread.get_by_text("Not kept")).to_have_count(0)
