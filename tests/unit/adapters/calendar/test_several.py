"""One calendar is written to and several are read: events of another one are neither taken for ours nor missed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

import pytest
from tests.contracts.calendar_contract import HOUR, NINE, fields, make_owned_id, marker, put
from tests.factories.budgets import Seconds, budget_of
from tests.factories.days import Time, engine_over, twelve_blocks
from tests.fakes.google_mcp import Answers, ErrorText, GoogleMcp
from tests.fakes.google_store import GoogleStore
from tests.fakes.google_tools import GoogleTools, OneCalendar
from tests.fakes.memory_journal import MemoryJournal

from fateforger.adapters.calendar.calendars import SeveralCalendars, open_mcp_calendar
from fateforger.calendar.decision import sort_sides
from fateforger.calendar.directory import CalendarEntry, choose_read, find_calendar
from fateforger.calendar.event import EventImage, OwnedId
from fateforger.calendar.group import LIST_KEPT_SECONDS
from fateforger.calendar.model import Ledger, Snapshot
from fateforger.calendar.ports import Delete, Gone, Update
from fateforger.errors import CalendarError, CalendarIncomplete, CalendarNotFound, CalendarUnreachable

FAMILY, WORK = "family123@group.calendar.google.com", "ada@work.example"
DAY = (NINE - 9 * HOUR, NINE + 15 * HOUR)


@dataclass
class Login:
    """Three calendars of one login; ``calendar`` writes to the primary one."""

    server: GoogleMcp
    calendar: SeveralCalendars
    passed: list[float] = field(default_factory=lambda: [0.0])

    def store(self, calendar_id: str) -> GoogleStore:
        return self.server.tools.calendars[calendar_id].store

    def meeting(self, calendar_id: str, event_id: str, title: str = "Standup", **more: Any) -> EventImage:
        at: dict[str, Any] = {"start": NINE, "end": NINE + HOUR} | more
        return self.store(calendar_id).user_create(title, event_id=event_id, **at)

    async def day(self) -> list[tuple[str, str | None]]:
        return [(event.summary, event.calendar) for event in await self.calendar.window(*DAY)]


@pytest.fixture
async def login() -> AsyncIterator[Login]:
    tools = GoogleTools(
        {
            "primary": OneCalendar(GoogleStore(), "Me"),
            FAMILY: OneCalendar(GoogleStore(), "Family", "writer"),
            WORK: OneCalendar(GoogleStore(), "Work", "reader", selected=False),
        }
    )
    async with GoogleMcp(tools) as server, aclosing(open_mcp_calendar(server.url, time_zone="Europe/Berlin")) as main:
        passed = [0.0]
        yield Login(server, SeveralCalendars(main, "Family, work", now=lambda: passed[0]), passed)


async def test_all_of_them_are_shown_with_their_names(login: Login) -> None:
    """S76"""
    login.meeting("primary", "mine00001", "Dentist")
    login.meeting(FAMILY, "theirs0001", "Swimming", start=NINE - HOUR, end=NINE)
    login.meeting(WORK, "theirs0002", "Review", start=NINE + HOUR, end=NINE + 2 * HOUR)
    login.meeting(WORK, "theirs0003", "Fair", start=date(2026, 3, 2), end=date(2026, 3, 3))
    assert await login.day() == [("Fair", "Work"), ("Swimming", "Family"), ("Dentist", None), ("Review", "Work")]


async def test_what_any_of_them_left_out_is_named(login: Login) -> None:
    """S76: by title, once each, and the day is read all the same."""
    login.meeting(WORK, "theirs0002", "Review")
    left = Answers(lambda answer: json.dumps({**answer, "leftOut": [{"summary": "Standup"}]}))
    for _ in range(3):
        login.server.inject(left, tool="list-events", applied=True)
    window = await login.calendar.window(*DAY)
    assert ([event.summary for event in window], window.left_out) == (["Review"], ("Standup",))


async def test_every_call_names_the_login_and_the_zone(login: Login) -> None:
    await login.day()
    asked = {a["calendarId"]: (a.get("account"), a["timeZone"]) for a in login.server.list_calls("list-events")}
    zone = "Europe/Berlin"
    assert asked == {"primary": (None, zone), FAMILY: ("normal", zone), WORK: ("normal", zone)}
    assert len(login.server.list_calls("manage-accounts")) == 1


async def test_our_own_block_on_another_calendar_is_a_meeting(login: Login) -> None:
    """S75: the person moved it there, with its id and our mark."""
    created = await put(login.calendar)
    await login.calendar.write(Delete(make_owned_id()))
    login.meeting(FAMILY, make_owned_id(), "Deep work", properties=created.properties)
    (event,) = await login.calendar.window(*DAY)
    assert (event.summary, event.calendar, event.marker, event.series_id) == ("Deep work", "Family", None, None)
    assert (OwnedId.is_one(event.id), event.organized_by_me, event.busy) == (False, False, True)
    mine, foreign = sort_sides(Snapshot(day=date(2026, 3, 2), tz="Europe/Berlin", events=(event,)), Ledger())
    assert (mine, foreign) == ((), (event,))
    assert await login.calendar.write(Update(make_owned_id(), {"summary": "Mine"}, marker("t2-0"))) == Gone()
    assert login.store(FAMILY).live(make_owned_id()).summary == "Deep work"


async def test_writes_and_questions_go_to_the_one_calendar(login: Login) -> None:
    await put(login.calendar)
    await login.calendar.write(Update(make_owned_id(), {"summary": "Other"}, marker("t2-0")))
    assert await login.calendar.get(make_owned_id()) is not None
    await login.calendar.write(Delete(make_owned_id()))
    written = [a["calendarId"] for tool, a in login.server.requests if tool not in ("list-events", "list-calendars")]
    assert set(written) == {"primary"}
    assert (login.store(FAMILY).events, login.store(WORK).events) == ({}, {})


def copy_of(event: EventImage, **more: Any) -> dict[str, Any]:
    return {"title": event.summary, "extras": {"iCalUID": f"{event.id}@google.com"}} | more


async def test_the_same_meeting_is_shown_once(login: Login) -> None:
    mine = login.meeting("primary", "mine00001")
    login.meeting(FAMILY, "copy00001", **copy_of(mine))
    login.meeting(WORK, "copy00002", **copy_of(mine))
    assert await login.day() == [("Standup", None)]


async def test_a_copy_at_another_time_is_another_meeting(login: Login) -> None:
    mine = login.meeting("primary", "mine00001")
    login.meeting(FAMILY, "copy00001", **copy_of(mine, start=NINE + HOUR, end=NINE + 2 * HOUR))
    assert await login.day() == [("Standup", None), ("Standup", "Family")]


async def test_what_takes_up_time_somewhere_takes_up_time(login: Login) -> None:
    """Declined on one calendar and accepted on another: it is planned around, once."""
    mine = login.meeting("primary", "mine00001", busy=False)
    login.meeting(FAMILY, "copy00001", **copy_of(mine))
    login.meeting(WORK, "copy00002", **copy_of(mine))
    assert [(e.calendar, e.busy) for e in await login.calendar.window(*DAY)] == [("Family", True), (None, False)]


async def test_one_that_cannot_be_read_is_no_empty_one(login: Login) -> None:
    """sync.md 4.10: never a silent half."""
    login.meeting("primary", "mine00001")
    await login.day()
    del login.server.tools.calendars[FAMILY]
    with pytest.raises(CalendarNotFound, match="I cannot read your calendar “Family”, so I do not know your whole day"):
        await login.day()


async def test_a_deleted_calendar_is_missed_once(login: Login) -> None:
    """S430: without it, no day could be planned for ten minutes."""
    login.calendar._read_along._wanted = "all"
    await login.day()
    del login.server.tools.calendars[FAMILY]
    login.meeting("primary", "mine00001")
    with pytest.raises(CalendarNotFound, match="Family"):
        await login.day()
    assert await login.day() == [("Standup", None)]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("MCP error -32600: Google API error: The operation was aborted.", CalendarUnreachable),
        ("MCP error -32600: Access denied: Rate Limit Exceeded", CalendarUnreachable),
        ("Something new", CalendarIncomplete),
    ],
)
async def test_an_error_of_any_of_them_is_one(login: Login, text: str, error: type[CalendarError]) -> None:
    await login.day()
    login.server.inject(ErrorText(text), tool="list-events")
    with pytest.raises(error):
        await login.day()


async def test_the_list_is_looked_up_again_after_a_while(login: Login) -> None:
    await login.day()
    await login.day()
    assert len(login.server.list_calls("list-calendars")) == 1
    login.passed[0] = LIST_KEPT_SECONDS + 1
    login.server.tools.calendars[FAMILY].summary = "All of us"
    with pytest.raises(CalendarNotFound, match="no calendar called “Family”"):
        await login.day()


async def test_they_share_one_budget(login: Login) -> None:
    """Three requests for the login, the list and the accounts; then one for each calendar and look."""
    async with (
        budget_of(6, Seconds()) as budget,
        aclosing(open_mcp_calendar(login.server.url, time_zone="Europe/Berlin", budget=budget)) as main,
    ):
        several = SeveralCalendars(main, "all")
        await several.window(*DAY)
        with pytest.raises(CalendarUnreachable, match="very often in the last minute"):
            await several.window(*DAY)


async def test_a_plan_is_written_beside_all_of_them(login: Login) -> None:
    """S78: a meeting of another calendar counts as a block like one of the person's own."""
    eight = NINE - HOUR
    login.meeting(FAMILY, "theirs0001", "k0", start=eight, end=eight + timedelta(minutes=15))
    result = await engine_over(login.calendar, MemoryJournal(), Time()).submit_plan(twelve_blocks(), cause="1")
    assert (result.status, result.created) == ("changed", 11)
    assert len(login.store("primary").get_live_events()) == 11
    assert list(login.store(FAMILY).get_live_events()) == ["theirs0001"]


# --- names ---


def entry(name: str, *, at: str | None = None, role: str = "owner", **more: bool) -> CalendarEntry:
    return CalendarEntry(at or f"{name.lower()}@example.com", name, None, role, **more)


ME = entry("Me", primary=True, selected=True)
ENTRIES = (
    ME,
    entry("Family", selected=True),
    entry("Holidays", role="reader"),
    entry("Boss", role="freeBusyReader", selected=True),
    entry("Twin", at="twin1@example.com"),
    entry("Twin", at="twin2@example.com"),
)


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ("", []),
        ("primary", []),
        ("me, Family", ["Family"]),
        ("holidays,FAMILY,family@example.com,", ["Family", "Holidays"]),
        ("selected", ["Family"]),
        ("All", ["Family", "Holidays", "Twin", "Twin"]),
        ("twin2@example.com", ["Twin"]),
    ],
)
def test_which_ones_are_meant(wanted: str, names: list[str]) -> None:
    assert [found.summary for found in choose_read(ENTRIES, wanted, written="primary")] == names


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("Famliy", "You have no calendar called “Famliy”. Did you mean “Family”?"),
        (
            "Choir",
            "You have no calendar called “Choir”. There are: “Me”, “Family”, “Holidays”, “Boss”, “Twin”.",
        ),
        (
            "twin",
            "You have 2 calendars called “twin”; name the one you mean by its id: twin1@example.com, twin2@example.com.",
        ),
    ],
)
def test_a_wrong_name(name: str, sentence: str) -> None:
    with pytest.raises(CalendarNotFound) as said:
        find_calendar(ENTRIES, name)
    assert said.value.message == sentence
    with pytest.raises(CalendarNotFound) as said:
        choose_read(ENTRIES, f"Family,{name}", written="primary")
    assert said.value.message == sentence


def test_too_many_to_look_at() -> None:
    many = [ME, *(entry(f"C{n}") for n in range(21))]
    with pytest.raises(CalendarNotFound, match="means 21 calendars; I can read 20 besides"):
        choose_read(many, "all", written="Me")


def test_an_event_of_another_calendar_has_nothing_of_ours() -> None:
    """S204: it keeps which calendar and which event it is, in an id that no write takes."""
    image = EventImage(
        id="x", start=NINE, end=NINE + HOUR, series_id="s", properties=marker().properties(), raw={"a": 1}
    )
    there = image.elsewhere("c@example.com", "C")
    assert (there.id, there.series_id, there.properties, there.raw) == ("c@example.com/x", "c@example.com/s", {}, {})
    assert there.fields == fields(summary="", description="", color_id=None)
