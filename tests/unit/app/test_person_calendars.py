"""The calendar of a person in a running program."""

from __future__ import annotations

import itertools
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.fakes.google_calendar import GoogleCalendarFake
from tests.fakes.manual_clock import ManualClock

from fateforger.adapters.store.connections import SqlConnections, Vault, new_key
from fateforger.adapters.store.store import open_store
from fateforger.app import calendars as app_calendars
from fateforger.app.calendars import VANISHED, Access, OpenCalendar, PersonCalendars
from fateforger.app.logins import Organization
from fateforger.calendar.access import CommitContext
from fateforger.calendar.connections import Connection, FollowUp, Provider
from fateforger.calendar.ports import Calendar
from fateforger.calendar.submitter import CalendarSubmitter
from fateforger.errors import CalendarAuthFailed, CalendarError, CalendarNotFound, CalendarUnreachable
from fateforger.values import replace
from fateforger.workers.people import Ownership

NOW = datetime(2026, 3, 2, 7, tzinfo=UTC)
OWN = Connection("U1", Provider.CALDAV, "anna", "work", NOW, "https://dav.example.org/", secret="any")


@dataclass
class OpenedCalendars:
    """Calendars that are open, by key and user; ``owners`` are the names under which engines hold a lease."""

    now: list[str] = field(default_factory=list)
    owners: list[str] = field(default_factory=list)
    refusal: CalendarError | None = None
    refusals: float = math.inf
    """The number of times that it is refused."""

    @asynccontextmanager
    async def open(self, connection: Connection) -> AsyncIterator[Calendar]:
        if self.refusal is not None and self.refusals > 0:
            self.refusals -= 1
            raise self.refusal
        self.now.append(f"{connection.user_id} {connection.key}")
        yield GoogleCalendarFake(key=connection.key)
        self.now.remove(f"{connection.user_id} {connection.key}")


@pytest.fixture
async def program(tmp_path: Path) -> AsyncIterator[tuple[PersonCalendars, SqlConnections, OpenedCalendars]]:
    store, clock, opened, ids = open_store(tmp_path / "state.db"), ManualClock(), OpenedCalendars(), itertools.count()

    def build(calendar: Calendar, user_id: str) -> CalendarSubmitter:
        outside = CommitContext(calendar, store.journal, clock, sleep=lambda _: clock_sleep())
        opened.owners.append(user_id)
        return CalendarSubmitter(outside, owner=user_id, new_id=lambda: f"t{next(ids)}")

    async def clock_sleep() -> None:
        """Return at once: waiting takes no time."""

    calendar = GoogleCalendarFake(key="configured")
    connections = SqlConnections(store.database, Vault(new_key()))
    calendars = PersonCalendars(
        configured=OpenCalendar(build(calendar, "house"), calendar, store.journal),
        ownership=Ownership(store.owners, clock, named="U1", page=(), real_slack=True),
        connections=connections,
        openers={(Provider.CALDAV, False): opened.open, (Provider.GOOGLE, False): opened.open},
        build_engine=build,
        access=Access(connections, {}),
        organization=Organization({}, connections, clock),
        clock=clock,
        links=None,
    )
    yield calendars, connections, opened
    await calendars.aclose()
    await store.aclose()


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_calendars, "SECOND_TRY_SECONDS", 0.0)


async def look(calendars: PersonCalendars, user_id: str) -> str:
    calendar = await calendars.of(user_id)
    await calendar.read(NOW.date(), "Europe/Berlin")
    return calendar.calendar_key


async def test_the_owner_has_the_configured_calendar_until_they_connect_one_and_after_they_disconnected(
    program: tuple[PersonCalendars, SqlConnections, OpenedCalendars],
) -> None:
    """S307"""
    calendars, connections, _ = program
    assert await look(calendars, "U1") == "configured"
    await connections.keep(OWN)
    assert await look(calendars, "U1") == OWN.key
    await connections.note_problem("U1", "The password was refused.")
    assert (await calendars.of("U1")).calendar_key == OWN.key
    assert not await calendars.is_connected("U1"), "what broke is not replaced without a word"
    await connections.keep(replace(OWN, secret=""))
    assert (await look(calendars, "U1"), await calendars.is_connected("U1")) == ("configured", True)


async def test_a_calendar_that_another_one_replaces_is_closed(
    program: tuple[PersonCalendars, SqlConnections, OpenedCalendars],
) -> None:
    calendars, connections, opened = program
    await connections.keep(OWN)
    await look(calendars, "U1")
    other = replace(OWN, calendar_id="home", connected_at=NOW + timedelta(minutes=1))
    await connections.keep(other)
    await look(calendars, "U1")
    assert opened.now == [f"U1 {other.key}"]


async def test_two_people_with_one_calendar_have_a_record_and_a_lease_each(
    program: tuple[PersonCalendars, SqlConnections, OpenedCalendars],
) -> None:
    """S509"""
    calendars, connections, opened = program
    for user_id in ("U1", "U2"):
        await connections.keep(replace(OWN, user_id=user_id))
    assert [await look(calendars, user_id) for user_id in ("U1", "U2")] == [OWN.key, f"{OWN.key}@U2"]
    assert opened.owners == ["house", "U1", "U2"]


@pytest.mark.parametrize(
    ("refusal", "provider", "problem"),
    [
        (CalendarAuthFailed("The password is refused."), Provider.CALDAV, "The password is refused."),
        (CalendarNotFound("There is no such calendar."), Provider.GOOGLE, VANISHED),
        (CalendarAuthFailed("The client's secret is wrong."), Provider.GOOGLE, ""),
        (CalendarUnreachable("It is down."), Provider.CALDAV, ""),
    ],
    ids=["password", "vanished", "mistake of the operator", "down"],
)
async def test_what_only_the_person_can_mend_is_noted_to_be_told_once(
    program: tuple[PersonCalendars, SqlConnections, OpenedCalendars],
    refusal: CalendarError,
    provider: Provider,
    problem: str,
) -> None:
    """S326"""
    calendars, connections, opened = program
    await connections.keep(replace(OWN, provider=provider))
    await connections.finish("U1", FollowUp.RESUME, now=NOW)
    opened.refusal = refusal
    for _ in range(2):
        with pytest.raises(CalendarError):
            await look(calendars, "U1")
    found = await connections.of("U1")
    assert found is not None
    assert found.problem == problem
    assert await connections.list_due() == ((("U1", FollowUp.TELL),) if problem else ())


async def test_one_refusal_of_a_login_ends_no_connection(
    program: tuple[PersonCalendars, SqlConnections, OpenedCalendars],
) -> None:
    """S326: a server that is being restarted may refuse a password for a moment."""
    calendars, connections, opened = program
    await connections.keep(OWN)
    opened.refusal, opened.refusals = CalendarAuthFailed("The password is refused."), 1
    with pytest.raises(CalendarAuthFailed):
        await look(calendars, "U1")
    assert await look(calendars, "U1") == OWN.key
    found = await connections.of("U1")
    assert found is not None
    assert found.problem == ""


async def test_a_provider_whose_settings_are_gone_is_said(
    program: tuple[PersonCalendars, SqlConnections, OpenedCalendars],
) -> None:
    calendars, connections, _ = program
    await connections.keep(replace(OWN, provider=Provider.MICROSOFT))
    with pytest.raises(CalendarError, match="Calendars of Microsoft are not set up here any more"):
        await look(calendars, "U1")
