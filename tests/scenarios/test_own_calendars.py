"""Two people plan in one running program, each on a calendar of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from tests.scenarios.caldav import CalDav
from tests.scenarios.person import Person, eventually
from tests.scenarios.program import Program
from tests.scenarios.providers import MONDAY, Providers, fill, link, open_providers, plan, run, second
from tests.scenarios.radicale import Radicale, free_port

pytestmark = pytest.mark.process


@pytest.fixture
def providers(tmp_path: Path) -> Iterator[Providers]:
    with open_providers(tmp_path) as opened:
        yield opened


@pytest.fixture
def radicale(tmp_path: Path) -> Iterator[Radicale]:
    server = Radicale(tmp_path / "dav", free_port())
    server.start()
    server.make_calendar()
    yield server
    server.kill()


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path / "data", environment={"FATEFORGER_NOW": MONDAY}).start()
    yield program
    if program.process is not None:
        program.kill()


def connect(program: Program, person: Person, radicale: Radicale) -> str:
    where = ("--address", radicale.calendar, "--account", "me")
    done = run(program, "calendars", "connect", "--user", person.user, *where, password="any")
    assert done.returncode == 0, done.stderr
    return done.stdout


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
    assert (bool(alex.state()["pane_url"]), robin.state()["pane_url"]) == (True, None)
    assert "Therapy" in robin.says()
    assert "Therapy" not in alex.says()
    assert ("Write report" in own.titles(), "Therapy" in own.titles()) == (True, False)
    assert "Write report" in theirs.titles()
    kept = own.raw()
    program.restart()
    own = CalDav(program.caldav_url())
    history = run(program, "sync", "history", "--user", robin.user).stdout
    assert history.count("Transaction") == 1
    undone = run(program, "sync", "undo", "--user", robin.user)
    assert undone.returncode == 0, undone.stderr
    assert (theirs.raw(), own.raw()) == (before, kept)
    done = run(program, "calendars", "disconnect", "--user", robin.user)
    assert done.returncode == 0, done.stderr
    assert (theirs.raw(), own.raw()) == (before, kept)
    refused = run(program, "sync", "undo", "--user", robin.user)
    assert (refused.returncode, refused.stderr) == (2, f"{robin.user} has connected no calendar. (user)\n")
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
    assert "I have forgotten your login" in gone.text
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


def test_people_sign_in_at_google_and_microsoft(providers: Providers) -> None:
    """S316: kill -9 between commit and undo; access that one of them ended leaves the others untouched."""
    program, google, microsoft = providers.program, providers.google, providers.microsoft
    alex = program.person()
    robin = second(alex)
    assert "Your calendar is connected." in providers.sign_in(robin, "google")
    assert "Your calendar is connected." in providers.sign_in(alex, "microsoft")
    plan(robin)
    plan(alex)
    at_google = google.calendars["primary"]
    assert "Write report" in {event.summary for event in at_google.shown().values()}
    assert "Write report" in str(microsoft.mailbox.items)
    assert CalDav(program.caldav_url()).titles() == []
    program.restart()
    google.accounts.withdraw(google.accounts.people[0])
    google.accounts.expire_access()
    ask = ("calendars", "show", "--user", robin.user)
    eventually(lambda: "ended my access" in run(program, *ask).stdout, "the program has seen that its access ended")
    robin.press("Undo")
    robin.reads("Google has ended my access to your account.", "Connect your own calendar")
    alex.press("Undo")
    alex.reads("Taken back")
    assert "Write report" not in str(microsoft.mailbox.items)
    page = providers.sign_in(robin, "google")
    assert "Your calendar is connected." in page
    robin.press("Undo")
    robin.reads("Taken back")
    assert at_google.shown() == {}
    (form,) = re.findall(r'<form method="post" action="([^"]+)"', page)
    assert "I have forgotten your login" in fill(form, do="disconnect").text
    assert all(grant.ended for grant in google.accounts.grants), "the access has ended at Google, too"


def test_a_return_that_this_browser_did_not_begin_connects_nothing(providers: Providers) -> None:
    """S316: not with another state, nor without the cookie; and a no is said."""
    robin = second(providers.program.person())
    robin.slash("/timebox", "connect")
    eventually(lambda: "/connect/" in str(robin.roots()), "a link")
    with httpx.Client(trust_env=False, timeout=60) as browser:
        away = browser.get(f"{link(robin)}/google").headers["location"]
        back = providers.google.accounts.consent(away, providers.google.accounts.people[0])
        assert httpx.get(back, trust_env=False).status_code == 410
        assert browser.get(re.sub(r"state=[^&]+", "state=other", back)).status_code == 410
        no = providers.google.accounts.consent(away, providers.google.accounts.people[0], allow=False)
        assert "did not give me access" in browser.get(no).text
    assert run(providers.program, "calendars", "show", "--user", robin.user).stdout == "No calendar is connected.\n"
