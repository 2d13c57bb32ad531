"""A server that takes ``ifMatch``: a write never overwrites a change made after our read."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest
import pytest_asyncio
from tests.contracts.calendar_contract import fields, make_owned_id, marker, put, read
from tests.fakes.google_mcp import ConcurrentChange, GoogleMcp
from tests.fakes.google_store import GoogleStore
from tests.fakes.google_tools import GoogleTools, OneCalendar

from fateforger.adapters.calendar.calendars import McpCalendar, open_mcp_calendar
from fateforger.calendar.ports import CalendarTraits, Delete, Done, Gone, Rejected, Stale, Update

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def opened() -> AsyncIterator[tuple[GoogleMcp, McpCalendar]]:
    async with (
        GoogleMcp(GoogleTools(conditional=True)) as server,
        aclosing(open_mcp_calendar(server.url, time_zone="Europe/Berlin")) as calendar,
    ):
        yield server, calendar


@pytest.fixture
def server(opened: tuple[GoogleMcp, McpCalendar]) -> GoogleMcp:
    server, _ = opened
    server.calm()
    server.tools.calendars = {"primary": OneCalendar(GoogleStore())}
    return server


@pytest.fixture
def store(server: GoogleMcp) -> GoogleStore:
    return server.tools.calendars["primary"].store


@pytest.fixture
def calendar(opened: tuple[GoogleMcp, McpCalendar], server: GoogleMcp) -> McpCalendar:
    return opened[1]


async def test_the_trait_is_known_once_connected(server: GoogleMcp) -> None:
    async with aclosing(open_mcp_calendar(server.url, time_zone="UTC")) as calendar:
        assert calendar.traits == CalendarTraits(conditional_write=False, compares_on_delete=True)
        await calendar.get(make_owned_id())
        assert calendar.traits == CalendarTraits(conditional_write=True, compares_on_delete=True, reuses_ids=True)


async def test_an_edit_between_the_look_and_the_write_is_seen(
    calendar: McpCalendar, server: GoogleMcp, store: GoogleStore
) -> None:
    """P12: without an expectation the write is made on top of what is there now."""
    await put(calendar)
    server.inject(ConcurrentChange(lambda: store.user_edit(make_owned_id(), summary="Mine now")), tool="update-event")
    assert isinstance(await calendar.write(Update(make_owned_id(), {"color_id": "4"}, marker("t2-0"))), Done)
    assert (await read(calendar)).fields == fields(summary="Mine now", color_id="4")
    assert len(server.list_calls("update-event")) == 2


@pytest.mark.parametrize("tool", ["update-event", "delete-event"])
async def test_an_edit_right_before_an_expecting_write_makes_it_stale(
    calendar: McpCalendar, server: GoogleMcp, store: GoogleStore, tool: str
) -> None:
    """P12"""
    seen = await put(calendar)
    server.inject(ConcurrentChange(lambda: store.user_edit(make_owned_id(), summary="Mine now")), tool=tool)
    if tool == "update-event":
        assert (
            await calendar.write(Update(make_owned_id(), {"summary": "Ours"}, marker("t2-0"), expect=seen.version))
            == Stale()
        )
    else:
        assert await calendar.write(Delete(make_owned_id(), expect=seen.version)) == Stale()
    after = await read(calendar)
    assert (after.gone, after.summary, after.marker) == (False, "Mine now", marker())


async def test_what_stops_being_ours_between_look_and_write_is_left_alone(
    calendar: McpCalendar, server: GoogleMcp, store: GoogleStore
) -> None:
    """S75"""
    await put(calendar)
    server.inject(ConcurrentChange(lambda: store.user_edit(make_owned_id(), properties={})), tool="delete-event")
    assert isinstance(await calendar.write(Delete(make_owned_id())), Rejected)
    assert not (await read(calendar)).gone


async def test_a_deletion_between_look_and_write(calendar: McpCalendar, server: GoogleMcp, store: GoogleStore) -> None:
    await put(calendar)
    server.inject(ConcurrentChange(lambda: store.user_delete(make_owned_id())), tool="delete-event")
    assert await calendar.write(Delete(make_owned_id())) == Gone()


async def test_an_event_that_changes_all_the_time_is_stale_in_the_end(
    calendar: McpCalendar, server: GoogleMcp, store: GoogleStore
) -> None:
    await put(calendar)
    server.inject(
        ConcurrentChange(lambda: store.user_edit(make_owned_id(), summary="Mine now")), tool="update-event", times=9
    )
    assert await calendar.write(Update(make_owned_id(), {"color_id": "4"}, marker("t2-0"))) == Stale()
    assert (await read(calendar)).color_id == "9"
