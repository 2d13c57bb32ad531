"""One program in two workspaces, whose people, channels and messages have the same ids."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.postgres import PostgresServer
from tests.scenarios.caldav import CalDav
from tests.scenarios.person import Person, eventually
from tests.scenarios.providers import plan, run
from tests.scenarios.radicale import Radicale, free_port, slow_way
from tests.scenarios.teams import ALEX, ONE, ROBIN, TWO, TwoTeams, open_two_teams
from tests.scenarios.test_home_board import Board

from fateforger.adapters.store.connections import new_key

pytestmark = [pytest.mark.process, pytest.mark.extra]


@pytest.fixture
def two(tmp_path: Path) -> Iterator[TwoTeams]:
    with open_two_teams(tmp_path) as opened:
        yield opened


def connect(two: TwoTeams, radicale: Radicale) -> None:
    """Connect the calendar of the person in the second workspace."""
    where = ("--user", f"{TWO}/{ALEX}", "--address", radicale.calendar, "--account", "me")
    done = run(two.program, "calendars", "connect", *where, password="any")
    assert done.returncode == 0, done.stderr


def test_two_people_with_the_same_id_plan_at_the_same_time(two: TwoTeams, radicale: Radicale) -> None:
    """S340, S342: each uses their own calendar, and no payload of one workspace reaches the other."""
    alex, other = two.alex, two.other
    other.slash("/timebox")
    eventually(lambda: "/connect/" in str(other.roots()), "the first workspace's calendar is not theirs")
    connect(two, radicale)
    plan(alex)
    plan(other)
    other.open_thread("Monday 2 March")
    theirs, own = CalDav(radicale.calendar), CalDav(two.program.caldav_url())
    assert "Write report" in theirs.titles()
    assert "Write report" in own.titles()
    kept, thread = own.raw(), alex.thread()
    forge(two, alex)
    other.press("Undo")
    other.reads("Taken back")
    assert (theirs.titles(), own.raw(), alex.thread()) == ([], kept, thread)
    for user, mine in ((ALEX, "U0000ALEX"), (f"{TWO}/{ALEX}", "T2/U0000ALEX")):
        exported = json.loads(run(two.program, "person", "export", user, "--to", "-").stdout)
        people = {row["user_id"] for row in exported["held"]["sessions"]}
        assert people == {mine}
    alex.press("Undo")
    alex.reads("Taken back")


def forge(two: TwoTeams, alex: Person) -> None:
    """Send payloads of the second workspace that name a message, a thread, a person and a form of the first one."""
    message, block_id, button = alex.find("Undo")
    session = json.loads(button["value"])["session"]
    began = len(two.slack.calls)
    person = {"id": ALEX, "team_id": TWO}
    common = {"team": {"id": TWO}, "user": person, "api_app_id": "A1", "is_enterprise_install": False}
    click = {
        **common,
        "type": "block_actions",
        "trigger_id": "1.2.x",
        "container": {"type": "message", "message_ts": message["ts"], "thread_ts": message["thread_ts"]},
        "channel": {"id": alex.channel, "name": "directmessage"},
        "actions": [{k: button[k] for k in ("type", "action_id", "value")} | {"block_id": block_id}],
    }
    two.slack.send(TWO, "interactive", click)
    eventually(lambda: (TWO, "chat.postEphemeral") in two.slack.calls[began:], "an answer to the click")
    view = {"id": "V1", "hash": "1.x", "type": "modal", "callback_id": "tasks", "state": {"values": {}}}
    form = {**view, "private_metadata": json.dumps({"form": "tasks", "session": session})}
    two.slack.send(TWO, "interactive", {**common, "type": "view_submission", "view": form})
    eventually(lambda: (TWO, "chat.postMessage") in two.slack.calls[began:], "an answer to the form")
    words = {"type": "message", "channel": alex.channel, "channel_type": "im", "user": ALEX, "text": "undo that"}
    two.slack.tell(TWO, {**words, "ts": "9.9", "thread_ts": message["thread_ts"]})
    eventually(lambda: two.slack.calls[began:].count((TWO, "chat.postMessage")) > 1, "an answer to the words")
    assert {team for team, _ in two.slack.calls[began:]} == {TWO}
    for team, named in ((ONE, f"{TWO}/{ALEX}"), (TWO, f"{ONE}/{ALEX}")):
        two.slack.tell(team, {**words, "user": named, "ts": "9.8"})
        left_alone = f"a payload of Team {team} is left alone"
        eventually(partial(is_logged, two, left_alone), left_alone)


def is_logged(two: TwoTeams, words: str) -> bool:
    return words in two.program.log.read_text()


def test_a_workspace_that_removes_the_app_leaves_the_other_alone(two: TwoTeams, radicale: Radicale) -> None:
    """S343: its plans wait, and continue where they were once the app is back; kill -9 does not change that."""
    connect(two, radicale)
    alex, other = two.alex, two.other
    plan(other)
    database = (two.program.data / "fateforger.db").read_bytes()
    assert not any(token.encode() in database for token in two.slack.tokens)
    two.slack.revoke(TWO)  # no notice is sent yet
    other.press("Back to refine")
    eventually(lambda: two.slack.refused, "Slack refuses the token")
    plan(alex)
    two.slack.uninstall(TWO)
    eventually(lambda: "the app was removed from T2" in two.program.log.read_text(), "the removal is noted")
    two.program.restart()
    refused = len(two.slack.refused)
    alex.wait_connected()
    alex.press("Undo")
    alex.reads("Taken back")
    assert len(two.slack.refused) == refused, "nothing is tried without a token"
    assert two.install(TWO).status_code == 200
    other.press("Take all of it off the calendar")
    eventually(lambda: CalDav(radicale.calendar).titles() == [], "the plan goes on where it was")


def test_app_home_of_each_person_of_an_id_follows_its_own_workspace(two: TwoTeams, radicale: Radicale) -> None:
    """S395: within two seconds of each change, without being opened again."""
    alex, other = two.alex, two.other
    home, board = Board(alex), Board(other)
    home.reads("Your queue is empty")
    board.reads("Connect your calendar")
    connect(two, radicale)
    board.follows("Add a task", gone="Connect your calendar")
    plan(other)
    board.follows("on your calendar, 5 blocks")
    for person, shown, title in ((alex, home, "Feed the cat"), (other, board, "Water the plants")):
        shown.use("Add a task")
        person.submit(task=title)
        shown.reads(title)
    assert "Water the plants" not in home.words()
    assert "Feed the cat" not in board.words()
    board.use("Add a routine")
    other.submit(title="School run", from_when_to_when="8:10-8:45")
    board.reads("I keep to 1 rule of yours")
    assert "I know no rules of yours yet" in home.words()
    (task,) = json.loads(run(two.program, "tasks", "list", "--user", f"{TWO}/{ALEX}", "--json").stdout)["tasks"]
    for step in ("pull", "done"):
        done = run(two.program, "tasks", step, task["id"], "--user", f"{TWO}/{ALEX}")
        assert done.returncode == 0, done.stderr
    board.follows("Your queue is empty", gone="Water the plants")
    assert "Feed the cat" in home.words()
    assert "Plan my day" in home.words()


@pytest.mark.extra
def test_every_program_stops_work_for_a_workspace_that_removed_the_app(
    tmp_path: Path, radicale: Radicale, vector_server: PostgresServer
) -> None:
    """S393: one of two programs gets the event; then neither reads calendars there. The other workspace goes on."""
    (tmp_path / "other").mkdir()
    second = Radicale(tmp_path / "other" / "dav", free_port())
    second.start()
    second.make_calendar()
    asked: list[bytes] = []
    with ExitStack() as stack:
        stack.callback(second.kill)
        way = stack.enter_context(slow_way(second.calendar, 0.0, heard=partial(_note, asked)))
        settings: dict[str, Any] = {
            "FATEFORGER_DATABASE_URL": stack.enter_context(vector_server.database()),
            "FATEFORGER_MEMORY_STORE": "pgvector",
            "FATEFORGER_MEMORY_EMBEDDER": "spelling",
            "FATEFORGER_SECRET_KEYS": new_key(),
            "FATEFORGER_WATCH_SECONDS": "1",
        }
        two = stack.enter_context(open_two_teams(tmp_path, programs=2, **settings))
        alex, other = two.alex, two.other
        for user, address in ((ALEX, radicale.calendar), (f"{TWO}/{ALEX}", way.url)):
            where = ("--user", user, "--address", address, "--account", "me")
            done = run(two.program, "calendars", "connect", *where, password="any", environment=settings)
            assert done.returncode == 0, done.stderr
        plan(alex)
        plan(other)
        ours, theirs = CalDav(radicale.calendar), CalDav(second.calendar)
        two.slack.uninstall(TWO)
        eventually(lambda: "the app was removed from T2" in two.log, "the removal is noted")
        # New events here are noticed, so there were rounds since, and the other program had its two seconds to learn of it.
        for hour, title in enumerate(("Dentist", "School play"), start=13):
            meet(ours, title, hour)
            alex.reads(title)
        before, refused = len(asked), len(two.slack.refused)
        meet(theirs, "Fire drill", 15)
        meet(ours, "Concert", 18)
        alex.reads("Concert")
        assert len(asked) == before, "no program reads a calendar in a workspace without the app"
        assert len(two.slack.refused) == refused, "no program tries a token that is gone"
        assert two.install(TWO).status_code == 200
        other.reads("Fire drill")


def _note(asked: list[bytes], body: bytes) -> bytes:
    asked.append(body)
    return body


def meet(calendar: CalDav, title: str, hour: int) -> None:
    begin = datetime(2026, 3, 2, hour, tzinfo=UTC)
    calendar.put(title.partition(" ")[0], title, begin, begin + timedelta(minutes=30))


def test_an_install_is_for_one_browser_and_one_time(tmp_path: Path) -> None:
    """S341"""
    with open_two_teams(tmp_path, installed=False) as two, httpx.Client(trust_env=False, timeout=60) as browser:
        page = f"{two.program.url}/slack/install"
        begun = browser.get(page)
        cookie = {"Cookie": begun.headers["set-cookie"].partition(";")[0]}
        away = begun.headers["location"]
        assert browser.get(browser.get(f"{away}&team=deny").headers["location"]).status_code == 403
        back = browser.get(f"{away}&team={TWO}").headers["location"]
        assert browser.get(back).status_code == 400, "another browser"
        done = browser.get(back, headers=cookie)
        assert (done.status_code, f"installed in Team {TWO}" in done.text) == (200, True)
        again = browser.get(back, headers=cookie)
        assert (again.status_code, "begin again" in again.text) == (400, True)
        assert two.slack.calls.count((TWO, "auth.test")) == 1


def test_guests_and_strangers_are_told_that_they_cannot_plan(two: TwoTeams) -> None:
    """S344: this holds in any place until they are members; everybody may see their own stored data."""
    robin = two.person(TWO, ROBIN)
    two.slack.teams[TWO].users[ROBIN] = {"is_restricted": True, "is_ultra_restricted": True}
    no_guests = "plan with you as a guest of this workspace"
    robin.slash("/timebox")
    eventually(lambda: no_guests in str(robin.roots()), "a refusal")
    for number, asked in enumerate((("/tasks",), ("/timebox", "connect")), start=2):
        robin.slash(*asked)
        eventually(partial(is_told, robin, no_guests, number), "a refusal")
    two.slack.teams[TWO].users.clear()
    two.slack.tell(TWO, {"type": "user_change", "user": {"id": ROBIN, "team_id": TWO, "tz": "Asia/Tokyo"}})
    eventually(lambda: robin.slash("/timebox") and "/connect/" in str(robin.roots()), "a member may connect")
    mention = {"type": "app_mention", "user": "U0STRANGER", "user_team": "T9", "channel": "C0000GENERAL", "ts": "9.9"}
    two.slack.tell(TWO, {**mention, "text": "<@U00000BOT> plan my day"}, is_ext_shared_channel=True)
    told = "T2 chat.postEphemeral"
    eventually(
        lambda: any(said.startswith(told) and "organization that installed me" in said for said in two.slack.said),
        "the stranger is told",
    )


def is_told(person: Person, words: str, times: int) -> bool:
    return str(person.roots()).count(words) >= times
