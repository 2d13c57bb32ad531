"""CalDAV servers with habits: what is found, what is kept, what is refused rather than guessed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from tests.caldav_mcp.clients import OpenRadicale, OtherProgram, ToolClient, open_tools
from tests.fakes.asgi_server import serve_app
from tests.fakes.quirky_caldav import Habit, QuirkyCalDav

from caldav_mcp.dav import _domain, _elsewhere

MAKE = """<?xml version="1.0"?><C:mkcalendar xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:set><D:prop>
<D:displayname>{name}</D:displayname></D:prop></D:set></C:mkcalendar>"""


@asynccontextmanager
async def _front(folder: Path, *habits: Habit) -> AsyncIterator[tuple[str, QuirkyCalDav]]:
    radicale = OpenRadicale(folder / "elsewhere")
    async with OtherProgram(radicale.calendar_url) as program:
        await program.request("PROPFIND", "/me/", "", Depth="0")
        for path, name in (("/me/a-old/", "Old"), ("/me/b-work/", "Work")):
            assert (await program.request("MKCALENDAR", path, MAKE.format(name=name))).status_code == 201
    quirky = QuirkyCalDav(f"http://127.0.0.1:{radicale.port}", habits)
    async with serve_app(quirky.app()) as base:
        quirky.elsewhere = base.replace("127.0.0.1", "localhost")
        yield base, quirky
    await quirky.aclose()
    radicale.stop()


At = Callable[..., AbstractAsyncContextManager[tuple[ToolClient, QuirkyCalDav]]]


@pytest.fixture
def at(tmp_path: Path) -> At:
    @asynccontextmanager
    async def at(*habits: Habit, path: str = "/me/b-work/") -> AsyncIterator[tuple[ToolClient, QuirkyCalDav]]:
        async with (
            _front(tmp_path, *habits) as (base, quirky),
            open_tools(tmp_path, caldav_url=base + path, username="me", password="app-password") as tools,
        ):
            yield tools, quirky

    return at


async def _a_life(tools: ToolClient) -> None:
    """Create an event, change it, read it in all ways with the same result, and delete it."""
    marks = {"private": {"ffu": "key"}}
    made = await tools.create(extendedProperties=marks)
    assert made == await tools.get()
    changed = await tools.update(summary="Other", ifMatch=made["etag"])
    assert changed == await tools.get()
    assert (changed["summary"], changed["extendedProperties"]) == ("Other", marks)
    refused = await tools.expect_refusal("update-event", calendarId="primary", eventId=made["id"], ifMatch=made["etag"])
    assert refused == "Precondition Failed"
    await tools.delete(ifMatch=changed["etag"])
    assert (await tools.get())["status"] == "cancelled"


@pytest.mark.parametrize(
    "habits",
    [
        (),
        ("rewrites",),
        ("no etag",),
        ("early etag",),
        ("weak etag",),
        ("ignores time",),
        ("rewrites", "no uid filter", "uid is 400"),
    ],
    ids=", ".join,
)
async def test_a_life_of_an_event(at: At, habits: tuple[Habit, ...]) -> None:
    async with at(*habits) as (tools, _):
        await _a_life(tools)


@pytest.mark.parametrize(("habits", "looks"), [((), 1), (("early etag",), 3)], ids=["honest", "early etag"])
async def test_the_first_write_shows_whether_a_server_keeps_what_it_says(
    at: At, habits: tuple[Habit, ...], looks: int
) -> None:
    """An honest server is asked once whether it is; another one after each write."""
    async with at(*habits) as (tools, quirky):
        for n in range(3):
            await tools.create(f"planfocus0000{n}")
        assert [method for method, _ in quirky.asked].count("GET") == looks


async def test_a_list_that_is_cut_off_is_refused(at: At) -> None:
    """S425: what a server leaves out of a list would seem to be free time, and blocks to be deleted."""
    async with at("cuts lists") as (tools, _):
        await tools.create()
        assert await tools.expect_refusal("list-events", calendarId="primary") == (
            "MCP error -32603: Google API server error: The calendar server listed only a part of the calendar (status 507)"
        )


async def test_an_object_listed_without_its_text_is_asked_for(at: At) -> None:
    """S425"""
    async with at("lists no text") as (tools, _):
        made = await tools.create()
        assert await tools.day() == [made]


async def test_a_calendar_that_moved_is_written_to_where_it_is_now(at: At) -> None:
    """S428"""
    async with at("moved", path="/me/old/") as (tools, quirky):
        await _a_life(tools)
        assert [path for method, path in quirky.asked if method in {"PUT", "DELETE"}][-1] == (
            "127.0.0.1/me/b-work/planfocus00001.ics"
        )


MEETING = ("UID:dentist", "SUMMARY:Dentist", "DTSTART:20270504T080000Z", "DTEND:20270504T090000Z")
DAY = {"timeMin": "2027-05-04T00:00:00", "timeMax": "2027-05-04T23:59:59"}


@pytest.mark.parametrize(
    "line",
    [
        "SEQUENCE:1.0",
        "CREATED:yesterday",
        "LAST-MODIFIED:0000",
        "BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT5M\r\nX-ANY-TRIGGER:soon\r\nEND:VALARM",
    ],
)
async def test_a_property_that_cannot_be_read_hides_no_meeting(at: At, line: str) -> None:
    """S426: neither that meeting nor the others of the calendar."""
    async with at("takes anything") as (tools, _), OtherProgram(tools.calendar.caldav_url) as other:
        await other.put("a", *MEETING)
        line = line if line.startswith("BEGIN") else f"X-ANY-{line}"
        await other.put("b", "UID:lunch", "SUMMARY:Lunch", "DTSTART:20270504T110000Z", "DURATION:PT1H", line)
        assert await tools.titles() == ["Dentist", "Lunch"]


@pytest.mark.parametrize(
    ("lines", "start", "end"),
    [
        (
            ("DTSTART;VALUE=DATE:20270504", "X-ANY-DTEND:20270504T100000Z"),
            {"date": "2027-05-04"},
            {"date": "2027-05-05"},
        ),
        (
            ("DTSTART:20270504T200000Z", "X-ANY-DTEND;VALUE=DATE:20270505"),
            {"dateTime": "2027-05-04T22:00:00+02:00", "timeZone": "UTC"},
            {"dateTime": "2027-05-05T00:00:00+02:00", "timeZone": "Europe/Berlin"},
        ),
    ],
    ids=["day to time", "time to day"],
)
async def test_a_day_and_a_time_in_one_event(
    at: At, lines: tuple[str, ...], start: dict[str, str], end: dict[str, str]
) -> None:
    """S426"""
    async with at("takes anything") as (tools, _), OtherProgram(tools.calendar.caldav_url) as other:
        await other.put("x", "UID:dentist", "SUMMARY:Dentist", *lines)
        (event,) = await tools.day()
        assert (event["start"], event["end"]) == (start, end)


async def test_an_event_whose_time_cannot_be_read_is_named(at: At) -> None:
    """S426: it may be on any day."""
    async with at("takes anything") as (tools, _), OtherProgram(tools.calendar.caldav_url) as other:
        await other.put("a", *MEETING)
        await other.put("b", "UID:lunch", "SUMMARY:Lunch", "DTSTART:20270504T110000Z", "X-ANY-DURATION:an hour")
        answer = await tools.ok("list-events", calendarId="primary", **DAY)
        assert [event["summary"] for event in answer["events"]] == ["Dentist"]
        assert answer["leftOut"] == [{"summary": "Lunch"}]


async def test_a_server_that_drops_marks_is_refused(at: At) -> None:
    """S75: an event that could not be distinguished from the person's own is removed again."""
    async with at("drops marks") as (tools, _):
        text = await tools.expect_refusal("create-event", **_build_arguments())
        assert text == (
            "MCP error -32600: Access denied: Forbidden: the calendar server does not keep the mark that tells my events"
            " from yours, so I write none."
        )
        assert await tools.day() == []


def _build_arguments() -> dict[str, object]:
    times = {"start": "2027-05-04T10:00:00", "end": "2027-05-04T11:00:00", "timeZone": "Europe/Berlin"}
    marks = {"extendedProperties": {"private": {"ffu": "key"}}}
    return {
        "calendarId": "primary",
        "eventId": "planfocus00001",
        "summary": "x",
        "calendarsToCheck": [],
        **times,
        **marks,
    }


async def test_a_uid_that_another_program_put_elsewhere_is_taken(at: At) -> None:
    async with at("uid is 400", "no uid filter") as (tools, quirky):
        made = await tools.create()
        text = (await quirky._http.get(quirky._target + "/me/b-work/planfocus00001.ics", auth=("me", ""))).text
        await tools.delete()
        tools.calendar.tools.calendars.register._run("delete from known_event", ())
        where = quirky._target + "/me/b-work/another-name.ics"
        put = await quirky._http.put(where, content=text, auth=("me", ""), headers={"Content-Type": "text/calendar"})
        assert put.status_code == 201
        assert await tools.expect_refusal("create-event", **_build_arguments()) == (
            "Event ID 'planfocus00001' already exists. Please use a different ID."
        )
        assert (await tools.get())["summary"] == made["summary"]


# --- finding the way ---


async def test_only_the_well_known_address_answers(at: At) -> None:
    """RFC 6764: a web page at the root, a redirect at the well-known address."""
    async with at("only well-known", path="/") as (tools, _):
        assert [c["summary"] for c in (await tools.ok("list-calendars"))["calendars"]] == ["Old", "Work"]
        await tools.create()


async def test_calendars_at_another_host(at: At) -> None:
    """As on iCloud: the account is at one host, its calendars at the person's own."""
    async with at("other host", path="/") as (tools, quirky):
        assert urlsplit(tools.calendar.caldav_url).hostname == "localhost"
        await tools.create()
        assert ("PUT", "localhost/me/a-old/planfocus00001.ics") in quirky.asked


async def test_what_lies_in_the_bin_is_no_calendar(at: At) -> None:
    async with at("bin", path="/") as (tools, _):
        assert [c["summary"] for c in (await tools.ok("list-calendars"))["calendars"]] == ["Work"]
        assert tools.calendar.account.main_is_certain


async def test_a_calendar_that_may_only_be_read(at: At) -> None:
    async with at("read-only") as (tools, _):
        (calendar,) = (await tools.ok("list-calendars"))["calendars"]
        assert calendar["accessRole"] == "reader"
        refused = await tools.expect_refusal("create-event", **_build_arguments() | {"account": "normal"})
        assert refused == "MCP error -32600: Access denied: You need to have writer access to this calendar."


@pytest.mark.parametrize(
    ("here", "there", "followed"),
    [
        ("https://caldav.icloud.com/", "https://p34-caldav.icloud.com/1/", True),
        ("https://example.co.uk/", "https://evil.co.uk/", False),
        ("https://dav.example.co.uk/", "https://www.example.co.uk/", True),
        ("https://cloud.example.com/", "http://cloud.example.com/remote.php/dav/", False),
        ("http://cloud.example.com/", "https://cloud.example.com/", True),
        ("https://127.0.0.1/", "https://10.0.0.1/", False),
        ("https://fastmail.com/", "https://login.example.com/", False),
    ],
)
def test_where_a_password_may_follow(here: str, there: str, followed: bool) -> None:  # noqa: FBT001  a table's column
    answer = httpx.Response(301, headers={"Location": there}, request=httpx.Request("PROPFIND", here))
    assert _elsewhere(answer) == (there if followed else None)


def test_the_domain_of_a_host() -> None:
    hosts = ("p34-caldav.icloud.com", "icloud.com", "localhost", "10.0.0.1", "::1", "a.b.co.uk")
    assert [_domain(host) for host in hosts] == ["icloud.com", "icloud.com", "localhost", "10.0.0.1", "::1", "b.co.uk"]
