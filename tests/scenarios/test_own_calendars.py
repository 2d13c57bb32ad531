"""Two people plan in one running program, each on a calendar of their own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from joserfc.jwk import RSAKey
from tests.emulators.google.accounts import GoogleAccounts, Robot
from tests.emulators.google.emulator import GoogleEmulator
from tests.scenarios.caldav import CalDav
from tests.scenarios.day import confirm_date, start
from tests.scenarios.person import Json, Person, controls, eventually, texts
from tests.scenarios.person import label as name_of
from tests.scenarios.program import Program
from tests.scenarios.providers import MONDAY, Providers, fill, link, open_providers, plan, run, second, serve
from tests.scenarios.radicale import Radicale

from fateforger.adapters.google.client import SCOPES

pytestmark = [pytest.mark.process, pytest.mark.extra]


@pytest.fixture
def providers(tmp_path: Path) -> Iterator[Providers]:
    with open_providers(tmp_path) as opened:
        yield opened


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
    """K15, S307: also after kill -9; and a calendar that goes away leaves the other person's untouched."""
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


def test_two_people_plan_on_the_same_calendar(program: Program, radicale: Radicale) -> None:
    """S509: neither changes, counts or takes back what the other planned, also after kill -9."""
    alex = program.person()
    robin = second(alex)
    shared = CalDav(radicale.calendar)
    for person in (alex, robin):
        connect(program, person, radicale)
    plan(alex)
    planned = shared.titles()
    plan(robin)
    assert "already on your calendar" not in robin.says()
    assert sorted(shared.titles()) == sorted(planned * 2)
    program.restart()
    alex.press("Undo")
    alex.reads("Taken back")
    assert shared.titles() == planned
    plan(alex)
    assert sorted(shared.titles()) == sorted(planned * 2)
    robin.press("Undo")
    robin.reads("Taken back")
    assert shared.titles() == planned


def test_calendars_that_are_read_along_come_and_go(tmp_path: Path, radicale: Radicale) -> None:
    """S430: without a restart. A deleted one stops no day, and one that is new is planned around."""
    root = radicale.calendar.removesuffix("calendar/")

    def make(name: str, title: str, hour: int) -> CalDav:
        httpx.request("MKCALENDAR", f"{root}{name}/", trust_env=False, auth=("me", "")).raise_for_status()
        calendar = CalDav(f"{root}{name}/")
        calendar.put(name, title, datetime(2026, 3, 2, hour, tzinfo=UTC), datetime(2026, 3, 2, hour + 1, tzinfo=UTC))
        return calendar

    family = make("family", "Dentist", 10)
    settings = {"FATEFORGER_CALDAV_URL": root, "FATEFORGER_CALDAV_USERNAME": "me", "FATEFORGER_NOW": MONDAY}
    read = {"FATEFORGER_CALENDARS_READ": "all", "FATEFORGER_CALENDAR_ID": "me/calendar"}
    program = Program(tmp_path / "data", environment=settings | read).start()
    try:
        person = program.person()
        start(person)
        confirm_date(person)
        person.reads("Dentist")
        person.press("Cancel")
        make("work", "Board meeting", 13)
        family.http.delete(family.url).raise_for_status()
        start(person)
        person.press("Plan this day")
        person.reads("the hours of your day")
        if "I cannot read your calendar “me/family”" in person.says():  # unless the watch missed it before
            person.press("Try again")
        person.reads("Board meeting")
        assert "*11:00–12:00* Dentist" not in person.says()
    finally:
        program.kill()


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
    robin.press("Connect your calendar")  # which opens the page; Slack reports the click, and gets no answer
    assert "I never change an event that I did not make" in httpx.get(page, trust_env=False).text
    wrong = fill(page, address="http://127.0.0.1:9/me/", account="me", password="secret-word")
    assert (wrong.status_code, "cannot be used" in wrong.text) == (422, True)
    assert "secret-word" not in wrong.text
    assert 'value="me"' in wrong.text
    done = fill(page, address=radicale.calendar, account="me", password="any")
    assert "Your calendar is connected." in done.text
    plan(robin)
    assert "Write report" in CalDav(radicale.calendar).titles()
    assert len(robin.roots()) == 2, "the link and the plan"
    asked = fill(page, do="disconnect")
    assert "What I put on your calendar stays there" in asked.text
    gone = fill(page, do="disconnect-now")
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


def count_told(person: Person) -> int:
    """Count the messages that report the broken connection."""
    return sum("I can no longer reach your calendar." in m["text"] for m in person.roots())


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
    assert "Write report" in {event.summary for event in at_google.get_live_events().values()}
    assert "Write report" in str(microsoft.mailbox.items)
    assert CalDav(program.caldav_url()).titles() == []
    program.restart()
    google.accounts.withdraw(google.accounts.people[0])
    google.accounts.expire_access()
    eventually(lambda: count_told(robin) == 1, "robin is told that the access ended")
    program.restart()
    robin.open_thread("Monday 2 March")
    robin.press("Undo")
    robin.reads("Google has ended my access to your account.", "Your plans wait")
    alex.press("Undo")
    alex.reads("Taken back")
    assert "Write report" not in str(microsoft.mailbox.items)
    page = providers.sign_in(robin, "google")
    assert "Your calendar is connected." in page
    robin.press("Undo")
    robin.reads("Taken back")
    assert (count_told(robin), count_told(alex)) == (1, 0), "once, also after kill -9, and only whom it is about"
    assert at_google.get_live_events() == {}
    form = re.findall(r'<form method="post" action="([^"]+)"', page)[0]
    assert "I have forgotten your login" in fill(form, do="disconnect-now").text
    assert all(grant.ended for grant in google.accounts.grants), "the access has ended at Google, too"


def test_a_calendar_that_vanished_is_told_and_can_be_tried_again(program: Program, radicale: Radicale) -> None:
    """S326: without typing the password again; the plan is written where it left off."""
    robin = second(program.person())
    connect(program, robin, radicale)
    plan(robin)
    login: Any = {"trust_env": False, "auth": ("me", "")}
    httpx.request("DELETE", radicale.calendar, **login).raise_for_status()
    eventually(lambda: count_told(robin) == 1, "robin is told that the calendar is not there")
    assert "A calendar that you chose is not there any more" in str(robin.roots())
    httpx.request("MKCALENDAR", radicale.calendar, **login).raise_for_status()
    page = fill(link(robin), do="choose").text
    (chosen,) = re.findall(r'name="write" required value="([^"]+)" checked', page)
    assert "Your calendar is connected." in fill(link(robin), do="save", write=chosen).text
    robin.open_thread("Monday 2 March")
    robin.press("Undo")
    robin.reads("Taken back")
    assert count_told(robin) == 1


def use_home(person: Person, label: str) -> None:
    """Press a button on App Home."""
    person.post("/ui/home_opened", tab="home")

    def look() -> tuple[str, Json] | None:
        view = person.get("/ui/home", user=person.user)["view"]
        return next(((b, e) for b, e in controls(view["blocks"]) if name_of(e) == label), None) if view else None

    block_id, element = eventually(look, f"a button {label!r} on App Home")
    action = {key: element[key] for key in ("type", "action_id", "value")} | {"block_id": block_id}
    person.post("/ui/action", surface={"type": "home"}, action=action)


def read_home(person: Person, words: str) -> str:
    """Open App Home until it says this, and return all that it says."""

    def look() -> str | None:
        person.post("/ui/home_opened", tab="home")
        view = person.get("/ui/home", user=person.user)["view"]
        said = "\n".join(texts(view["blocks"])) if view else ""
        return said if words in said else None

    return eventually(look, f"App Home says {words!r}")


def wait_for_message(person: Person, words: str) -> None:
    eventually(lambda: words in str(person.roots()), f"{words!r} in direct messages")


def test_app_home_shows_the_connection_and_disconnects_it(program: Program, radicale: Radicale) -> None:
    """S328: also for the owner of the configured calendar, who has it again afterwards."""
    alex = program.person()
    read_home(alex, "I plan on the calendar that I was set up with.")
    connect(program, alex, radicale)
    shown = read_home(alex, "connected on")
    assert "*me* (CalDAV)" in shown
    assert "write only the blocks of your plan to it" in shown
    use_home(alex, "Disconnect")
    wait_for_message(alex, "I have forgotten your login.")
    read_home(alex, "I plan on the calendar that I was set up with.")
    assert "disconnected" in run(program, "calendars", "show", "--user", alex.user).stdout


def test_an_administrator_opens_the_calendars_of_a_domain(tmp_path: Path) -> None:
    """S305: one tap does it; the card says what is read and written, and people do not sign in."""
    key = RSAKey.generate_key(2048, private=True)
    robot = Robot("robot@project.example", RSAKey.import_key(key.as_pem(private=False)), "example.com", SCOPES)
    began = datetime.now(UTC)
    google = GoogleEmulator(
        accounts=GoogleAccounts(people=["robin@example.com"], robots=[robot]),
        now=lambda: datetime.fromisoformat(MONDAY) + (datetime.now(UTC) - began),  # which the key's signature names
    )
    file = tmp_path / "key.json"
    private = key.as_pem(private=True).decode()
    file.write_text(json.dumps({"client_email": robot.email, "private_key": private, "token_uri": "https://x/token"}))
    with serve(google.app()) as at_google:
        settings = {
            "FATEFORGER_NOW": MONDAY,
            "FATEFORGER_GOOGLE_SERVICE_ACCOUNT": str(file),
            "FATEFORGER_GOOGLE_DOMAINS": "example.com",
            "FATEFORGER_GOOGLE_URL": at_google,
        }
        program = Program(tmp_path / "data", environment=settings).start()
        try:
            robin = second(program.person())
            robin.slash("/timebox")
            wait_for_message(robin, "Your administrator has opened your Google calendar to me")
            assert "I write only the blocks of your plan to it" in str(robin.roots())
            robin.press("Use my calendar")
            wait_for_message(robin, "I plan on your calendar from now on.")
            plan(robin)
            at_google_now = google.calendars["primary"]
            assert "Write report" in {event.summary for event in at_google_now.get_live_events().values()}
            robin.press("Undo")
            robin.reads("Taken back")
            assert at_google_now.get_live_events() == {}
        finally:
            program.kill()


def test_a_return_that_this_browser_did_not_begin_connects_nothing(providers: Providers) -> None:
    """S316: neither with another state nor without the cookie; a refusal is shown."""
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
