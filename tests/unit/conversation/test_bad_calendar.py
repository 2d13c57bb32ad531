"""A calendar server at its worst, seen from the thread: one clear message, a way on, nothing guessed, nothing twice.

Everything is real but Google: the coordinator, the engine, the MCP client, and HTTP to the stand-in server.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from tests.fakes.google_calendar import GoogleCalendarFake
from tests.fakes.google_mcp import ConcurrentChange, ErrorText, Google, GoogleMcp, NoAnswer
from tests.fakes.google_store import GoogleStore
from tests.fakes.google_tools import OneCalendar
from tests.unit.conversation.person import AMSTERDAM, Harness, Person, meeting, open_harness_at
from tests.unit.conversation.test_watching import WatcherHarness

from fateforger.adapters.calendar.calendars import McpCalendar, open_mcp_calendar
from fateforger.calendar.execution import UNCHECKED_TOO
from fateforger.calendar.ports import Calendar
from fateforger.conversation.calendar_watch import ASK_AGAIN
from fateforger.conversation.write_results import FOUND_OUT, LOOKING

pytestmark = pytest.mark.asyncio(loop_scope="module")

DAY = {"Report": "09:00-10:00", "Mail": "10:10-11:10", "Lunch": "12:30-13:15", "Shut down": "17:30-18:00"}
NOTHING = "Monday 2 March is not on your calendar yet."
PART = "Only part of Monday 2 March is on your calendar."
WHOLE = "Monday 2 March is on your calendar."
SAFE = "⚠️ None of it has been written, and your plan is safe here."
GO_ON = "Nothing is lost; try again and I go on where I stopped."
NO_LOGIN = "The login to your calendar does not work ({reason}). Please check it at the calendar server, or log in there again."
NOT_THERE = (
    "The calendar server does not find your calendar (Not Found). Please check that it still exists and that your login"
    " may use it."
)
EXPIRED = ErrorText("MCP error -32600: Google API error: invalid_grant: Token has been expired or revoked.")
ALWAYS = 10_000


@dataclass
class GoogleHarness(Harness):
    """A program whose calendar is behind a server. Its clock moves when the engine waits."""

    real: McpCalendar | None = None

    @property
    def port(self) -> Calendar:
        return self.real or self.calendar

    async def sleep(self, seconds: float) -> None:
        self.clock.at += timedelta(seconds=seconds)


@dataclass
class CommitHarness:
    """The server, its one calendar, and a person who is about to commit."""

    server: GoogleMcp
    harness: GoogleHarness
    anna: Person

    @property
    def events(self) -> dict[str, str]:
        return self.harness.on_calendar(whole=True)

    @property
    def created(self) -> list[str]:
        """Titles of all events ever made, so that a second one of a name shows."""
        return sorted(event.summary for event in self.harness.calendar.store.events.values())

    def one_calendar(self) -> OneCalendar:
        return self.server.tools.calendars["primary"]

    def storm(self, fault: Google | ErrorText | NoAnswer, *, tool: str | None = None) -> None:
        self.server.inject(fault, tool=tool, times=ALWAYS)

    def after_one_create(self, happen: ConcurrentChange) -> None:
        """Let something happen once the first event is there."""
        self.server.inject(happen, tool="create-event", applied=True)

    async def commit(self) -> str:
        await self.anna.press("Commit to calendar")
        return self.anna.words

    async def try_again(self) -> str:
        await self.anna.press("Try again")
        return self.anna.words

    async def ends_well(self) -> None:
        """Check that the day is there once, and can be undone whole."""
        assert self.anna.card.text == WHOLE, self.anna.words
        assert (self.events, self.created) == (DAY, sorted(DAY))
        await self.anna.press("Undo")
        assert self.events == {}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running() -> AsyncIterator[GoogleMcp]:
    async with GoogleMcp() as server:
        yield server


@pytest.fixture
def patience() -> float:
    """Return the seconds that a call may take."""
    return 10.0


hasty = pytest.mark.parametrize("patience", [1.2])
"""For a server that hangs."""


@pytest_asyncio.fixture(loop_scope="module")
async def scene(running: GoogleMcp, tmp_path: Path, patience: float) -> AsyncIterator[CommitHarness]:
    running.calm()
    store = GoogleStore(time_zone=AMSTERDAM)
    running.tools.calendars = {"primary": OneCalendar(store)}
    opened = await open_harness_at(tmp_path, calendar_write="commit")
    async with aclosing(
        open_mcp_calendar(
            running.url, time_zone=AMSTERDAM, key="google", call_seconds=patience, write_seconds=2 * patience
        )
    ) as calendar:
        harness = GoogleHarness(opened.store, GoogleCalendarFake(store), opened.clock, "commit", real=calendar)
        yield CommitHarness(running, harness, Person(harness))
        await harness.close()


@pytest_asyncio.fixture(loop_scope="module")
async def ready(scene: CommitHarness) -> CommitHarness:
    await scene.anna.to_refine("Report", "Mail")
    return scene


# --- another zone ---


async def test_a_plan_in_another_zone_than_the_calendars(scene: CommitHarness) -> None:
    """S231: the instants are right in any zone of the calendar; a second commit has nothing to do, and Undo works."""
    scene.one_calendar().store.time_zone = "America/New_York"
    meeting(scene.harness, "Standup", "09:30", "10:00")
    await scene.anna.to_committed("Report", "Mail")
    day = {"Report": "10:00-11:00", "Mail": "11:10-12:10", "Lunch": "12:30-13:15", "Shut down": "17:30-18:00"}
    assert (scene.anna.card.text, scene.events) == (WHOLE, day | {"Standup": "09:30-10:00"})
    await scene.anna.press("Redo step")
    assert "Already up to date" in scene.anna.words
    await scene.anna.press("Undo")
    assert scene.events == {"Standup": "09:30-10:00"}


# --- a calendar that may not be written, or is gone ---


async def test_a_read_only_calendar(ready: CommitHarness) -> None:
    """One sentence for all blocks; with leave to write, Try again does it."""
    ready.one_calendar().access_role = "reader"
    said = await ready.commit()
    assert (ready.anna.card.text, ready.events) == (NOTHING, {})
    assert SAFE in said
    assert (
        "- “Report”, “Mail”, “Lunch” and 1 more: I may read this calendar but not write to it (You need to have writer access"
        " to this calendar). Please ask for the right to make changes to it, or name another one in"
        " FATEFORGER\\_CALENDAR\\_ID."
    ) in said
    assert said.count("writer access") == 1
    ready.one_calendar().access_role = "owner"
    await ready.try_again()
    await ready.ends_well()


async def test_a_calendar_that_has_become_read_only_when_it_is_taken_back(ready: CommitHarness) -> None:
    """S516: the card says what is wrong and what to do, and the same button does it then."""
    await ready.commit()
    ready.one_calendar().access_role = "reader"
    await ready.anna.press("Undo")
    assert (
        "⚠️ I could not take all of it back.\n“Report”, “Mail”, “Lunch” and 1 more: This calendar no longer lets me change"
        " what I wrote (You need to have writer access to this calendar). Please give me the right to make changes to it"
        " again, or connect it again.\nOnce that is put right, press the same button again.\n"
    ) in ready.anna.words
    assert "in a moment" not in ready.anna.words
    ready.one_calendar().access_role = "owner"
    await ready.anna.press("Take all of it off the calendar")
    assert ready.events == {}


async def test_a_calendar_that_vanished_before_the_commit(ready: CommitHarness) -> None:
    gone = ready.server.tools.calendars.pop("primary")
    said = await ready.commit()
    assert (ready.anna.card.text, ready.events) == (NOTHING, {})
    assert f"{SAFE}\n- {NOT_THERE}\n" in f"{said}\n"
    ready.server.tools.calendars["primary"] = gone
    await ready.try_again()
    await ready.ends_well()


async def test_a_calendar_that_vanishes_in_the_middle_of_a_commit(ready: CommitHarness) -> None:
    """The message names the written blocks and the others; Undo is offered, but fails while the calendar is away."""
    gone = ready.one_calendar()
    ready.after_one_create(ConcurrentChange(ready.server.tools.calendars.clear))
    said = await ready.commit()
    assert (ready.anna.card.text, len(ready.created)) == (PART, 1)
    assert "On your calendar now: “" in said
    assert "Not there yet: “" in said
    assert f"- “Mail”, “Lunch” and “Shut down”: {NOT_THERE}\n- {UNCHECKED_TOO}\n" in said
    assert said.count(NOT_THERE) == 1
    await ready.anna.press("Undo")
    assert f"⚠️ I could not take it back: {NOT_THERE}\nNothing has changed." in ready.anna.words
    ready.server.tools.calendars["primary"] = gone
    await ready.try_again()
    await ready.ends_well()


# --- an expired login ---


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Google(401, "Invalid Credentials"), "Invalid Credentials"),
        (EXPIRED, "invalid\\_grant: Token has been expired or revoked"),
        (ErrorText("MCP error -32600: Authentication token is invalid or expired. Please re-run the authentication process."),
         "Authentication token is invalid or expired"),
    ],
)  # fmt: skip
async def test_an_expired_login_before_the_commit(ready: CommitHarness, fault: Google | ErrorText, words: str) -> None:
    ready.storm(fault)
    for said in (await ready.commit(), await ready.try_again()):
        assert (ready.anna.card.text, ready.events) == (NOTHING, {})
        assert f"{SAFE}\n- {NO_LOGIN.format(reason=words)}\n" in f"{said}\n"
    ready.server.calm()
    await ready.try_again()
    await ready.ends_well()


async def test_a_login_that_expires_in_the_middle_of_a_commit(ready: CommitHarness) -> None:
    """Paused: Try again says it once more while the login is dead, and goes on after it."""
    ready.after_one_create(ConcurrentChange(lambda: ready.storm(EXPIRED)))
    said = await ready.commit()
    assert (ready.anna.card.text, len(ready.created)) == (PART, 1)
    dead = NO_LOGIN.format(reason="invalid\\_grant: Token has been expired or revoked")
    assert f"still waiting: {dead} {GO_ON}" in said
    await ready.try_again()
    assert len(ready.created) == 1
    assert ready.anna.card.text == "Monday 2 March was not committed."
    ready.server.calm()
    await ready.try_again()
    await ready.ends_well()


# --- too many requests ---


@pytest.mark.parametrize("fault", [Google(403, "Rate Limit Exceeded"), Google(429, "User Rate Limit Exceeded")])
async def test_a_short_storm_is_ridden_out(ready: CommitHarness, fault: Google) -> None:
    ready.server.inject(fault, tool="create-event", times=6)
    began = ready.harness.clock.at
    await ready.commit()
    assert timedelta(0) < ready.harness.clock.at - began < timedelta(seconds=90)
    await ready.ends_well()


@pytest.mark.parametrize("fault", [Google(403, "Rate Limit Exceeded"), Google(429, "User Rate Limit Exceeded")])
async def test_a_long_storm_pauses_and_try_again_goes_on(ready: CommitHarness, fault: Google) -> None:
    """P18: bounded in time and in requests."""
    ready.storm(fault, tool="create-event")
    began = ready.harness.clock.at
    said = await ready.commit()
    assert ready.harness.clock.at - began < timedelta(seconds=100)
    assert len(ready.server.list_calls("create-event")) < 100
    assert (ready.anna.card.text, ready.events) == (NOTHING, {})
    assert (
        f"{SAFE}\n- 4 changes are still waiting: Your calendar takes no more requests for the moment. {GO_ON}\n"
        in f"{said}\n"
    )
    ready.server.calm()
    await ready.try_again()
    await ready.ends_well()


async def test_a_storm_that_meets_the_reading(ready: CommitHarness) -> None:
    ready.storm(Google(403, "Rate Limit Exceeded"))
    said = await ready.commit()
    assert (ready.anna.card.text, ready.events) == (NOTHING, {})
    assert f"{SAFE}\n- Your calendar takes no more requests for the moment (Rate Limit Exceeded).\n" in f"{said}\n"
    ready.server.calm()
    await ready.try_again()
    await ready.ends_well()


# --- a server that hangs ---


@hasty
async def test_a_server_that_hangs_before_the_commit(ready: CommitHarness) -> None:
    ready.storm(NoAnswer())
    async with asyncio.timeout(60):
        said = await ready.commit()
    assert (ready.anna.card.text, ready.events) == (NOTHING, {})
    assert f"{SAFE}\n- I cannot reach the calendar server at {ready.server.url}: it gave no answer in time.\n" in said
    ready.server.calm()
    await ready.try_again()
    await ready.ends_well()


@hasty
async def test_a_server_that_hangs_in_the_middle_of_a_commit(ready: CommitHarness) -> None:
    """Two calls have no answer, and one of them arrived: the message says so, and its event is not made twice."""
    ready.server.inject(NoAnswer(), tool="create-event", applied=True)
    ready.server.inject(ConcurrentChange(lambda: ready.storm(NoAnswer())), tool="create-event", applied=True)
    async with asyncio.timeout(60):
        said = await ready.commit()
    assert ready.anna.card.text == "I do not know yet how much of Monday 2 March is on your calendar."
    assert ready.anna.root == "Monday 2 March: not finished, see below"
    assert "I do not know yet whether this arrived: “" in said
    assert "Not there yet" not in said
    assert "as far as I know" in said
    there = len(ready.created)
    assert there >= 2
    ready.server.calm()
    await ready.try_again()
    await ready.ends_well()


@hasty
async def test_a_restart_after_a_hang_makes_nothing_twice(ready: CommitHarness) -> None:
    """S241, P3"""
    ready.server.inject(NoAnswer(), tool="create-event", applied=True)
    ready.server.inject(ConcurrentChange(lambda: ready.storm(NoAnswer())), tool="create-event", applied=True)
    await ready.commit()
    ready.server.calm()
    ready.harness.restart()
    await ready.harness.submitter.recover()
    assert (ready.events, ready.created) == (DAY, sorted(DAY))
    await ready.try_again()
    await ready.ends_well()


@hasty
async def test_a_commit_of_which_nothing_is_known_is_found_out_by_itself(ready: CommitHarness) -> None:
    """Without an answer to any call, the card says so; once there is one, it names the events and offers Undo.

    No click is needed; nothing is written meanwhile.
    """
    watch = WatcherHarness(ready.harness, ready.anna)
    ready.server.inject(NoAnswer(), tool="create-event", applied=True, times=4)
    ready.server.inject(NoAnswer(), tool="get-event", times=ALWAYS)
    async with asyncio.timeout(60):
        said = await ready.commit()
    assert "I do not know yet whether this arrived: “Report” 09:00–10:00, “Mail” 10:10–11:10" in said
    assert LOOKING in said
    assert "Undo" not in ready.anna.labels()
    assert await watch.after() == 0
    ready.server.calm()
    calls = len(ready.server.list_calls("create-event"))
    await watch.after(ASK_AGAIN.total_seconds())
    assert ready.anna.card.text == WHOLE
    assert ready.anna.root == "Monday 2 March: on your calendar, 4 blocks"
    assert ready.anna.words.startswith(f"{WHOLE[:-1]}\n{FOUND_OUT}\n**4 created**")
    assert len(ready.server.list_calls("create-event")) == calls
    await ready.ends_well()
