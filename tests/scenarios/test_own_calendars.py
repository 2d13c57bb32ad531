"""Two people plan in one running program, each on a calendar of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from tests.scenarios.caldav import CalDav
from tests.scenarios.day import STEPS
from tests.scenarios.person import Person, eventually
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
def program(tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path / "data", environment={"FATEFORGER_NOW": MONDAY}).start()
    yield program
    if program.process is not None:
        program.kill()


def run(program: Program, *arguments: str, password: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command of the command line on the data directory of the program."""
    command = [sys.executable, "-m", "fateforger", *arguments, "--data-dir", str(program.data)]
    environment = {**os.environ, "FATEFORGER_NOW": MONDAY}
    return subprocess.run(command, input=f"{password}\n", capture_output=True, text=True, env=environment, check=False)


def second(first: Person) -> Person:
    """The page's second person."""
    people = [p["id"] for p in first.state()["users"] if not p["is_bot"]]
    return Person(first.base, people[1])


def connect(program: Program, person: Person, radicale: Radicale) -> str:
    where = ("--address", radicale.calendar, "--account", "me")
    done = run(program, "calendars", "connect", "--user", person.user, *where, password="any")
    assert done.returncode == 0, done.stderr
    return done.stdout


def plan(person: Person) -> None:
    for _, step in STEPS:
        step(person)


def test_each_plans_and_undoes_on_their_own_calendar(program: Program, radicale: Radicale) -> None:
    """S307: also after kill -9; and a calendar that goes away leaves the other person's untouched."""
    alex = program.person()
    robin = second(alex)
    robin.slash("/timebox")
    assert "connected" in connect(program, robin, radicale)
    own, theirs = CalDav(program.caldav_url()), CalDav(radicale.calendar)
    theirs.put("therapy", "Therapy", datetime(2026, 3, 2, 15, tzinfo=UTC), datetime(2026, 3, 2, 16, tzinfo=UTC))
    before = theirs.raw()
    plan(alex)
    plan(robin)
    assert "Therapy" in robin.says()
    assert "Therapy" not in alex.says()
    assert ("Write report" in own.titles(), "Therapy" in own.titles()) == (True, False)
    assert "Write report" in theirs.titles()
    kept = own.raw()
    program.restart()
    own = CalDav(program.caldav_url())
    robin.press("Undo")
    robin.reads("Taken back")
    assert (theirs.raw(), own.raw()) == (before, kept)
    done = run(program, "calendars", "disconnect", "--user", robin.user)
    assert done.returncode == 0, done.stderr
    assert (theirs.raw(), own.raw()) == (before, kept)
    alex.press("Undo")
    alex.reads("Taken back")
    assert own.titles() == []


def test_a_calendar_that_does_not_work_is_not_kept(program: Program) -> None:
    alex = program.person()
    where = ("--address", "http://127.0.0.1:9/me/", "--account", "me")
    done = run(program, "calendars", "connect", "--user", alex.user, *where, password="secret-word")
    assert done.returncode == 3
    assert "cannot be used" in done.stderr
    assert "secret-word" not in done.stderr + done.stdout
    assert run(program, "calendars", "show", "--user", alex.user).stdout == "No calendar is connected.\n"


def link(person: Person) -> str:
    """The newest link that the person can read in their messages."""
    found = re.findall(r"http://[^\s|>]+/connect/[\w=-]+", str(person.roots()))
    return str(found[-1])


def fill(page: str, /, **fields: str) -> httpx.Response:
    return httpx.post(page, data=fields, trust_env=False, timeout=60)


def test_a_person_connects_and_disconnects_on_a_page(program: Program, radicale: Radicale) -> None:
    """S309: no password passes through Slack, and what does not work is not kept."""
    alex = program.person()
    robin = second(alex)
    robin.slash("/timebox", "connect")
    eventually(lambda: "/connect/" in str(robin.roots()), "a link")
    page = link(robin)
    assert "I never change an event that I did not make" in httpx.get(page, trust_env=False).text
    wrong = fill(page, address="http://127.0.0.1:9/me/", account="me", password="secret-word")
    assert (wrong.status_code, "cannot be used" in wrong.text) == (422, True)
    assert "secret-word" not in wrong.text
    assert 'value="me"' in wrong.text
    done = fill(page, address=radicale.calendar, account="me", password="any")
    assert "Your calendar is connected." in done.text
    plan(robin)
    assert "Write report" in CalDav(radicale.calendar).titles()
    gone = fill(page, do="disconnect")
    assert "I have forgotten its password" in gone.text
    robin.press("Undo")
    robin.reads("Connect your own calendar")
    assert "Write report" in CalDav(radicale.calendar).titles()
    fill(page, address=radicale.calendar, account="me", password="any")
    robin.press("Undo")
    robin.reads("Taken back")
    assert CalDav(radicale.calendar).titles() == []


def test_a_link_of_somebody_else_or_an_old_one_opens_nothing(program: Program) -> None:
    alex = program.person()
    answer = fill(f"{alex.base}/connect/made-up", address="x", account="me", password="any")
    assert (answer.status_code, "too old" in answer.text) == (410, True)
