"""Repeating events: occurrences, changes of one or all or the rest of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from tests.caldav_mcp.clients import OtherProgram, ToolClient

from caldav_mcp.expansion import Expander, Expansion
from caldav_mcp.objects import Resource

FIRST, SECOND, THIRD = (f"standup0001_2027050{day}T080000Z" for day in (4, 5, 6))
MOVED = {"start": "2027-05-05T12:00:00", "end": "2027-05-05T13:00:00"}


async def series(tools: ToolClient, **given: Any) -> dict[str, Any]:
    rule = ["RRULE:FREQ=DAILY;COUNT=4"]
    return await tools.create("standup0001", summary="Stand-up", **{"recurrence": rule, **given})


async def all_of(tools: ToolClient) -> list[tuple[str, str]]:
    answer = await tools.ok("list-events", calendarId="primary")
    return [(event["summary"], event["start"].get("dateTime", "")[:16]) for event in answer["events"]]


async def test_one_occurrence_is_changed(tools: ToolClient) -> None:
    await series(tools, description="Daily")
    changed = await tools.update(SECOND, summary="Stand-up with Ada", **MOVED)
    assert (changed["id"], changed["recurringEventId"], changed["summary"]) == (
        SECOND,
        "standup0001",
        "Stand-up with Ada",
    )
    assert changed["start"]["dateTime"] == "2027-05-05T12:00:00+02:00"
    assert changed["originalStartTime"]["dateTime"] == "2027-05-05T10:00:00+02:00"
    assert changed["description"] == "Daily"
    assert await tools.get(SECOND) == changed
    assert await all_of(tools) == [
        ("Stand-up", "2027-05-04T10:00"),
        ("Stand-up with Ada", "2027-05-05T12:00"),
        ("Stand-up", "2027-05-06T10:00"),
        ("Stand-up", "2027-05-07T10:00"),
    ]
    again = await tools.update(SECOND, description="Changed twice")
    assert (again["summary"], again["description"]) == ("Stand-up with Ada", "Changed twice")


async def test_one_occurrence_by_its_original_start(tools: ToolClient) -> None:
    await series(tools)
    scope = {"modificationScope": "thisEventOnly", "originalStartTime": "2027-05-05T10:00:00+02:00"}
    assert (await tools.update("standup0001", **scope, summary="Other"))["id"] == SECOND
    wrong = scope | {"originalStartTime": "2027-05-05T10:00:01+02:00"}
    refusal = await tools.expect_refusal(
        "update-event", calendarId="primary", eventId="standup0001", **wrong, summary="x"
    )
    assert refusal == "Not Found"


async def test_a_scope_needs_a_series(tools: ToolClient) -> None:
    await tools.create()
    scope = {"modificationScope": "thisEventOnly", "originalStartTime": "2027-05-04T10:00:00"}
    refusal = await tools.expect_refusal("update-event", calendarId="primary", eventId="planfocus00001", **scope)
    assert refusal == 'Scope other than "all" only applies to recurring events'


async def test_one_occurrence_is_deleted(tools: ToolClient) -> None:
    await series(tools)
    await tools.update(SECOND, summary="Other")
    for occurrence in (SECOND, THIRD):
        assert (await tools.delete(occurrence))["eventId"] == occurrence
        assert (await tools.get(occurrence))["status"] == "cancelled"
        refusal = await tools.expect_refusal("delete-event", calendarId="primary", eventId=occurrence)
        assert refusal.endswith("Details: Resource has been deleted")
    assert await all_of(tools) == [("Stand-up", "2027-05-04T10:00"), ("Stand-up", "2027-05-07T10:00")]


async def test_an_occurrence_that_never_was(tools: ToolClient) -> None:
    await series(tools)
    for stamp in ("20270508T080000Z", "20270505T080001Z", "20270505", "20271305T080000Z"):
        wrong = f"standup0001_{stamp}"
        assert "not found" in await tools.expect_refusal("get-event", calendarId="primary", eventId=wrong)
        refusal = await tools.expect_refusal("delete-event", calendarId="primary", eventId=wrong)
        assert refusal == "MCP error -32600: Resource not found: Not Found"


async def test_the_whole_series_is_changed(tools: ToolClient) -> None:
    await series(tools)
    await tools.update(SECOND, summary="Other")
    await tools.update("standup0001", description="Daily")
    assert await all_of(tools) == [
        ("Stand-up", "2027-05-04T10:00"),
        ("Other", "2027-05-05T10:00"),
        ("Stand-up", "2027-05-06T10:00"),
        ("Stand-up", "2027-05-07T10:00"),
    ]
    await tools.update("standup0001", start="2027-05-04T09:00:00", end="2027-05-04T09:15:00")
    assert await all_of(tools) == [("Stand-up", f"2027-05-0{day}T09:00") for day in (4, 5, 6, 7)]
    await tools.update("standup0001", recurrence=["RRULE:FREQ=DAILY;COUNT=2"])
    assert await all_of(tools) == [("Stand-up", f"2027-05-0{day}T09:00") for day in (4, 5)]


async def test_the_whole_series_is_deleted(tools: ToolClient) -> None:
    await series(tools)
    await tools.delete("standup0001")
    assert await all_of(tools) == []
    assert (await tools.get("standup0001"))["status"] == "cancelled"


async def test_the_rest_of_a_series_goes_on_differently(tools: ToolClient) -> None:
    await series(tools, description="Daily", extendedProperties={"private": {"a": "1"}})
    scope = {"modificationScope": "thisAndFollowing", "futureStartDate": "2027-05-06T10:00:00"}
    rest = await tools.update(
        "standup0001", **scope, summary="Late stand-up", start="2027-05-06T11:00:00", end="2027-05-06T11:15:00"
    )
    assert rest["id"] != "standup0001"
    assert (rest["summary"], rest["description"]) == ("Late stand-up", "Daily")
    assert rest["extendedProperties"] == {"private": {"a": "1"}}
    assert await all_of(tools) == [
        ("Stand-up", "2027-05-04T10:00"),
        ("Stand-up", "2027-05-05T10:00"),
        *[("Late stand-up", f"2027-05-{day:02}T11:00") for day in (6, 7, 8, 9)],
    ]


async def test_what_cannot_go_on_differently(tools: ToolClient) -> None:
    await series(tools, start="2026-11-20T10:00:00", end="2026-11-20T11:00:00")
    named = {"calendarId": "primary", "eventId": "standup0001", "modificationScope": "thisAndFollowing"}
    refusal = await tools.expect_refusal("update-event", **named, futureStartDate="2026-11-21T01:00:00")
    assert refusal.endswith("futureStartDate must be in the future at futureStartDate")
    await tools.update("standup0001", recurrence=["RDATE;TZID=Europe/Berlin:20270506T100000"])
    refusal = await tools.expect_refusal("update-event", **named, futureStartDate="2027-05-06T10:00:00")
    assert refusal == "Event does not have recurrence rules"


async def test_a_series_goes_by_the_clock_on_the_wall(tools: ToolClient) -> None:
    """S231"""
    await series(tools, start="2027-03-27T10:00:00", end="2027-03-27T11:00:00", recurrence=["RRULE:FREQ=DAILY;COUNT=2"])
    answer = await tools.ok("list-events", calendarId="primary")
    assert [(e["id"], e["start"]["dateTime"]) for e in answer["events"]] == [
        ("standup0001_20270327T090000Z", "2027-03-27T10:00:00+01:00"),
        ("standup0001_20270328T080000Z", "2027-03-28T10:00:00+02:00"),
    ]


async def test_a_series_of_days(tools: ToolClient) -> None:
    await series(tools, start="2027-05-04", end="2027-05-05", recurrence=["RRULE:FREQ=WEEKLY;COUNT=2"])
    (second,) = await tools.day("2027-05-11")
    assert (second["id"], second["start"]) == ("standup0001_20270511", {"date": "2027-05-11"})
    assert second["originalStartTime"] == {"date": "2027-05-11"}
    changed = await tools.update(second["id"], summary="Other")
    assert (await tools.get(second["id"])) == changed
    await tools.delete("standup0001_20270504")
    assert await tools.titles("2027-05-04") == []
    assert await tools.titles("2027-05-11") == ["Other"]


async def test_a_series_of_nights(tools: ToolClient) -> None:
    """S230"""
    await series(tools, start="2027-05-04T23:00:00", end="2027-05-05T07:00:00")
    nights = await tools.day("2027-05-06")
    assert [event["start"]["dateTime"] for event in nights] == [
        "2027-05-05T23:00:00+02:00",
        "2027-05-06T23:00:00+02:00",
    ]


OTHERS = (
    "BEGIN:VEVENT", "DTSTAMP:20260101T000000Z", "UID:Weekly-1", "SUMMARY:Choir",
    "DTSTART;TZID=Europe/Berlin:20270504T190000", "DURATION:PT2H", "RRULE:FREQ=WEEKLY;UNTIL=20270601T170000Z",
    "EXDATE;TZID=Europe/Berlin:20270518T190000", "RDATE;TZID=Europe/Berlin:20270513T190000", "END:VEVENT",
    "BEGIN:VEVENT", "DTSTAMP:20260101T000000Z", "UID:Weekly-1", "RECURRENCE-ID;TZID=Europe/Berlin:20270511T190000",
    "SUMMARY:Choir at Ada's", "DTSTART;TZID=Europe/Berlin:20270512T190000", "DURATION:PT1H", "END:VEVENT",
    "BEGIN:VEVENT", "DTSTAMP:20260101T000000Z", "UID:Weekly-1", "RECURRENCE-ID:20270525T170000Z",
    "STATUS:CANCELLED", "DTSTART;TZID=Europe/Berlin:20270525T190000", "DURATION:PT2H", "END:VEVENT",
)  # fmt: skip


async def test_a_series_of_another_program(tools: ToolClient, other: OtherProgram) -> None:
    await other.put("choir", *OTHERS)
    assert await all_of(tools) == [
        ("Choir", "2027-05-04T19:00"),
        ("Choir at Ada's", "2027-05-12T19:00"),
        ("Choir", "2027-05-13T19:00"),
        ("Choir", "2027-06-01T19:00"),
    ]
    (moved,) = await tools.day("2027-05-12")
    assert moved["id"].endswith("_20270511T170000Z")
    assert await tools.get(moved["id"]) == moved
    assert await tools.titles("2027-05-11") == []


async def test_another_programs_occurrences_can_be_changed_and_deleted(tools: ToolClient, other: OtherProgram) -> None:
    await other.put("choir", *OTHERS)
    ids = {
        e["start"]["dateTime"][:10]: e["id"] for e in (await tools.ok("list-events", calendarId="primary"))["events"]
    }
    await tools.update(ids["2027-05-12"], summary="Choir here")
    await tools.update(ids["2027-05-13"], summary="Extra choir")
    await tools.delete(ids["2027-06-01"])
    assert await all_of(tools) == [
        ("Choir", "2027-05-04T19:00"),
        ("Choir here", "2027-05-12T19:00"),
        ("Extra choir", "2027-05-13T19:00"),
    ]
    await tools.update(ids["2027-05-04"].partition("_")[0], location="Church")
    assert (await tools.day("2027-05-04"))[0]["location"] == "Church"


async def test_a_lone_occurrence_of_somebodys_series(tools: ToolClient, other: OtherProgram) -> None:
    await other.put(
        "x",
        "UID:theirs1",
        "RECURRENCE-ID:20270504T080000Z",
        "SUMMARY:Guest",
        "DTSTART:20270504T090000Z",
        "DURATION:PT1H",
    )
    (event,) = await tools.day()
    assert (event["id"], event["recurringEventId"]) == ("theirs1_20270504T080000Z", "theirs1")
    assert await tools.get(event["id"]) == event


@pytest.mark.parametrize(
    ("rule", "count"),
    [("FREQ=MINUTELY", 0), ("FREQ=HOURLY", 72), ("FREQ=MINUTELY;INTERVAL=30", 143), ("FREQ=DAILY;BYHOUR=8,20", 6)],
)
async def test_a_series_that_repeats_all_the_time(
    tools: ToolClient, other: OtherProgram, rule: str, count: int
) -> None:
    """No event stops the program: what fills a day is left out, and named."""
    rule = f"RRULE:{rule};UNTIL=20270504T070000Z"
    await other.put("x", "UID:dense1", "SUMMARY:Beep", "DTSTART:20270501T080000Z", "DURATION:PT1S", rule)
    bounds = {"timeMin": "2027-05-01T00:00:00", "timeMax": "2027-05-05T00:00:00"}
    answer = await tools.ok("list-events", calendarId="primary", **bounds)
    assert answer["totalCount"] == count
    assert answer.get("leftOut", []) == ([] if count else [{"summary": "Beep"}])


@pytest.mark.parametrize(
    "line", ["RRULE:FREQ=DAILY;BYDAY=QQ", "RRULE:FREQ=DAILY;UNTIL=never", "RRULE:FREQ=DAILY\nEXDATE:later"]
)
async def test_a_series_that_cannot_be_computed_is_left_out_by_name(line: str) -> None:
    """S426: it may be on any day, so its first occurrence alone would not do."""
    lines = ("BEGIN:VCALENDAR", "BEGIN:VEVENT", "UID:x", "SUMMARY:Standup", "DTSTART:20270501T080000Z", line)
    resource = Resource("", "", "\n".join((*lines, "END:VEVENT", "END:VCALENDAR")))
    at = datetime(2027, 5, 1, tzinfo=UTC)
    assert await Expander().expand([resource], at, at + timedelta(days=9), ZoneInfo("UTC")) == Expansion(
        (), (resource,)
    )
