"""A day read whole, or not at all."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from tests.contracts.calendar_contract import HOUR, MINUTE, NINE
from tests.fakes.google_mcp import Answers, ErrorText, GoogleMcp
from tests.fakes.google_store import GoogleStore
from tests.fakes.google_tools import PAGE

from fateforger.adapters.calendar.calendars import McpCalendar
from fateforger.calendar.access import Limits, read_snapshot
from fateforger.calendar.model import Ledger
from fateforger.errors import CalendarIncomplete, CalendarNotFound, CalendarUnreachable

pytestmark = pytest.mark.asyncio(loop_scope="module")
DAY_START, DAY_END = NINE - 9 * HOUR, NINE + 15 * HOUR


def crowd(store: GoogleStore, size: int, apart: timedelta, length: timedelta = MINUTE) -> list[str]:
    """Add that many events and return their ids in order."""
    return [
        store.user_create(start=NINE + n * apart, end=NINE + n * apart + length, event_id=f"meeting{n:05d}").id
        for n in range(size)
    ]


async def ids(calendar: McpCalendar) -> list[str]:
    return [event.id for event in await calendar.window(DAY_START, DAY_END)]


@pytest.mark.parametrize(("size", "pages"), [(0, 1), (249, 1), (250, 3), (300, 3), (800, 9)])
async def test_a_full_page_is_halved(
    calendar: McpCalendar, server: GoogleMcp, store: GoogleStore, size: int, pages: int
) -> None:
    """P15: and read whole, or not at all."""
    expected = crowd(store, size, MINUTE)
    assert await ids(calendar) == expected
    assert len(server.list_calls("list-events")) == pages


async def test_events_across_the_middle_are_there_once(calendar: McpCalendar, store: GoogleStore) -> None:
    expected = crowd(store, 300, MINUTE, length=3 * HOUR)
    assert await ids(calendar) == expected


async def test_an_event_of_no_length_in_the_very_middle(calendar: McpCalendar, store: GoogleStore) -> None:
    noon = DAY_START + 12 * HOUR
    store.user_create(start=noon, end=noon, event_id="moment00001")
    crowd(store, 260, MINUTE)
    assert "moment00001" in await ids(calendar)


async def test_a_minute_that_is_too_full_is_given_up(calendar: McpCalendar, store: GoogleStore) -> None:
    crowd(store, PAGE, timedelta(0), length=MINUTE)
    with pytest.raises(CalendarIncomplete, match="More than 249 events lie within a minute of 2026-03-02"):
        await ids(calendar)


async def test_one_failed_page_fails_the_whole(calendar: McpCalendar, server: GoogleMcp, store: GoogleStore) -> None:
    crowd(store, 300, MINUTE)

    def then_trouble(answer: dict[str, Any]) -> str:
        server.inject(ErrorText("The operation was aborted."), tool="list-events")
        return json.dumps(answer)

    server.inject(Answers(then_trouble), tool="list-events", applied=True)
    with pytest.raises(CalendarUnreachable):
        await ids(calendar)


def with_fields(**more: Any) -> Answers:
    return Answers(lambda answer: json.dumps({**answer, **more}))


def with_event(**more: Any) -> Answers:
    return Answers(lambda answer: json.dumps({**answer, "events": [{**event, **more} for event in answer["events"]]}))


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (with_fields(partialFailures=[{"accountId": "work", "reason": "Invalid Credentials"}]), CalendarIncomplete),
        (with_fields(totalCount=7), CalendarIncomplete),
        (with_event(status="undecided"), CalendarIncomplete),
        (with_event(start={}), CalendarIncomplete),
        (with_fields(accounts=["home", "work"]), CalendarNotFound),
    ],
    ids=["partial", "miscounted", "new status", "no time", "several accounts"],
)
async def test_a_doubtful_answer_is_none(
    calendar: McpCalendar, server: GoogleMcp, store: GoogleStore, answer: Answers, error: type[Exception]
) -> None:
    """sync.md 4.10: one event that cannot be read must not make the others seem to be all."""
    crowd(store, 2, HOUR)
    server.inject(answer, tool="list-events", applied=True)
    with pytest.raises(error) as raised:
        await ids(calendar)
    assert type(raised.value) is error
    assert len(await ids(calendar)) == 2


async def test_a_cancelled_event_in_the_list_is_not_shown(
    calendar: McpCalendar, server: GoogleMcp, store: GoogleStore
) -> None:
    crowd(store, 1, HOUR)
    server.inject(with_event(status="cancelled"), tool="list-events", applied=True)
    assert await ids(calendar) == []


async def test_bounds_in_any_zone_and_with_fractions(
    calendar: McpCalendar, server: GoogleMcp, store: GoogleStore
) -> None:
    store.user_create(start=NINE, end=NINE + HOUR, event_id="dentist00001")
    end = NINE + HOUR
    fraction = timedelta(microseconds=300_000)
    assert await calendar.window(end + fraction, end + HOUR) == ()
    assert await calendar.window(NINE - HOUR, NINE) == ()
    (event,) = await calendar.window(NINE - HOUR, NINE + fraction)
    assert event.id == "dentist00001"
    assert server.list_calls("list-events")[-1]["timeMax"] == "2026-03-02T08:00:01Z"


async def test_an_empty_span_asks_nobody(calendar: McpCalendar, server: GoogleMcp) -> None:
    assert await calendar.window(NINE, NINE) == ()
    assert server.requests == []


async def test_all_day_events_stand_where_their_day_begins(calendar: McpCalendar, store: GoogleStore) -> None:
    store.user_create(start=date(2026, 3, 2), end=date(2026, 3, 3), event_id="holiday00001")
    midnight = datetime(2026, 3, 1, 23, tzinfo=UTC)
    store.user_create(start=midnight - HOUR, end=midnight + HOUR, event_id="party00001")
    store.user_create(start=midnight + MINUTE, end=midnight + HOUR, event_id="sleep00001")
    assert await ids(calendar) == ["party00001", "holiday00001", "sleep00001"]


async def test_what_the_calendar_left_out_is_named(
    calendar: McpCalendar, server: GoogleMcp, store: GoogleStore
) -> None:
    """No event stops the program: the rest of the day is there, and what is missing is named once for all pages."""
    expected = crowd(store, 300, MINUTE)
    for _ in range(3):
        server.inject(with_fields(leftOut=[{"summary": "Standup"}]), tool="list-events", applied=True)
    window = await calendar.window(DAY_START, DAY_END)
    assert ([event.id for event in window], window.left_out) == (expected, ("Standup",))
    snapshot = await read_snapshot(calendar, Ledger(), date(2026, 3, 2), "Europe/Berlin", limits=Limits())
    assert snapshot.left_out == ()
    server.inject(with_fields(leftOut=[{"summary": "Standup"}]), tool="list-events", applied=True)
    snapshot = await read_snapshot(calendar, Ledger(), date(2026, 3, 2), "Europe/Berlin", limits=Limits())
    assert snapshot.left_out == ("Standup",)
