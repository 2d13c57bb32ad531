"""Changes on the calendar appear in the open thread by themselves: the real program over CalDAV, no click."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.command_line import run_program
from tests.scenarios.caldav import CalDav
from tests.scenarios.day import all_steps
from tests.scenarios.person import Person, eventually
from tests.scenarios.program import Program
from tests.scenarios.test_whole_day import MONDAY, at

pytestmark = pytest.mark.process


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    running = Program(tmp_path / "data", environment={"FATEFORGER_NOW": MONDAY})
    running.start()
    yield running
    running.kill()


def shows(person: Person, *expected: str, not_any_more: str = "") -> None:
    """Wait until the current card shows these texts."""

    def look() -> bool:
        said = str(person.card())
        return all(e in said for e in expected) and (not not_any_more or not_any_more not in said)

    eventually(look, f"{expected} on the card:\n{person.says()}")


def test_edits_on_the_calendar_show_up_in_the_thread_without_a_click(program: Program) -> None:
    """S200, S202, S213, S242: a moved block, a deleted one, a meeting on top of one; one card throughout; then a restart,
    and it is watched on."""
    person = program.person()
    for _ in all_steps(person):
        pass
    calendar = CalDav(program.caldav_url())
    thread = [message["ts"] for message in person.thread()]

    calendar.move("Prepare talk", "20260302T090000", "20260302T150000", "20260302T100000", "20260302T160000")
    shows(person, "15:00–16:00", "You changed “Prepare talk”", not_any_more="09:00–10:00")

    calendar.delete("Answer mail")
    calendar.put("drill", "Fire drill", at(10, 30), at(11))
    shows(person, "New on your calendar: “Fire drill”, 10:30–11:00.", "“Write report” runs into")
    shows(person, not_any_more="11:50–12:20")
    assert [message["ts"] for message in person.thread()] == thread

    program.restart()
    calendar = CalDav(program.caldav_url())
    calendar.retitle("Fire drill", "Bomb scare")
    shows(person, "“Fire drill” is now called “Bomb scare”.")
    assert [message["ts"] for message in person.thread()] == thread
    assert sorted(calendar.titles()) == ["Bomb scare", "Lunch", "Prepare talk", "Shut down", "Write report"]


def test_an_undo_on_the_command_line_shows_at_once_in_the_thread(program: Program) -> None:
    """S450: also hours later, when the day is no longer read by itself."""
    person = program.person()
    for _ in all_steps(person):
        pass
    program.environment["FATEFORGER_NOW"] = "2026-03-02T16:00:00+01:00"
    program.restart()
    status, said, errors = run_program("sync", "undo", "--data-dir", str(program.data))
    assert status == 0, errors
    assert "Taken back" in said
    shows(person, "is off your calendar again", not_any_more="Running late")


FLIGHT = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//somebody else//EN
BEGIN:VEVENT
UID:flight
DTSTAMP:20260101T000000Z
DTSTART;TZID=Europe/Amsterdam:20260302T113000
DTEND;TZID=America/New_York:20260302T143000
SUMMARY:Flight to New York
END:VEVENT
END:VCALENDAR
"""


def test_after_a_flight_every_time_is_that_of_the_place(program: Program) -> None:
    """H9: the day ends at 18:00 in New York, the shutdown is before that, and a call in the air is pointed out."""
    person = program.person()
    calendar = CalDav(program.caldav_url())
    calendar.put_object("flight", FLIGHT.replace("\n", "\r\n"))
    calendar.put("call", "Steering call", at(16), at(16, 30))
    steps = all_steps(person)
    for name in steps:
        if name == "confirm date":
            shows(person, "**11:30–14:30** Flight to New York (ends in New York time)".replace("**", "*"))
            shows(person, "“Steering call” falls into “Flight to New York”.", "From 14:30 on")
    shows(person, "16:10–16:40", "Shut down (New York time)")
    ends = {title: end for title, _start, end in calendar.events()}
    assert ends["Shut down"] in {"2026-03-02T22:40:00+01:00", "2026-03-02T16:40:00-05:00"}
