"""Two people in one program: each sees, writes and undoes only what is on their own calendar."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import pytest
from tests.factories.constraints import version_of
from tests.factories.tasks import new_task
from tests.fakes.google_calendar import GoogleCalendarFake
from tests.fakes.google_store import GoogleStore
from tests.unit.conversation.person import Harness, Person, meeting

from fateforger.calendar.access import CommitContext
from fateforger.calendar.connections import NOT_CONNECTED, ConnectionView, MissingCalendar
from fateforger.calendar.ports import Calendar
from fateforger.calendar.submitter import CalendarSubmitter
from fateforger.conversation.ports import WatchedCalendar

BEN = "U_BEN"


@dataclass
class TwoCalendars:
    """Implements ``Calendars``: each person has a calendar of their own, or a missing one."""

    harness: Harness
    calendars: dict[str, Calendar]
    opened: dict[str, CalendarSubmitter] = field(default_factory=dict)

    async def of(self, user_id: str) -> CalendarSubmitter:
        if user_id not in self.opened:
            calendar = self.calendars.get(user_id) or MissingCalendar(f"none:{user_id}")
            harness, ids = self.harness, itertools.count()
            outside = CommitContext(
                calendar, harness.store.journal, harness.clock, sleep=harness.sleep, jitter=lambda: 0.5
            )
            engine = CalendarSubmitter(outside, owner=user_id, new_id=lambda: f"{user_id}-{next(ids)}")
            self.opened[user_id] = engine
        return self.opened[user_id]

    async def is_connected(self, user_id: str) -> bool:
        return user_id in self.calendars

    async def describe(self, user_id: str, address: str = "") -> ConnectionView:
        del user_id, address
        return ConnectionView()

    async def join(self, user_id: str, address: str) -> str:
        del user_id, address
        raise NotImplementedError

    async def disconnect(self, user_id: str) -> str:
        del user_id
        raise NotImplementedError

    async def get_watched(self, user_id: str) -> WatchedCalendar:
        return await self.of(user_id)


@pytest.fixture
def other() -> GoogleCalendarFake:
    return GoogleCalendarFake(GoogleStore(), key="fake/ben")


@pytest.fixture
def ben(harness: Harness, anna: Person, other: GoogleCalendarFake) -> Person:
    """Return Ben, who plans the same day in the same zone as Anna, on a calendar of his own."""
    calendars = TwoCalendars(harness, {anna.user: harness.port, BEN: other})
    harness.coordinator = harness.build_coordinator(submitter=harness.submitter, calendars=calendars)
    return Person(harness, user=BEN)


def titles(calendar: GoogleCalendarFake) -> set[str]:
    return {event.summary for event in calendar.store.get_live_events().values()}


async def test_each_sees_only_their_own_meetings(harness: Harness, anna: Person, ben: Person) -> None:
    meeting(harness, "Therapy", "09:30", "10:00")
    await anna.to_frame()
    await ben.to_frame()
    assert "Therapy" in anna.words
    assert "Therapy" not in ben.words


async def test_each_writes_and_undoes_only_their_own(
    harness: Harness, anna: Person, ben: Person, other: GoogleCalendarFake
) -> None:
    await anna.to_refine("Report")
    await anna.press("Commit to calendar")
    await ben.to_refine("Mail")
    await ben.press("Commit to calendar")
    assert ("Report" in titles(harness.calendar), "Mail" in titles(harness.calendar)) == (True, False)
    assert ("Report" in titles(other), "Mail" in titles(other)) == (False, True)
    before = harness.calendar.store.get_live_events()
    await ben.press("Undo")
    assert titles(other) == set()
    assert harness.calendar.store.get_live_events() == before


async def test_nobody_without_a_calendar_reaches_another_one(harness: Harness, anna: Person) -> None:
    meeting(harness, "Therapy", "09:30", "10:00")
    calendars = TwoCalendars(harness, {anna.user: harness.port})
    harness.coordinator = harness.build_coordinator(submitter=harness.submitter, calendars=calendars)
    ben = Person(harness, user=BEN)
    await ben.to_frame()
    assert "Therapy" not in ben.words
    assert NOT_CONNECTED in ben.words


async def test_each_reads_only_their_own_rules_and_tasks(harness: Harness, anna: Person, ben: Person) -> None:
    """S324: also what is kept in memory between two turns, and what App Home says about the last click."""
    for who, word in ((anna.user, "quokka"), (BEN, "wombat")):
        said = version_of(f"c-{word}", user=who, name=f"No {word}", description=f"No {word} after six.")
        await harness.store.constraints.write([said], cause=word)
        await harness.store.tasks.add(who, [new_task(f"Feed the {word}")], cause=word, now=harness.clock.now())
    for _ in range(2):
        await anna.to_frame()
        await ben.to_frame()
        shown = {
            each.user: f"{each.words} {await each.look('rules')!r} {await harness.coordinator.home(each.user)!r}"
            for each in (anna, ben)
        }
        assert [("quokka" in text, "wombat" in text) for text in shown.values()] == [(True, False), (False, True)]
