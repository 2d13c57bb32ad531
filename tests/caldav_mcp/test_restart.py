"""Everything that was confirmed is kept: after closing, after killing, in another zone, on another port."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client
from tests.caldav_mcp.clients import creation, open_tools, over_mcp

from caldav_mcp.__main__ import main


async def test_closing_and_opening_keeps_everything(tmp_path: Path) -> None:
    """S237"""
    async with open_tools(tmp_path) as tools:
        kept = await tools.create(description="d", colorId="9", extendedProperties={"private": {"a": "1"}})
        await tools.create("planfocus00002")
        await tools.delete("planfocus00002")
        await tools.create("planfocus00003")
        first_url = tools.calendar.caldav_url
    async with open_tools(tmp_path) as tools:
        link = kept["htmlLink"].replace(first_url, tools.calendar.caldav_url)
        assert await tools.day() == [kept | {"htmlLink": link}, await tools.get("planfocus00003")]
        assert (await tools.get("planfocus00002"))["status"] == "cancelled"
        assert (await tools.expect_refusal("create-event", **creation("planfocus00002"))).startswith(
            "Event ID 'planfocus00002'"
        )


async def test_the_calendar_takes_the_zone_it_is_opened_with(tmp_path: Path) -> None:
    async with open_tools(tmp_path) as tools:
        await tools.create()
    async with open_tools(tmp_path, time_zone="Asia/Tokyo") as tools:
        assert (await tools.ok("list-calendars"))["calendars"][0]["timeZone"] == "Asia/Tokyo"
        assert (await tools.get())["start"] == {"dateTime": "2027-05-04T17:00:00+09:00", "timeZone": "Europe/Berlin"}


async def test_two_at_the_same_time_share_one_store(tmp_path: Path) -> None:
    async with open_tools(tmp_path) as one, open_tools(tmp_path) as other:
        await one.create()
        assert await other.titles() == ["Plan work"]
        for title in ("One", "Two", "Six"):
            await one.update(summary=title)
            assert await other.titles() == [title]
            await other.update(summary=title[::-1])
            assert (await one.get())["summary"] == title[::-1]
        await other.delete()
        assert (await one.get())["status"] == "cancelled"


async def test_closing_twice_is_closing_once(tmp_path: Path) -> None:
    async with open_tools(tmp_path) as tools:
        await tools.calendar.aclose()
        refusal = await tools.expect_refusal("list-events", calendarId="primary")
    assert refusal.endswith("failed, reason: the calendar was closed")


async def test_an_unknown_zone_is_said(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Mars/Olympus is not a time zone"):
        async with open_tools(tmp_path, time_zone="Mars/Olympus") as _:
            pass


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """Yield the program over HTTP, and the address that it prints."""
    arguments = [
        "-m",
        "caldav_mcp",
        "--http",
        "0",
        "--data",
        str(folder),
        "--time-zone",
        "Europe/Berlin",
    ]
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, stderr=asyncio.subprocess.PIPE)
    assert process.stderr is not None
    try:
        told = (await asyncio.wait_for(process.stderr.readline(), 60)).decode()
        address = re.search(r"MCP at (\S+),", told)
        assert address is not None, told
        yield process, address[1]
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGINT)
        await asyncio.wait_for(process.wait(), 60)


@pytest.mark.process
async def test_killing_loses_nothing_that_was_answered(tmp_path: Path) -> None:
    """S237"""
    answered: dict[str, str] = {}
    enough = asyncio.Event()

    async def write(url: str) -> None:
        async with Client(url) as client:
            call = over_mcp(client)
            for n in range(10_000):
                event_id = f"event{n:05d}"
                if not (await call("create-event", creation(event_id, summary=str(n)))).is_error:
                    answered[event_id] = "confirmed"
                if (
                    n % 3 == 0
                    and not (await call("delete-event", {"calendarId": "primary", "eventId": event_id})).is_error
                ):
                    answered[event_id] = "cancelled"
                if len(answered) == 12:
                    enough.set()

    async with running(tmp_path) as (process, url):
        writing = asyncio.create_task(write(url))
        await asyncio.wait_for(enough.wait(), 60)
        os.kill(process.pid, signal.SIGKILL)
        await asyncio.wait({writing})
        assert writing.exception() is not None
    async with open_tools(tmp_path) as tools:
        assert {event_id: (await tools.get(event_id))["status"] for event_id in answered} == answered


@pytest.mark.process
async def test_the_program_ends_when_it_is_interrupted(tmp_path: Path) -> None:
    async with running(tmp_path) as (process, _):
        process.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(process.wait(), 60) == 0


@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        (["--time-zone", "Mars/Olympus"], 2, "Mars/Olympus is not a time zone. Use an IANA name like Europe/Berlin.\n"),
        (
            ["--caldav-url", "http://127.0.0.1:9/"],
            3,
            "The calendar cannot be opened: request to http://127.0.0.1:9/ failed, reason: connect ECONNREFUSED\n",
        ),
    ],
)
def test_what_cannot_be_opened_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], status: int, sentence: str
) -> None:
    assert main(["--http", "0", "--data", str(tmp_path), *arguments]) == status
    assert capsys.readouterr() == ("", sentence)
