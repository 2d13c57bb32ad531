"""Data of the day pane: a day's events and their places, and notices of changes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any, cast
from zoneinfo import ZoneInfo

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from tests.caldav_mcp.clients import OtherProgram, ToolClient

from caldav_mcp.collection import Collection
from caldav_mcp.pane.changes import Changes
from caldav_mcp.times import Moment


@pytest.fixture
async def pane(tools: ToolClient) -> AsyncIterator[httpx.AsyncClient]:
    app = Starlette(routes=[Mount("/day", tools.calendar.pane_app)])
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://testserver/day/") as client:
        yield client


async def day(pane: httpx.AsyncClient, date: str = "2027-05-04", **given: str) -> dict[str, Any]:
    answer = await pane.get("events", params={"date": date, **given})
    assert answer.status_code == 200, answer.text
    shown: dict[str, Any] = answer.json()
    return shown


def places(shown: dict[str, Any]) -> list[tuple[str, int, int, int, int, int]]:
    keys = ("title", "top", "bottom", "column", "columns", "width")
    return [tuple(event[key] for key in keys) for event in shown["events"]]


async def test_a_day_in_words(pane: httpx.AsyncClient) -> None:
    shown = await day(pane)
    assert {name: shown[name] for name in ("date", "weekday", "words", "zone", "previous", "next", "minutes")} == {
        "date": "2027-05-04",
        "weekday": "Tuesday",
        "words": "4 May 2027",
        "zone": "Europe/Berlin",
        "previous": "2027-05-03",
        "next": "2027-05-05",
        "minutes": 1440,
    }
    assert (shown["start"], shown["now"]) == ("2027-05-03T22:00:00.000Z", "2026-11-21T00:20:00.380Z")
    assert [hour["label"] for hour in shown["hours"]] == [f"{hour:02}:00" for hour in range(24)]


async def test_today_is_the_zones(pane: httpx.AsyncClient) -> None:
    assert (await pane.get("events")).json()["date"] == "2026-11-21"
    far = (await pane.get("events", params={"tz": "America/New_York"})).json()
    assert (far["date"], far["today"], far["zone"]) == ("2026-11-20", "2026-11-20", "America/New_York")


@pytest.mark.parametrize(
    ("date", "minutes", "labels"),
    [
        ("2027-03-28", 1380, ["00:00", "01:00", "03:00", "04:00"]),
        ("2027-10-31", 1500, ["00:00", "01:00", "02:00", "02:00"]),
    ],
)
async def test_days_on_which_the_clocks_change(
    pane: httpx.AsyncClient, tools: ToolClient, date: str, minutes: int, labels: list[str]
) -> None:
    """S231"""
    await tools.create(start=f"{date}T12:00:00", end=f"{date}T13:00:00")
    shown = await day(pane, date)
    assert (shown["minutes"], [hour["label"] for hour in shown["hours"]][:4]) == (minutes, labels)
    noon = 12 * 60 + minutes - 1440
    assert places(shown) == [("Plan work", noon, noon + 60, 0, 1, 1)]


async def test_a_time_that_comes_twice_names_its_zone(pane: httpx.AsyncClient, tools: ToolClient) -> None:
    """S484"""
    await tools.create(start="2027-10-31T02:30:00+02:00", end="2027-10-31T02:30:00+01:00")
    (event,) = (await day(pane, "2027-10-31"))["events"]
    assert (event["from"], event["until"]) == ("02:30 CEST", "02:30 CET")
    assert event["long"] == "Sun 31 Oct, 02:30 CEST – 02:30 CET (1 h)"


async def test_events_of_the_night_are_cut_at_midnight(pane: httpx.AsyncClient, tools: ToolClient) -> None:
    """S230"""
    await tools.create("aaaaa", summary="Train", start="2027-05-03T22:10:00", end="2027-05-04T06:45:00")
    await tools.create("bbbbb", summary="Sleep", start="2027-05-04T23:00:00", end="2027-05-05T07:00:00")
    train, sleep = (await day(pane))["events"]
    assert [(e["top"], e["bottom"], e["fromBefore"], e["goesOn"]) for e in (train, sleep)] == [
        (0, 405, True, False),
        (1380, 1440, False, True),
    ]
    assert [(e["from"], e["until"]) for e in (train, sleep)] == [("Mon 22:10", "06:45"), ("23:00", "Wed 07:00")]
    assert train["long"] == "Mon 3 May, 22:10 – Tue 4 May, 06:45 (8 h 35 min)"


async def test_events_side_by_side(pane: httpx.AsyncClient, tools: ToolClient) -> None:
    await tools.create("aaaaa", summary="a", start="2027-05-04T10:00:00", end="2027-05-04T12:00:00")
    await tools.create("bbbbb", summary="b", start="2027-05-04T11:00:00", end="2027-05-04T11:05:00")
    await tools.create("ccccc", summary="c", start="2027-05-04T11:10:00", end="2027-05-04T12:00:00")
    await tools.create("ddddd", summary="d", start="2027-05-04T23:58:00", end="2027-05-05T00:00:00")
    shown = await day(pane)
    assert places(shown) == [
        ("a", 600, 720, 0, 3, 1),
        ("b", 660, 675, 1, 3, 1),
        ("c", 670, 720, 2, 3, 1),
        ("d", 1425, 1440, 0, 1, 1),
    ]
    assert [event["until"] for event in shown["events"]] == ["12:00", "11:05", "12:00", "24:00"]


async def test_whole_days_stand_above(pane: httpx.AsyncClient, tools: ToolClient) -> None:
    await tools.create("aaaaa", summary="Fair", start="2027-05-03", end="2027-05-06", colorId="11")
    for zone in ("Europe/Berlin", "Asia/Tokyo", "America/Los_Angeles"):
        shown = await day(pane, tz=zone)
        (fair,) = shown["allDay"]
        assert (fair["title"], fair["when"], fair["long"], fair["color"]) == (
            "Fair",
            "day 2 of 3",
            "Mon 3 May – Wed 5 May",
            "11",
        )
        assert shown["events"] == []
    assert (await day(pane, "2027-05-06", tz="America/Los_Angeles"))["allDay"] == []


async def test_what_an_event_says_of_itself(pane: httpx.AsyncClient, tools: ToolClient, other: OtherProgram) -> None:
    await tools.create(description="<b>notes</b>", location="Desk", transparency="transparent")
    await other.put(
        "x", "UID:theirs", "DTSTART:20270504T120000Z", "DURATION:PT15M", "RRULE:FREQ=DAILY", "STATUS:TENTATIVE",
        "ORGANIZER:mailto:ada@example.com", "ATTENDEE;PARTSTAT=DECLINED:mailto:me@localhost",
    )  # fmt: skip
    ours, theirs = (await day(pane))["events"]
    keys = ("title", "description", "location", "isFree", "isTentative", "isDeclined", "repeats", "long")
    assert [ours[key] for key in keys] == [
        "Plan work", "<b>notes</b>", "Desk", True, False, False, False, "Tue 4 May, 10:00 – 11:00 (1 h)"
    ]  # fmt: skip
    assert [theirs[key] for key in keys] == [
        "", "", "", False, True, True, True, "Tue 4 May, 14:00 – 14:15 (15 min)"
    ]  # fmt: skip


@pytest.mark.parametrize("date", ["tomorrow", "2027-02-30", "0001-01-01", "9999-12-31"])
async def test_a_day_that_cannot_be_shown(pane: httpx.AsyncClient, date: str) -> None:
    answer = await pane.get("events", params={"date": date})
    assert (answer.status_code, answer.json()) == (400, {"error": f"{date} is not a day that can be shown"})


async def test_the_page_needs_nothing_from_elsewhere(pane: httpx.AsyncClient) -> None:
    for name, kind in (
        ("", "text/html"),
        ("pane.css", "text/css"),
        ("pane.js", "text/javascript"),
        ("moves.js", "text/javascript"),
    ):
        answer = await pane.get(name)
        assert answer.headers["content-type"] == f"{kind}; charset=utf-8"
        assert "connect-src 'self'" in answer.headers["content-security-policy"]
        assert ("http://" in answer.text, "https://" in answer.text) == (False, False)


async def changes(pane: httpx.AsyncClient, since: str = "", **given: str) -> dict[str, Any]:
    news: dict[str, Any] = (await pane.get("changes", params={"since": since, **given})).json()
    return news


async def test_a_write_is_news(pane: httpx.AsyncClient, tools: ToolClient) -> None:
    before = await day(pane)
    waiting = asyncio.create_task(changes(pane, before["version"]))
    await asyncio.sleep(0)
    await tools.create(start="2027-05-05T00:30:00", end="2027-05-05T01:00:00")
    news = await waiting
    assert news == {"version": news["version"], "written": 1, "date": "2027-05-05", "reachable": True}
    assert news["version"] != before["version"]
    assert (await changes(pane, tz="America/New_York"))["date"] == "2027-05-04"
    await tools.update(start="2027-05-06", end="2027-05-07")
    assert (await changes(pane))["date"] == "2027-05-06"
    await tools.delete()
    assert (await changes(pane))["written"] == 3


class Unchanging:
    async def state(self) -> str:
        return "as ever"


async def test_who_waits_for_news_is_woken_by_a_write() -> None:
    """At once: it takes a few turns of the loop, and no look at the calendar."""
    news = Changes(cast("Collection", Unchanging()))
    known = news.current(ZoneInfo("UTC")).version
    waiting = asyncio.create_task(news.after(known, ZoneInfo("UTC"), patience=600))
    for _ in range(20):
        await asyncio.sleep(0)
    assert not waiting.done()
    news.note(Moment(datetime(2027, 5, 4, tzinfo=UTC), None, "UTC"))
    for _ in range(20):
        await asyncio.sleep(0)
    assert waiting.done()
    assert (await waiting).written == 1


async def test_a_write_by_another_program_is_news_too(
    pane: httpx.AsyncClient, other: OtherProgram, tools: ToolClient
) -> None:
    """From the moment in which the page read its day."""
    version = (await day(pane))["version"]
    await other.put("x", "UID:theirs", "SUMMARY:Dentist", "DTSTART:20270504T080000Z", "DURATION:PT1H")
    async with asyncio.timeout(60):
        news = await changes(pane, version)
        while news["version"] == version:
            news = await changes(pane, version)
    assert news == {"version": news["version"], "written": 0, "date": None, "reachable": True}


async def test_no_news_come_after_a_while(pane: httpx.AsyncClient) -> None:
    version = (await changes(pane))["version"]
    assert (await changes(pane, version))["version"] == version


async def move(pane: httpx.AsyncClient, event: dict[str, Any], start: int, end: int) -> dict[str, Any]:
    sent = {"id": event["id"], "state": event["state"], "start": start, "end": end}
    answer: dict[str, Any] = (await pane.post("move", json=sent)).json()
    return answer


async def test_each_end_of_a_moved_flight_keeps_its_own_zone(tools: ToolClient, pane: httpx.AsyncClient) -> None:
    ends = {"start": ("10:00", "Europe/Berlin"), "end": ("12:30", "America/New_York")}
    given = {
        side: json.dumps({"dateTime": f"2027-05-04T{at}:00", "timeZone": zone}) for side, (at, zone) in ends.items()
    }
    await tools.create(summary="Flight", **given)
    (event,) = (await day(pane))["events"]
    assert await move(pane, event, 60, 60) == {"ok": True}
    flight = await tools.get()
    assert flight["start"] == {"dateTime": "2027-05-04T11:00:00+02:00", "timeZone": "Europe/Berlin"}
    assert flight["end"] == {"dateTime": "2027-05-04T19:30:00+02:00", "timeZone": "America/New_York"}


async def test_one_day_of_a_series_is_moved(tools: ToolClient, pane: httpx.AsyncClient) -> None:
    await tools.create(recurrence=["RRULE:FREQ=DAILY;COUNT=3"], timeZone="Europe/Berlin")
    (event,) = (await day(pane, "2027-05-05"))["events"]
    assert await move(pane, event, 30, 30) == {"ok": True}
    found = [(await day(pane, f"2027-05-0{n}"))["events"][0]["from"] for n in (4, 5, 6)]
    assert found == ["10:00", "10:30", "10:00"]


async def test_moves_that_cannot_be_made_are_refused_in_words(
    tools: ToolClient, other: OtherProgram, pane: httpx.AsyncClient
) -> None:
    await other.put(
        "x", "UID:theirs", "SUMMARY:Board", "DTSTART:20270504T080000Z", "DURATION:PT1H", "ORGANIZER:mailto:boss@b.org"
    )
    (event,) = (await day(pane))["events"]
    assert event["movable"] is False
    assert "organizer" in (await move(pane, event, 30, 30))["error"]
    await other.delete("x")
    gone = await move(pane, event, 30, 30)
    assert gone == {"ok": False, "error": "This event is no longer on the calendar, so it was not moved."}
    answer = await pane.post("move", json={"id": event["id"]})
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("Send the id and the state of an event")
