"""Outside failures are shown plainly in the thread, with a way on; the calendar ends as planned or as before."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from tests.scenarios.caldav import CalDav
from tests.scenarios.day import STEPS, commit
from tests.scenarios.program import Program
from tests.scenarios.radicale import Radicale, free_port

pytestmark = pytest.mark.process

MONDAY = "2026-03-02T07:00:00+01:00"


@pytest.fixture
def radicale(tmp_path: Path) -> Iterator[Radicale]:
    server = Radicale(tmp_path / "dav", free_port())
    server.start()
    httpx.request("MKCALENDAR", server.calendar, trust_env=False, auth=("me", "")).raise_for_status()
    yield server
    server.kill()


@pytest.fixture
def start_program(tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path / "data", environment={"FATEFORGER_NOW": MONDAY})
    yield program
    if program.process is not None:
        program.kill()


def test_the_calendar_server_dies_before_the_commit_and_comes_back(radicale: Radicale, start_program: Program) -> None:
    """S84, S87, S216: nothing is written unseen; one sentence, Try again, and the day is there once."""
    start_program.environment |= {"FATEFORGER_CALDAV_URL": radicale.calendar, "FATEFORGER_CALDAV_USERNAME": "me"}
    start_program.start()
    calendar = CalDav(radicale.calendar)
    calendar.put("standup", "Standup", datetime(2026, 3, 2, 8, 30, tzinfo=UTC), datetime(2026, 3, 2, 9, 0, tzinfo=UTC))
    before = calendar.raw()
    person = start_program.person()
    for _, step in STEPS[:-1]:
        step(person)
    radicale.kill()
    person.press("Commit to calendar")
    said = person.reads("Try again")
    assert "calendar" in said.lower()
    radicale.start()
    assert calendar.raw() == before
    person.press("Try again")
    person.reads("is on your calendar")
    assert sorted(calendar.titles()) == ["Answer mail", "Lunch", "Prepare talk", "Shut down", "Standup", "Write report"]
    person.press("Undo")
    person.reads("Taken back")
    assert calendar.raw() == before


def test_a_caldav_server_that_is_down_at_the_start_is_used_once_it_answers(
    radicale: Radicale, start_program: Program
) -> None:
    """S438: the program starts, says so, and plans; what could not be read is there on the next try."""
    start_program.environment |= {"FATEFORGER_CALDAV_URL": radicale.calendar, "FATEFORGER_CALDAV_USERNAME": "me"}
    CalDav(radicale.calendar).put(
        "standup", "Standup", datetime(2026, 3, 2, 8, 30, tzinfo=UTC), datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
    )
    radicale.kill()
    start_program.start()
    assert (
        "your CalDAV server, which is not answering now; I try again whenever I need it."
        in start_program.log.read_text()
    )
    person = start_program.person()
    for _, step in STEPS[:2]:
        step(person)
    person.reads("I could not read your calendar: Your CalDAV server is not answering right now.", "Try again")
    day = person.http.get(f"{person.base}/day/")
    assert (day.status_code, "is not answering" in day.text) == (503, True)
    radicale.start()
    person.press("Try again")
    person.reads("Standup")
    for _, step in STEPS[2:]:
        step(person)
    assert person.http.get(f"{person.base}/day/").status_code == 200
    assert "Write report" in CalDav(radicale.calendar).titles()


def test_a_wrong_calendar_address_is_said_and_the_day_can_still_be_planned(start_program: Program) -> None:
    """S40, S123: the plan is drafted without the calendar, with a plain word that meetings are not known."""
    start_program.environment |= {"FATEFORGER_CALENDAR_URL": "http://127.0.0.1:9/mcp"}
    start_program.start()
    person = start_program.person()
    for _, step in STEPS[:2]:
        step(person)
    person.reads("I could not read your calendar", "Try again")
    for _, step in STEPS[2:-1]:
        step(person)
    person.press("Commit to calendar")
    person.reads("Try again")
    assert not person.has("Undo")


def test_a_full_disk_loses_nothing(start_program: Program) -> None:
    """S100, full disk: no "ok" without a durable row; the same click works when there is room again."""
    start_program.start()
    person = start_program.person()
    for _, step in STEPS[:-1]:
        step(person)
    assert start_program.process is not None
    pid = start_program.process.pid
    person.reads("✓ First draft: 5 blocks")  # the card before is replaced once the new one is there
    before = person.says()
    unlimited = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (1, unlimited[1]))
    answer = person.press("Commit to calendar")
    assert not answer["ok"]
    assert answer["error"]
    resource.prlimit(pid, resource.RLIMIT_FSIZE, unlimited)
    assert person.says() == before
    assert CalDav(start_program.caldav_url()).titles() == []
    commit(person)
    assert len(CalDav(start_program.caldav_url()).titles()) == 5
