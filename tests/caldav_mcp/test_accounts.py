"""The calendars that an address leads to, and work in several of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.caldav_mcp.clients import OpenRadicale, OtherProgram, creation, open_tools
from tests.caldav_mcp.wire import open_wire

MAKE = """<?xml version="1.0"?><C:mkcalendar xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"
xmlns:A="http://apple.com/ns/ical/"><D:set><D:prop><D:displayname>{name}</D:displayname>
<C:calendar-description>About {name}</C:calendar-description><A:calendar-color>#4986e7ff</A:calendar-color>
<C:supported-calendar-component-set><C:comp name="{kind}"/></C:supported-calendar-component-set>{zone}
</D:prop></D:set></C:mkcalendar>"""
ZONE = """<C:calendar-timezone>BEGIN:VCALENDAR
BEGIN:VTIMEZONE
TZID:/citadel.org/20190914_1/{}
END:VTIMEZONE
END:VCALENDAR
</C:calendar-timezone>"""


@pytest.fixture
async def radicale(tmp_path: Path) -> AsyncIterator[OpenRadicale]:
    """Yield an account with a list of tasks and two calendars."""
    server = OpenRadicale(tmp_path / "elsewhere")
    async with OtherProgram(server.calendar_url) as program:
        await program.request("PROPFIND", "/me/", "", Depth="0")
        for path, kind, name, zone in (
            ("/me/a-tasks/", "VTODO", "Tasks", ""),
            ("/me/b-work/", "VEVENT", "Work", ZONE.format("America/New_York")),
            ("/me/c-home/", "VEVENT", "Home & garden", ""),
        ):
            body = MAKE.format(name=name.replace("&", "&amp;"), kind=kind, zone=zone)
            answer = await program.request("MKCALENDAR", path, body)
            assert answer.status_code == 201, answer.text
    yield server
    server.stop()


@pytest.mark.parametrize("path", ["/", "/me/", "/.well-known/caldav"])
async def test_an_account_leads_to_its_calendars(tmp_path: Path, radicale: OpenRadicale, path: str) -> None:
    root = f"http://127.0.0.1:{radicale.port}"
    async with open_tools(tmp_path, caldav_url=root + path, username="me") as tools:
        assert tools.calendar.caldav_url == f"{root}/me/b-work/"
        answer = await tools.ok("list-calendars")
    look = {"backgroundColor": "#4986e7", "foregroundColor": "#000000", "selected": True, "defaultReminders": []}
    assert answer["calendars"] == [
        look
        | {
            "id": "b-work@127.0.0.1",
            "summary": "Work",
            "description": "About Work",
            "timeZone": "America/New_York",
            "accessRole": "owner",
            "primary": True,
        },
        look
        | {
            "id": "c-home@127.0.0.1",
            "summary": "Home & garden",
            "description": "About Home & garden",
            "timeZone": "Europe/Berlin",
            "accessRole": "writer",
        },
    ]


async def test_the_main_calendar_is_the_one_of_the_name(tmp_path: Path, radicale: OpenRadicale) -> None:
    url = f"http://127.0.0.1:{radicale.port}/"
    async with open_tools(tmp_path, caldav_url=url, username="me", calendar_name="Home & garden") as tools:
        assert tools.calendar.caldav_url == f"{url}me/c-home/"


async def test_a_calendars_own_address_is_that_one_only(tmp_path: Path, radicale: OpenRadicale) -> None:
    url = f"http://127.0.0.1:{radicale.port}/me/c-home"
    async with open_tools(tmp_path, caldav_url=url, username="me") as tools:
        assert (await tools.ok("list-calendars"))["totalCount"] == 1
        assert tools.calendar.caldav_url == f"{url}/"
        await tools.create()
        assert await tools.titles() == ["Plan work"]


async def test_name_and_password_may_stand_in_the_address(tmp_path: Path, radicale: OpenRadicale) -> None:
    url = f"http://me:secret@127.0.0.1:{radicale.port}/"
    async with open_tools(tmp_path, caldav_url=url) as tools:
        event = await tools.create()
    assert event["htmlLink"] == f"http://127.0.0.1:{radicale.port}/me/b-work/planfocus00001.ics"


async def test_the_owner_is_whoever_signs_in(tmp_path: Path, radicale: OpenRadicale) -> None:
    url = f"http://127.0.0.1:{radicale.port}/me/b-work/"
    async with open_tools(tmp_path, caldav_url=url, username="Ada@example.com") as tools:
        assert (await tools.create())["organizer"] == {"email": "ada@example.com", "self": True}


async def test_events_of_several_calendars(tmp_path: Path, radicale: OpenRadicale) -> None:
    async with open_tools(tmp_path, caldav_url=f"http://127.0.0.1:{radicale.port}/", username="me") as tools:
        await tools.create(calendarId="Work")
        later = {"start": "2027-05-04T14:00:00", "end": "2027-05-04T15:00:00"}
        await tools.create(calendarId="Home & garden", summary="Weeding", **later)
        listed = await tools.day(calendarId=["Home & garden", "primary"])
        assert [(e["calendarId"], e["summary"], e["start"]["dateTime"]) for e in listed] == [
            ("c-home@127.0.0.1", "Weeding", "2027-05-04T14:00:00+02:00"),
            ("primary", "Plan work", "2027-05-04T10:00:00-04:00"),
        ]
        at_two = creation("planfocus00002", calendarsToCheck=["primary", "nobody@example.com", "Home & garden"])
        seen = await tools.ok("create-event", **at_two | later | {"timeZone": "Europe/Berlin"})
        assert [conflict["calendar"] for conflict in seen["conflicts"]] == ["Home & garden"]
        bounds = {"timeMin": "2027-05-04T00:00:00", "timeMax": "2027-05-05T00:00:00"}
        busy = await tools.ok("get-freebusy", calendars=[{"id": "Home & garden"}], **bounds, timeZone="Europe/Berlin")
        assert busy["calendars"]["Home & garden"]["busy"] == [
            {"start": "2027-05-04T14:00:00+02:00", "end": "2027-05-04T15:00:00+02:00"}
        ]


async def test_calendars_come_and_go_while_the_program_runs(tmp_path: Path, radicale: OpenRadicale) -> None:
    """S430"""
    async with (
        open_tools(tmp_path, caldav_url=f"http://127.0.0.1:{radicale.port}/", username="me") as tools,
        OtherProgram(radicale.calendar_url) as program,
    ):

        async def names() -> list[str]:
            return [calendar["summary"] for calendar in (await tools.ok("list-calendars"))["calendars"]]

        assert await names() == ["Work", "Home & garden"]
        await program.request("DELETE", "/me/c-home/", "")
        await program.request("MKCALENDAR", "/me/z-new/", MAKE.format(name="New", kind="VEVENT", zone=""))
        assert await names() == ["Work", "New"]
        await program.request("DELETE", "/me/b-work/", "")
        assert await names() == ["Work", "New"], "the plan is never on another calendar than before"


async def test_ids_are_per_calendar(tmp_path: Path, radicale: OpenRadicale) -> None:
    """S237"""
    async with open_tools(tmp_path, caldav_url=f"http://127.0.0.1:{radicale.port}/", username="me") as tools:
        await tools.create(calendarId="Work")
        await tools.delete(calendarId="Work")
        await tools.create(calendarId="Home & garden")
        assert (await tools.get(calendarId="Home & garden"))["status"] == "confirmed"
        assert (await tools.get(calendarId="Work"))["status"] == "cancelled"


async def test_an_account_without_calendars_is_said(tmp_path: Path, radicale: OpenRadicale) -> None:
    async with open_wire(f"http://127.0.0.1:{radicale.port}/me/") as wire:
        wire.url = wire.url.replace("/me/", "/")
        with pytest.raises(Exception, match="has no calendar for events"):
            async with open_tools(tmp_path, caldav_url=wire.url, username="somebody") as _:
                pass
