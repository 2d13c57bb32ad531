"""The tool contract of google-calendar-mcp 2.6.3, rule by rule, through the real client over streamable HTTP.

The calendar's zone is Berlin; its clock shows 00:20 UTC on 21 November 2026 until it is moved.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal

import pytest
import pytest_asyncio
from mcp import Client, StdioServerParameters
from starlette.applications import Starlette
from starlette.routing import Mount
from tests.caldav_mcp.clients import ToolClient, creation, open_client, open_tools, over_mcp
from tests.fakes.asgi_server import serve_app

ISO = "Must be ISO 8601 format: '2025-01-01T10:00:00' for timed events or '2025-01-01' for all-day events"
TAKEN = "Event ID 'planfocus00001' already exists. Please use a different ID."
GONE = "MCP error -32600: Google API error: Resource has been deleted. Details: Resource has been deleted"
NOT_FOUND = "MCP error -32600: Resource not found: Not Found"
EMPTY_RANGE = (
    "MCP error -32600: Bad Request: The specified time range is empty.. Details: The specified time range is empty."
)
NO_ZONE = (
    "MCP error -32600: Bad Request: Missing time zone definition for start time.. "
    "Details: Missing time zone definition for start time."
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served_tools(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ToolClient]:
    """Yield a caller through the whole protocol; the server is mounted below another application's path."""
    async with open_tools(tmp_path_factory.mktemp("calendar")) as direct:
        app = Starlette(routes=[Mount("/calendar", direct.calendar.mcp_app)])
        async with serve_app(app, lifespan=False) as base, open_client(f"{base}/calendar/mcp") as client:
            yield ToolClient(over_mcp(client), direct.calendar, direct.clock)


@pytest_asyncio.fixture(loop_scope="module")
async def tools(served_tools: ToolClient) -> ToolClient:
    """Return such a caller of an empty calendar."""
    await served_tools.start_anew()
    return served_tools


pytestmark = pytest.mark.asyncio(loop_scope="module")


def invalid(tool: str, complaint: str) -> str:
    return f"MCP error -32602: Input validation error: Invalid arguments for tool {tool}: {complaint}"


# --- the envelope -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_both_generations_of_the_protocol(tmp_path: Path, mode: Literal["auto", "legacy"]) -> None:
    async with (
        open_tools(tmp_path) as direct,
        serve_app(direct.calendar.mcp_app, lifespan=False) as base,
        Client(f"{base}/mcp", mode=mode) as client,
    ):
        listed = (await client.list_tools()).tools
        tools = ToolClient(over_mcp(client), direct.calendar, direct.clock)
        assert (await tools.create())["id"] == "planfocus00001"
    assert [tool.name for tool in listed] == [
        "list-calendars", "list-events", "get-event", "create-event", "update-event", "delete-event", "get-freebusy",
        "get-current-time", "list-colors",
    ]  # fmt: skip
    assert [tool.output_schema for tool in listed] == [None] * 9


@pytest.mark.process
async def test_standard_input_and_output(tmp_path: Path) -> None:
    arguments = ["-m", "caldav_mcp", "--stdio", "--data", str(tmp_path), "--time-zone", "Europe/Berlin"]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
    async with Client(server) as client:
        call = over_mcp(client)
        created = (await call("create-event", creation())).data["event"]
        listed = (await call("list-events", {"calendarId": "primary"})).data["events"]
        assert listed == [created]
        assert (await call("create-event", creation())).text == TAKEN


async def test_an_unknown_tool(tools: ToolClient) -> None:
    assert await tools.expect_refusal("no-such-tool") == "MCP error -32602: Tool no-such-tool not found"


# --- arguments --------------------------------------------------------------------------------------------------


async def test_unknown_arguments_are_ignored(tools: ToolClient) -> None:
    await tools.create(status="cancelled", maxResults=1)
    assert await tools.titles(maxResults=0, showDeleted=True, pageToken=None) == ["Plan work"]


@pytest.mark.parametrize(
    ("tool", "arguments", "complaint"),
    [
        ("create-event", creation(description=None), "Invalid input: expected string, received null at description"),
        ("create-event", creation(start="10:00"), f"{ISO} at start"),
        (
            "create-event",
            creation(start={"dateTime": "2027-05-04T10:00:00"}),
            "Invalid input: expected string, received object at start",
        ),
        ("create-event", creation(start="{oops"), "Invalid JSON format in time input at start"),
        (
            "create-event",
            {"calendarId": "primary", "start": "2027-05-04", "end": "2027-05-05"},
            "Invalid input: expected string, received undefined at summary",
        ),
        (
            "create-event",
            creation(extendedProperties={"private": {"n": 1}}),
            "Invalid input: expected string, received number at extendedProperties.private.n",
        ),
        (
            "create-event",
            creation(transparency="clear"),
            'Invalid option: expected one of "opaque"|"transparent" at transparency',
        ),
        ("create-event", creation(attendees=[{"email": "Ada"}]), "Invalid email address at attendees.0.email"),
        (
            "create-event",
            creation(reminders={"overrides": [{"minutes": "5"}]}),
            (
                "Invalid input: expected string, received undefined at reminders.useDefault; "
                "Invalid input: expected number, received string at reminders.overrides.0.minutes"
            ),
        ),
        ("create-event", creation(allowDuplicates="yes"), "Invalid input: expected boolean, received string at allowDuplicates"),
        (
            "create-event",
            creation(duplicateSimilarityThreshold=2),
            "Too big: expected number to be <=1 at duplicateSimilarityThreshold",
        ),
        (
            "list-events",
            {"calendarId": "primary", "timeMin": "2027-05-04"},
            "Must be ISO 8601 format: '2026-01-01T00:00:00' at timeMin",
        ),
        ("list-events", {"calendarId": None}, "Invalid input at calendarId"),
        ("list-events", {"calendarId": []}, "At least one calendar ID is required at calendarId"),
        (
            "list-events",
            {"calendarId": "primary", "privateExtendedProperty": ["planId"]},
            "Must be in key=value format at privateExtendedProperty.0",
        ),
        (
            "update-event",
            {"calendarId": "primary", "eventId": "planfocus00001", "modificationScope": "thisEventOnly"},
            "originalStartTime is required when modificationScope is 'thisEventOnly' at originalStartTime",
        ),
        (
            "get-event",
            {"calendarId": "primary", "eventId": "planfocus00001", "account": "Mine"},
            "Account nickname must be 1-64 characters: lowercase letters, numbers, dashes, underscores only at account",
        ),
    ],
)  # fmt: skip
async def test_bad_arguments(tools: ToolClient, tool: str, arguments: dict[str, Any], complaint: str) -> None:
    assert await tools.expect_refusal(tool, **arguments) == invalid(tool, complaint)


async def test_etag_is_no_field_to_ask_for(tools: ToolClient) -> None:
    refusal = await tools.expect_refusal("list-events", calendarId="primary", fields=["etag"])
    assert refusal.startswith(invalid("list-events", 'Invalid option: expected one of "id"|"summary"|"description"'))
    assert refusal.endswith('"source"|"eventType" at fields.0')


async def test_lists_may_come_as_json_text(tools: ToolClient) -> None:
    await tools.create(calendarsToCheck="[]")
    answer = await tools.ok("list-events", calendarId='["primary"]', fields='["colorId"]')
    assert answer["totalCount"] == 1


# --- create-event -----------------------------------------------------------------------------------------------


async def test_a_created_event(tools: ToolClient) -> None:
    """S205"""
    given: dict[str, Any] = {
        "description": "by probe",
        "location": "Desk",
        "colorId": "9",
        "visibility": "private",
        "reminders": {"useDefault": False, "overrides": [{"method": "popup", "minutes": 5}]},
        "extendedProperties": {"private": {"planId": "p1", "rev": "1"}},
    }
    event = await tools.create(timeZone="Europe/Berlin", **given)
    etag, link = event.pop("etag"), event.pop("htmlLink")
    assert (etag[0], etag[-1], len(etag)) == ('"', '"', 66)
    assert link == f"{tools.calendar.caldav_url}planfocus00001.ics"
    me = {"email": "me@localhost", "self": True}
    assert event == given | {
        "id": "planfocus00001",
        "summary": "Plan work",
        "start": {"dateTime": "2027-05-04T10:00:00+02:00", "timeZone": "Europe/Berlin"},
        "end": {"dateTime": "2027-05-04T11:00:00+02:00", "timeZone": "Europe/Berlin"},
        "startDayOfWeek": "Tuesday",
        "endDayOfWeek": "Tuesday",
        "status": "confirmed",
        "created": "2026-11-21T00:20:00.000Z",
        "updated": "2026-11-21T00:20:00.380Z",
        "creator": me,
        "organizer": me,
        "iCalUID": "planfocus00001",
        "sequence": 0,
        "eventType": "default",
        "calendarId": "primary",
        "accountId": "normal",
    }


async def test_an_event_without_an_id_gets_one(tools: ToolClient) -> None:
    answer = await tools.ok("create-event", **{k: v for k, v in creation().items() if k != "eventId"})
    assert await tools.get(answer["event"]["id"]) == answer["event"]


async def test_an_id_is_taken_once(tools: ToolClient) -> None:
    await tools.create()
    assert await tools.expect_refusal("create-event", **creation(summary="Other")) == TAKEN
    assert await tools.titles() == ["Plan work"]


async def test_a_bad_id(tools: ToolClient) -> None:
    refusal = await tools.expect_refusal("create-event", **creation("Plan"))
    assert refusal == (
        "MCP error -32603: Internal error: Invalid event ID: must be at least 5 characters long, "
        "can only contain lowercase letters a-v and digits 0-9 (base32hex encoding)"
    )


@pytest.mark.parametrize(
    ("start", "end", "refusal"),
    [
        ("2027-05-04T10:00:00", "2027-05-04T09:59:59", EMPTY_RANGE),
        ("2027-05-04", "2027-05-04", EMPTY_RANGE),
        (
            "2027-05-04",
            "2027-05-04T10:00:00",
            (
                "MCP error -32600: Bad Request: Start and end times must either both be date or both be dateTime.. "
                "Details: Start and end times must either both be date or both be dateTime."
            ),
        ),
        (
            "2027-02-30",
            "2027-03-01",
            "MCP error -32600: Bad Request: Invalid start time.. Details: Invalid start time.",
        ),
    ],
)
async def test_impossible_times(tools: ToolClient, start: str, end: str, refusal: str) -> None:
    assert await tools.expect_refusal("create-event", **creation(start=start, end=end)) == refusal


async def test_an_unknown_zone(tools: ToolClient) -> None:
    message = "Invalid time zone definition for start time."
    refusal = await tools.expect_refusal("create-event", **creation(timeZone="Mars/Olympus"))
    assert refusal == f"MCP error -32600: Bad Request: {message}. Details: {message}"


async def test_an_unknown_color(tools: ToolClient) -> None:
    refusal = await tools.expect_refusal("create-event", **creation(colorId="12"))
    assert refusal == "MCP error -32600: Bad Request: Invalid color ID.. Details: Invalid color ID."


@pytest.mark.parametrize(
    ("given", "start", "end"),
    [
        (
            {"timeZone": "Asia/Tokyo"},
            {"dateTime": "2027-05-04T03:00:00+02:00", "timeZone": "Asia/Tokyo"},
            {"dateTime": "2027-05-04T04:00:00+02:00", "timeZone": "Asia/Tokyo"},
        ),
        (
            {"start": "2027-05-04T10:00:00Z", "end": "2027-05-04T07:00:00-04:00", "timeZone": "Asia/Tokyo"},
            {"dateTime": "2027-05-04T12:00:00+02:00", "timeZone": "Europe/Berlin"},
            {"dateTime": "2027-05-04T13:00:00+02:00", "timeZone": "Europe/Berlin"},
        ),
        (
            {"end": '{"dateTime": "2027-05-05T01:30:00", "timeZone": "America/New_York"}'},
            {"dateTime": "2027-05-04T10:00:00+02:00", "timeZone": "Europe/Berlin"},
            {"dateTime": "2027-05-05T07:30:00+02:00", "timeZone": "America/New_York"},
        ),
        ({"start": "2027-05-04", "end": "2027-05-05"}, {"date": "2027-05-04"}, {"date": "2027-05-05"}),
        (
            {"start": "2027-03-28T02:30:00", "end": "2027-03-28T04:00:00"},
            {"dateTime": "2027-03-28T03:30:00+02:00", "timeZone": "Europe/Berlin"},
            {"dateTime": "2027-03-28T04:00:00+02:00", "timeZone": "Europe/Berlin"},
        ),
        (
            {"start": "2027-10-31T02:30:00+02:00", "end": "2027-10-31T02:15:00+01:00"},
            {"dateTime": "2027-10-31T02:30:00+02:00", "timeZone": "Europe/Berlin"},
            {"dateTime": "2027-10-31T02:15:00+01:00", "timeZone": "Europe/Berlin"},
        ),
        (
            {"start": "2027-05-04T10:00:00Z", "end": "2027-05-04T10:00:00Z"},
            {"dateTime": "2027-05-04T12:00:00+02:00", "timeZone": "Europe/Berlin"},
            {"dateTime": "2027-05-04T12:00:00+02:00", "timeZone": "Europe/Berlin"},
        ),
    ],
    ids=["zone", "offsets", "two zones", "all day", "spring gap", "autumn fold", "no time at all"],
)
async def test_times_come_back(tools: ToolClient, given: dict[str, str], start: Any, end: Any) -> None:
    """S231: offsets are the calendar's, zones the event's own."""
    created = await tools.create(**given)
    assert (created["start"], created["end"]) == (start, end)
    assert await tools.get() == created


async def test_the_days_of_the_week_are_the_events_own(tools: ToolClient) -> None:
    event = await tools.create(start="2027-05-04T00:30:00", end="2027-05-05T00:30:00", timeZone="Asia/Tokyo")
    assert (event["startDayOfWeek"], event["endDayOfWeek"]) == ("Tuesday", "Wednesday")
    assert event["start"]["dateTime"] == "2027-05-03T17:30:00+02:00"


async def test_standard_values_are_not_said(tools: ToolClient) -> None:
    given: dict[str, Any] = {
        "transparency": "opaque",
        "visibility": "default",
        "description": "",
        "location": "",
        "guestsCanModify": False,
    }
    event = await tools.create(**given, reminders={"useDefault": True})
    assert [name for name in given if name in event] == []
    assert event["reminders"] == {"useDefault": True}


async def test_fields_that_icalendar_has_no_word_for_are_kept(tools: ToolClient) -> None:
    given: dict[str, Any] = {
        "guestsCanModify": True,
        "guestsCanInviteOthers": False,
        "source": {"url": "https://example.com/?a=1;b,c", "title": "Where"},
        "attachments": [{"fileUrl": "https://example.com/a.pdf", "title": "A"}],
        "extendedProperties": {"private": {"a": "1"}, "shared": {"b": "2"}},
    }
    event = await tools.create(**given)
    assert {name: event[name] for name in given} == given
    assert await tools.get() == event


# --- warnings ---------------------------------------------------------------------------------------------------


def build_unchecked(event_id: str, **given: Any) -> dict[str, Any]:
    standard = {k: v for k, v in creation(event_id).items() if k != "calendarsToCheck"}
    return standard | given


async def test_a_copy_is_refused(tools: ToolClient) -> None:
    await tools.create("dentist0001", summary="Dentist")
    refusal = await tools.expect_refusal("create-event", **build_unchecked("dentist0002", summary=" DENTIST "))
    assert refusal == (
        'Duplicate event detected (95% similar). Event "Dentist" already exists. '
        "To create anyway, set allowDuplicates to true."
    )


async def test_so_is_a_repeated_create_before_its_id_is_looked_at(tools: ToolClient) -> None:
    await tools.create()
    assert (await tools.expect_refusal("create-event", **build_unchecked("planfocus00001"))).startswith(
        "Duplicate event detected"
    )


@pytest.mark.parametrize("allowed", [{"allowDuplicates": True}, {"calendarsToCheck": []}])
async def test_a_copy_is_fine_when_it_is_wanted(tools: ToolClient, allowed: dict[str, Any]) -> None:
    await tools.create("dentist0001", summary="Dentist")
    await tools.ok("create-event", **build_unchecked("dentist0002", summary="Dentist", **allowed))
    assert await tools.titles() == ["Dentist", "Dentist"]


async def test_a_copy_at_another_time_is_none(tools: ToolClient) -> None:
    await tools.create("dentist0001", summary="Dentist")
    later = {"start": "2027-05-04T11:00:00", "end": "2027-05-04T12:00:00"}
    assert list(await tools.ok("create-event", **build_unchecked("dentist0002", summary="Dentist", **later))) == [
        "event"
    ]


async def test_an_overlap_is_told(tools: ToolClient) -> None:
    dentist = await tools.create(
        "dentist0001", summary="Dentist", start="2027-05-04T10:30:00", end="2027-05-04T11:30:00"
    )
    answer = await tools.ok("create-event", **build_unchecked("planfocus00001"))
    seen = {
        "id": "dentist0001",
        "title": "Dentist",
        "start": "2027-05-04T10:30:00+02:00",
        "end": "2027-05-04T11:30:00+02:00",
        "url": dentist["htmlLink"],
    }
    overlap = {"duration": "30 minutes", "percentage": "50%"}
    assert answer["conflicts"] == [{"event": seen, "calendar": "primary", "overlap": overlap}]
    assert answer["warnings"] == ["Found 1 scheduling conflict(s)"]
    assert "duplicates" not in answer


@pytest.mark.parametrize("title", ["Dentist appointment", "Tooth appointment"])
async def test_a_similar_title_is_told(tools: ToolClient, title: str) -> None:
    await tools.create("dentist0001", summary="Dentist appointment today")
    answer = await tools.ok("create-event", **build_unchecked("dentist0002", summary=title))
    (duplicate,) = answer["duplicates"]
    assert (duplicate["event"]["similarity"], duplicate["calendarId"]) == (0.7, "primary")
    assert duplicate["suggestion"] == "This event is very similar to an existing one. Is this intentional?"
    assert answer["warnings"] == ["Found 1 potential duplicate(s)", "Found 1 scheduling conflict(s)"]


async def test_all_day_events_are_not_compared(tools: ToolClient) -> None:
    day = {"summary": "Holiday", "start": "2027-05-04", "end": "2027-05-05"}
    await tools.create("holida0001", **day)
    assert list(await tools.ok("create-event", **build_unchecked("holida0002", **day))) == ["event"]


async def test_an_update_that_moves_is_told_of_overlaps(tools: ToolClient) -> None:
    await tools.create("dentist0001", summary="Dentist", start="2027-05-04T12:00:00", end="2027-05-04T14:30:00")
    await tools.create()
    given = {"calendarId": "primary", "eventId": "planfocus00001"}
    times = {"start": "2027-05-04T12:00:00", "end": "2027-05-04T15:00:00"}
    answer = await tools.ok("update-event", **given, **times)
    (conflict,) = answer["conflicts"]
    assert conflict["overlap"] == {"duration": "2 hours 30 minutes", "percentage": "83%"}
    assert list(await tools.ok("update-event", **given, **times, checkConflicts=False)) == ["event"]
    assert list(await tools.ok("update-event", **given, summary="Other")) == ["event"]


# --- get-event, list-events -------------------------------------------------------------------------------------


async def test_an_unknown_event(tools: ToolClient) -> None:
    refusal = await tools.expect_refusal("get-event", calendarId="primary", eventId="doesnotexist1")
    assert refusal == "MCP error -32603: Internal error: Event with ID 'doesnotexist1' not found in calendar 'primary'."


async def test_fields_name_what_comes_beside_the_defaults(tools: ToolClient) -> None:
    given: dict[str, Any] = {
        "description": "d",
        "location": "Desk",
        "colorId": "9",
        "extendedProperties": {"private": {"a": "1"}},
    }
    whole = await tools.create(**given)
    defaults = {
        "id", "summary", "location", "start", "end", "startDayOfWeek", "endDayOfWeek", "status", "htmlLink", "reminders",
        "etag", "calendarId", "accountId",
    }  # fmt: skip
    some = await tools.get(fields=["updated", "colorId"])
    assert some == {name: whole[name] for name in defaults | {"updated", "colorId"}}
    assert await tools.day(fields=["extendedProperties"]) == [
        {name: whole[name] for name in defaults | {"extendedProperties"}}
    ]
    assert await tools.day() == [whole]
    assert await tools.get(fields=[]) == whole


async def test_nothing_is_said_plainly(tools: ToolClient) -> None:
    assert await tools.ok("list-events", calendarId="primary") == {"events": [], "totalCount": 0}


async def test_bounds_are_exclusive(tools: ToolClient) -> None:
    for n, (start, end) in enumerate([("08", "10"), ("09", "11"), ("10", "11"), ("10", "12"), ("11", "12")]):
        await tools.create(
            f"event{n}", summary=str(n), start=f"2027-05-04T{start}:00:00", end=f"2027-05-04T{end}:00:00"
        )
    bounds = {"timeMin": "2027-05-04T10:00:00", "timeMax": "2027-05-04T11:00:00"}
    assert await tools.titles(**bounds) == ["1", "2", "3"]
    east = {"timeMin": "2027-05-04T17:00:00", "timeMax": "2027-05-04T18:00:00", "timeZone": "Asia/Tokyo"}
    assert await tools.titles(**east) == ["1", "2", "3"]
    instants = {"timeMin": "2027-05-04T08:00:00Z", "timeMax": "2027-05-04T11:00:00+02:00", "timeZone": "Asia/Tokyo"}
    assert await tools.titles(**instants) == ["1", "2", "3"]


async def test_an_empty_range_is_refused(tools: ToolClient) -> None:
    bounds = {"timeMin": "2027-05-04T10:00:00", "timeMax": "2027-05-04T10:00:00"}
    assert await tools.expect_refusal("list-events", calendarId="primary", **bounds) == EMPTY_RANGE


async def test_events_are_listed_by_start(tools: ToolClient) -> None:
    for n, hour in enumerate(["12", "09", "15"]):
        await tools.create(f"event{n}", summary=hour, start=f"2027-05-04T{hour}:00:00", end="2027-05-04T16:00:00")
    await tools.create("event9", summary="day", start="2027-05-04", end="2027-05-05")
    assert await tools.titles() == ["day", "09", "12", "15"]


async def test_a_range_may_be_open(tools: ToolClient) -> None:
    for year in ("2024", "2027", "2030"):
        await tools.create(f"event{year}", summary=year, start=f"{year}-05-04T10:00:00", end=f"{year}-05-04T11:00:00")

    async def list_titles(**bounds: str) -> list[str]:
        answer = await tools.ok("list-events", calendarId="primary", **bounds)
        return [event["summary"] for event in answer["events"]]

    assert await list_titles() == ["2024", "2027", "2030"]
    assert await list_titles(timeMin="2025-01-01T00:00:00") == ["2027", "2030"]
    assert await list_titles(timeMax="2028-01-01T00:00:00") == ["2024", "2027"]


async def test_at_most_250_come_and_nothing_says_so(tools: ToolClient) -> None:
    rule = ["RRULE:FREQ=DAILY;COUNT=300"]
    await tools.create("standup0001", summary="Stand-up", recurrence=rule, timeZone="Europe/Berlin")
    answer = await tools.ok("list-events", calendarId="primary")
    assert (list(answer), answer["totalCount"], len(answer["events"])) == (["events", "totalCount"], 250, 250)
    assert answer["events"][0]["id"] == "standup0001_20270504T080000Z"


async def test_private_properties_filter(tools: ToolClient) -> None:
    """S205"""
    for n in ("1", "2"):
        await tools.create(f"event{n}", summary=n, extendedProperties={"private": {"day": "x y", "n": n}})
    await tools.create("event3", summary="3", extendedProperties={"shared": {"day": "x y"}})
    assert await tools.titles(privateExtendedProperty=["day=x y"]) == ["1", "2"]
    assert await tools.titles(privateExtendedProperty=["day=x y", "n=2"]) == ["2"]
    assert await tools.titles(sharedExtendedProperty=["day=x y"]) == ["3"]
    assert await tools.titles(privateExtendedProperty=["day=x"]) == []


# --- update-event -----------------------------------------------------------------------------------------------


async def test_an_update_sets_what_is_given(tools: ToolClient) -> None:
    """S81"""
    before = await tools.create(
        description="d", colorId="9", location="Desk", extendedProperties={"private": {"a": "1"}}
    )
    tools.clock.passes(minutes=1)
    after = await tools.update(summary="Other", colorId="4")
    changed = {"summary": "Other", "colorId": "4", "updated": "2026-11-21T00:21:00.380Z", "etag": after["etag"]}
    assert after == before | changed
    assert after["etag"] != before["etag"]
    assert await tools.get() == after


async def test_empty_text_clears(tools: ToolClient) -> None:
    await tools.create(description="d", location="Desk")
    after = await tools.update(summary="", description="", location="")
    assert [name for name in ("summary", "description", "location") if name in after] == []


async def test_a_color_cannot_be_cleared(tools: ToolClient) -> None:
    await tools.create(colorId="9")
    refusal = await tools.expect_refusal("update-event", calendarId="primary", eventId="planfocus00001", colorId="")
    assert refusal == "Invalid color ID."
    assert (await tools.get())["colorId"] == "9"


async def test_properties_merge_key_by_key(tools: ToolClient) -> None:
    """S205"""
    await tools.create(extendedProperties={"private": {"a": "1", "b": "2"}, "shared": {"c": "3"}})
    after = await tools.update(extendedProperties={"private": {"b": "", "d": "4"}})
    assert after["extendedProperties"] == {"private": {"a": "1", "b": "", "d": "4"}, "shared": {"c": "3"}}


async def test_an_update_of_nothing_still_writes(tools: ToolClient) -> None:
    before = await tools.create()
    after = await tools.update()
    assert after["updated"] > before["updated"]
    assert after["etag"] != before["etag"]
    assert after["sequence"] == 0


async def test_moves_are_counted(tools: ToolClient) -> None:
    await tools.create()
    assert (await tools.update(start="2027-05-04T10:00:00", end="2027-05-04T11:00:00"))["sequence"] == 0
    assert (await tools.update(end="2027-05-04T11:30:00"))["sequence"] == 1
    assert (await tools.update(summary="Other"))["sequence"] == 1


async def test_a_start_alone_keeps_the_end(tools: ToolClient) -> None:
    await tools.create()
    after = await tools.update(start="2027-05-04T09:00:00")
    assert (after["start"]["dateTime"], after["end"]["dateTime"]) == (
        "2027-05-04T09:00:00+02:00",
        "2027-05-04T11:00:00+02:00",
    )
    refusal = await tools.expect_refusal(
        "update-event", calendarId="primary", eventId="planfocus00001", start="2027-05-04T12:00:00"
    )
    assert refusal == "The specified time range is empty."


async def test_a_timed_event_becomes_an_all_day_one_and_back(tools: ToolClient) -> None:
    await tools.create()
    day = await tools.update(start="2027-05-04", end="2027-05-06")
    assert (day["start"], day["end"]) == ({"date": "2027-05-04"}, {"date": "2027-05-06"})
    timed = await tools.update(start="2027-05-04T09:00:00", end="2027-05-04T10:00:00")
    assert timed["start"] == {"dateTime": "2027-05-04T09:00:00+02:00", "timeZone": "Europe/Berlin"}


async def test_guests_are_replaced_and_known_ones_keep_their_data(tools: ToolClient) -> None:
    ada = {
        "email": "ada@example.com",
        "displayName": 'Ada "L", Countess',
        "optional": True,
        "responseStatus": "accepted",
    }
    bob = {"email": "bob@example.com", "responseStatus": "declined", "comment": "Busy; sorry", "additionalGuests": 2}
    created = await tools.create(attendees=[ada, bob])
    assert created["attendees"] == [ada | {"displayName": "Ada 'L', Countess"}, bob]
    after = await tools.update(
        attendees=[{"email": "Bob@example.com", "comment": "ignored"}, {"email": "eve@example.com"}]
    )
    assert after["attendees"] == [bob, {"email": "eve@example.com", "responseStatus": "needsAction"}]
    assert "attendees" not in await tools.update(attendees=[])


async def test_reminders_are_replaced(tools: ToolClient) -> None:
    own = {"useDefault": False, "overrides": [{"method": "email", "minutes": 90}, {"method": "popup", "minutes": 0}]}
    await tools.create(reminders=own)
    assert (await tools.update(summary="Other"))["reminders"] == own
    assert (await tools.update(reminders={"useDefault": False, "overrides": []}))["reminders"] == {"useDefault": False}
    assert (await tools.update(reminders={"useDefault": True}))["reminders"] == {"useDefault": True}


@pytest.mark.parametrize(
    ("given", "refusal"),
    [
        ({"summary": "Other"}, NOT_FOUND),
        ({"start": "2027-05-04T10:00:00"}, "Not Found"),
        ({"start": "2027-05-04T10:00:00", "checkConflicts": False}, NOT_FOUND),
        ({"attendees": []}, "Not Found"),
    ],
)
async def test_an_unknown_event_cannot_be_updated(tools: ToolClient, given: dict[str, Any], refusal: str) -> None:
    assert await tools.expect_refusal("update-event", calendarId="primary", eventId="doesnotexist1", **given) == refusal


# --- delete-event and what stays --------------------------------------------------------------------------------


async def test_a_deleted_event(tools: ToolClient) -> None:
    """S237"""
    before = await tools.create(description="d", extendedProperties={"private": {"a": "1"}})
    tools.clock.passes(minutes=1)
    assert await tools.delete() == {
        "success": True,
        "eventId": "planfocus00001",
        "calendarId": "primary",
        "message": "Event deleted successfully",
    }
    gone = await tools.get()
    assert gone == {k: v for k, v in before.items() if k != "etag"} | {
        "status": "cancelled",
        "updated": "2026-11-21T00:21:00.380Z",
    }
    assert await tools.titles() == []
    assert await tools.expect_refusal("delete-event", calendarId="primary", eventId="planfocus00001") == GONE
    assert await tools.expect_refusal("create-event", **creation()) == TAKEN
    assert await tools.update(summary="Other") == gone


async def test_an_unknown_event_cannot_be_deleted(tools: ToolClient) -> None:
    assert await tools.expect_refusal("delete-event", calendarId="primary", eventId="doesnotexist1") == NOT_FOUND


# --- the state an event is in -----------------------------------------------------------------------------------


async def test_a_write_may_name_the_state_it_changes(tools: ToolClient) -> None:
    """S200"""
    first = (await tools.create())["etag"]
    second = (await tools.update(summary="Other", ifMatch=first))["etag"]
    named = {"calendarId": "primary", "eventId": "planfocus00001"}
    assert await tools.expect_refusal("update-event", **named, summary="Late", ifMatch=first) == "Precondition Failed"
    assert await tools.expect_refusal("delete-event", **named, ifMatch=first) == (
        "MCP error -32600: Google API error: Precondition Failed. Details: Precondition Failed (If-Match)"
    )
    assert await tools.titles() == ["Other"]
    assert (await tools.delete(ifMatch=second))["success"] is True


async def test_without_a_state_all_changes_are_kept(tools: ToolClient) -> None:
    """S200: a second writer merges its changes into those of the first."""
    await tools.create()
    values = {f"k{n}": str(n) for n in range(4)}
    await asyncio.gather(*(tools.update(extendedProperties={"private": {k: v}}) for k, v in values.items()))
    assert (await tools.get())["extendedProperties"]["private"] == values


# --- calendars, free and busy, the time, colors ----------------------------------------------------------------


async def test_the_calendar(tools: ToolClient) -> None:
    answer = await tools.ok("list-calendars")
    assert answer == {
        "calendars": [
            {
                "id": "calendar@localhost",
                "summary": "My calendar",
                "timeZone": "Europe/Berlin",
                "backgroundColor": "#9fe1e7",
                "foregroundColor": "#000000",
                "selected": True,
                "accessRole": "owner",
                "defaultReminders": [],
                "primary": True,
            }
        ],
        "totalCount": 1,
    }


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("primary", "primary"),
        ("calendar@localhost", "calendar@localhost"),
        ("My calendar", "calendar@localhost"),
        ("MY CALENDAR", "calendar@localhost"),
    ],
)
async def test_how_a_calendar_is_named(tools: ToolClient, name: str, shown: str) -> None:
    await tools.create()
    (event,) = await tools.day(calendarId=name, account="normal")
    assert event["calendarId"] == shown


async def test_several_calendars(tools: ToolClient) -> None:
    answer = await tools.ok("list-events", calendarId=["primary", "calendar@localhost"])
    assert answer == {"events": [], "totalCount": 0, "calendars": ["primary", "calendar@localhost"]}


async def test_unknown_calendars(tools: ToolClient) -> None:
    access = (
        'MCP error -32600: No account has {0} access to calendar "nobody@example.com". Available accounts: normal. '
        "Please ensure the calendar exists and you have the necessary permissions, or specify the 'account' parameter "
        "explicitly."
    )
    nobody = {"calendarId": "nobody@example.com", "eventId": "planfocus00001"}
    assert await tools.expect_refusal("delete-event", **nobody) == access.format("write")
    assert await tools.expect_refusal("get-event", **nobody) == access.format("read")
    assert await tools.expect_refusal("delete-event", **nobody, account="normal") == NOT_FOUND
    assert await tools.expect_refusal("list-events", calendarId="nobody@example.com") == NOT_FOUND
    assert await tools.expect_refusal("list-events", calendarId="No such name") == (
        'MCP error -32600: Calendar(s) not found: "No such name". Available calendars: "My calendar" '
        "(calendar@localhost). Use 'list-calendars' tool to see all available calendars."
    )
    assert await tools.expect_refusal("list-calendars", account="other") == (
        'MCP error -32600: Account "other" not found. Available accounts: normal'
    )


async def test_free_and_busy(tools: ToolClient) -> None:
    for n, (start, end) in enumerate([("09", "10"), ("10", "11"), ("13", "15"), ("14", "16")]):
        await tools.create(f"event{n}", start=f"2027-05-04T{start}:00:00", end=f"2027-05-04T{end}:00:00")
    await tools.create("free1", start="2027-05-04T11:00:00", end="2027-05-04T12:00:00", transparency="transparent")
    bounds = {"timeMin": "2027-05-04T09:30:00", "timeMax": "2027-05-04T20:00:00"}
    answer = await tools.ok("get-freebusy", calendars=[{"id": "primary"}, {"id": "nobody@example.com"}], **bounds)
    assert answer == bounds | {
        "calendars": {
            "primary": {
                "busy": [
                    {"start": "2027-05-04T09:30:00+02:00", "end": "2027-05-04T11:00:00+02:00"},
                    {"start": "2027-05-04T13:00:00+02:00", "end": "2027-05-04T16:00:00+02:00"},
                ]
            },
            "nobody@example.com": {"busy": [], "errors": [{"domain": "global", "reason": "notFound"}]},
        }
    }


async def test_free_and_busy_of_more_than_three_months(tools: ToolClient) -> None:
    bounds = {"timeMin": "2027-01-01T00:00:00", "timeMax": "2027-05-01T00:00:00"}
    assert await tools.expect_refusal("get-freebusy", calendars=[{"id": "primary"}], **bounds) == (
        "MCP error -32600: The time gap between timeMin and timeMax must be less than 3 months"
    )


async def test_the_time(tools: ToolClient) -> None:
    assert await tools.ok("get-current-time") == {
        "currentTime": "2026-11-21T01:20:00.380+01:00",
        "timezone": "Europe/Berlin",
        "offset": "+01:00",
        "isDST": False,
        "dayOfWeek": "Saturday",
    }
    assert (await tools.ok("get-current-time", timeZone="UTC"))["currentTime"] == "2026-11-21T00:20:00.380Z"
    assert await tools.expect_refusal("get-current-time", timeZone="Mars/Olympus") == (
        "MCP error -32600: Invalid timezone: Mars/Olympus. Use IANA format (e.g. 'America/Los_Angeles')."
    )


async def test_the_colors(tools: ToolClient) -> None:
    colors = (await tools.ok("list-colors"))["event"]
    assert list(colors) == [str(n) for n in range(1, 12)]
    assert colors["9"] == {"background": "#5484ed", "foreground": "#1d1d1d"}


# --- series -----------------------------------------------------------------------------------------------------


async def test_series_arrive_expanded(tools: ToolClient) -> None:
    series = await tools.create("standup0001", recurrence=["RRULE:FREQ=DAILY;COUNT=3"], timeZone="Europe/Berlin")
    assert series["recurrence"] == ["RRULE:FREQ=DAILY;COUNT=3"]
    (second,) = await tools.day("2027-05-05")
    starts = {"dateTime": "2027-05-05T10:00:00+02:00", "timeZone": "Europe/Berlin"}
    place = {"id": "standup0001_20270505T080000Z", "recurringEventId": "standup0001", "originalStartTime": starts}
    assert {name: second[name] for name in [*place, "start"]} == place | {"start": starts}
    assert "recurrence" not in second
    assert await tools.get(second["id"]) == second
    (bare,) = await tools.day("2027-05-05", fields=["updated"])
    assert "recurringEventId" not in bare


async def test_a_series_needs_naive_times(tools: ToolClient) -> None:
    rule: dict[str, Any] = {"recurrence": ["RRULE:FREQ=DAILY;COUNT=3"]}
    times = {"start": "2027-05-04T10:00:00Z", "end": "2027-05-04T11:00:00Z"}
    assert await tools.expect_refusal("create-event", **creation(**rule, **times)) == NO_ZONE
    await tools.create(**rule)
    named = {"calendarId": "primary", "eventId": "planfocus00001"}
    assert (
        await tools.expect_refusal("update-event", **named, **times) == "Missing time zone definition for start time."
    )


async def test_a_rule_that_is_none(tools: ToolClient) -> None:
    refusal = await tools.expect_refusal("create-event", **creation(recurrence=["every day"]))
    assert refusal == "MCP error -32600: Bad Request: Invalid recurrence rule.. Details: Invalid recurrence rule."
