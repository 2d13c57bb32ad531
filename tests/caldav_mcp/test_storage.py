"""Contents of the store, as any CalDAV program reads them."""

from __future__ import annotations

from typing import Any

import icalendar
from tests.caldav_mcp.clients import OtherProgram, ToolClient


async def read_stored(other: OtherProgram, name: str = "planfocus00001") -> icalendar.Component:
    (event,) = icalendar.Calendar.from_ical(await other.get(name)).walk("VEVENT")
    return event


def lines_of(event: icalendar.Component, *without: str) -> set[str]:
    return {
        str(line) for line in event.content_lines() if line and not str(line).startswith((*without, "BEGIN:", "END:"))
    }


async def test_an_event_is_a_plain_object_at_its_id(tools: ToolClient, other: OtherProgram) -> None:
    given: dict[str, Any] = {
        "description": "One, two; three\n\\four",
        "location": "Desk",
        "colorId": "9",
        "visibility": "private",
        "transparency": "transparent",
        "extendedProperties": {"private": {"plan id": "a=b;c,d"}, "shared": {"team": "1"}},
        "timeZone": "Asia/Tokyo",
    }
    await tools.create(**given)
    assert lines_of(await read_stored(other)) == {
        "UID:planfocus00001",
        "SUMMARY:Plan work",
        "DESCRIPTION:One\\, two\\; three\\n\\\\four",
        "LOCATION:Desk",
        "DTSTART;TZID=Asia/Tokyo:20270504T100000",
        "DTEND;TZID=Asia/Tokyo:20270504T110000",
        "COLOR:royalblue",
        "X-FATEFORGER-COLOR-ID:9",
        "CLASS:PRIVATE",
        "TRANSP:TRANSPARENT",
        "STATUS:CONFIRMED",
        "SEQUENCE:0",
        "X-FATEFORGER-PRIVATE;KEY=plan%20id:a=b%3Bc%2Cd",
        "X-FATEFORGER-SHARED;KEY=team:1",
        "CREATED:20261121T002000Z",
        "DTSTAMP:20261121T002000Z",
        "LAST-MODIFIED:20261121T002000Z",
        "X-FATEFORGER-UPDATED:2026-11-21T00:20:00.380Z",
    }
    zones = icalendar.Calendar.from_ical(await other.get()).walk("VTIMEZONE")
    assert [str(zone["TZID"]) for zone in zones] == ["Asia/Tokyo"]


async def test_all_day_events_have_dates(tools: ToolClient, other: OtherProgram) -> None:
    await tools.create(start="2027-05-04", end="2027-05-06")
    times = {line for line in lines_of(await read_stored(other)) if line.startswith(("DTSTART", "DTEND"))}
    assert times == {"DTSTART;VALUE=DATE:20270504", "DTEND;VALUE=DATE:20270506"}


async def test_the_second_of_two_equal_hours_is_kept_in_utc(tools: ToolClient, other: OtherProgram) -> None:
    """S231"""
    await tools.create(start="2027-10-31T02:30:00+01:00", end="2027-10-31T03:30:00+01:00")
    times = {line for line in lines_of(await read_stored(other)) if line.startswith(("DTSTART", "DTEND"))}
    assert times == {
        "DTSTART;X-FATEFORGER-TZID=Europe/Berlin:20271031T013000Z",
        "DTEND;TZID=Europe/Berlin:20271031T033000",
    }


async def test_reminders_are_alarms(tools: ToolClient, other: OtherProgram) -> None:
    overrides = [{"method": "popup", "minutes": 5}, {"method": "email", "minutes": 60}]
    await tools.create(reminders={"useDefault": False, "overrides": overrides})
    alarms = (await read_stored(other)).walk("VALARM")
    written = [(str(alarm["ACTION"]), alarm["TRIGGER"].to_ical()) for alarm in alarms]
    assert written == [("DISPLAY", b"-PT5M"), ("EMAIL", b"-PT1H")]


async def test_an_update_counts_and_stamps(tools: ToolClient, other: OtherProgram) -> None:
    await tools.create()
    before = lines_of(await read_stored(other), "DTSTAMP", "LAST-MODIFIED", "X-FATEFORGER-UPDATED")
    tools.clock.passes(hours=1)
    await tools.update(start="2027-05-04T12:00:00", end="2027-05-04T13:00:00", summary="Other")
    assert lines_of(await read_stored(other)) - before == {
        "DTSTART;TZID=Europe/Berlin:20270504T120000",
        "DTEND;TZID=Europe/Berlin:20270504T130000",
        "SUMMARY:Other",
        "SEQUENCE:1",
        "DTSTAMP:20261121T012000Z",
        "LAST-MODIFIED:20261121T012000Z",
        "X-FATEFORGER-UPDATED:2026-11-21T01:20:00.380Z",
    }


async def test_a_clock_that_goes_back_does_not_take_the_stamps_back(tools: ToolClient) -> None:
    before = (await tools.create())["updated"]
    tools.clock.passes(hours=-1)
    assert (await tools.update(summary="Other"))["updated"] == "2026-11-21T00:20:00.381Z" > before


async def test_a_deleted_event_is_not_in_the_store(tools: ToolClient, other: OtherProgram) -> None:
    await tools.create()
    await tools.delete()
    answer = await other.request("GET", "planfocus00001.ics", "")
    assert answer.status_code == 404


async def test_an_id_may_be_as_long_as_google_allows(tools: ToolClient) -> None:
    longest = "v" * 1024
    created = await tools.create(longest)
    assert await tools.get(longest) == created
    assert await tools.day() == [created]
    await tools.delete(longest)
    assert (await tools.get(longest))["status"] == "cancelled"


async def test_a_title_of_ten_thousand_characters(tools: ToolClient) -> None:
    title = "ü; " * 3333 + "!"
    assert (await tools.create(summary=title))["summary"] == title
    assert await tools.titles() == [title]
