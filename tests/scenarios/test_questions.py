"""Both changed the same: the thread asks, through kill -9, and each answer does what it says. The real program, CalDAV."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from tests.scenarios.caldav import CalDav
from tests.scenarios.day import all_steps
from tests.scenarios.program import Program
from tests.scenarios.test_whole_day import DRAFT, MONDAY, at, moments

pytestmark = pytest.mark.process

ASKED = "“Prepare talk”: you moved it to 15:00 on your calendar; the plan has 08:45."


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    """Start a program that writes nothing before a commit."""
    where = {"FATEFORGER_NOW": MONDAY, "FATEFORGER_CALENDAR_WRITE": "commit"}
    running = Program(tmp_path / "data", environment=where)
    running.start()
    yield running
    running.kill()


def talk(calendar: CalDav) -> datetime:
    return next(start for title, start, _ in moments(calendar.events()) if title == "Prepare talk")


def test_the_thread_asks_and_each_answer_does_what_it_says(program: Program) -> None:
    """S62, S200, S201, K1: a plan changed in the thread, the same block on the calendar; the program is killed between
    the question and the answer, and once more between the answer and the commit."""
    person = program.person()
    for _ in all_steps(person):
        pass
    person.press("Back to refine")
    person.choose("Prepare talk", "15 min earlier")
    person.card_reads("08:45–09:45")
    calendar = CalDav(program.caldav_url())
    calendar.move("Prepare talk", "20260302T090000", "20260302T150000", "20260302T100000", "20260302T160000")
    person.card_reads(ASKED, "Keep calendar", "Keep plan")

    program.restart()
    person, calendar = program.person(), CalDav(program.caldav_url())
    person.card_reads(ASKED, "Keep calendar", "Keep plan")
    person.press("Commit to calendar")
    person.reads("is on your calendar")
    person.card_reads(ASKED, "Until you choose, your calendar stays as it is")
    assert talk(calendar) == at(15)
    before = calendar.raw()

    person.press("Keep calendar")
    person.card_reads("As on your calendar: “Prepare talk” is from 15:00 to 16:00.")
    assert (ASKED in str(person.card()), calendar.raw()) == (False, before)
    person.press("Back to refine")
    person.press("Undo last update")
    person.card_reads(ASKED, "Keep plan")
    person.press("Keep plan")
    person.card_reads("Your calendar gets that when you commit")
    assert calendar.raw() == before

    program.restart()
    person, calendar = program.person(), CalDav(program.caldav_url())
    person.press("Commit to calendar")
    person.card_reads("is on your calendar", "1 updated")
    assert talk(calendar) == at(8, 45)
    assert [event for event in moments(calendar.events()) if event[0] != "Prepare talk"] == moments(DRAFT)[1:]
