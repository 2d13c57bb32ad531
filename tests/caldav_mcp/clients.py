"""An open local calendar, a client of its tools, and another CalDAV program."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self
from urllib.parse import urljoin

import httpx
from mcp import Client
from mcp_types import TextContent

from caldav_mcp import LocalCalendar, LocalCalendarConfig, open_local_calendar
from caldav_mcp.embedded import EmbeddedRadicale, build_application
from caldav_mcp.tools import Answer

BERLIN = "Europe/Berlin"


START = datetime(2026, 11, 21, 0, 20, 0, 380_000, tzinfo=UTC)


class Clock:
    """A clock that does not move by itself."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> datetime:
        return self.time

    def passes(self, **span: float) -> None:
        self.time += timedelta(**span)


Caller = Callable[[str, dict[str, Any]], Awaitable[Answer]]


def over_mcp(client: Client) -> Caller:
    """Call through a protocol client. Every result has to be one text block and nothing else."""

    async def call(tool: str, arguments: dict[str, Any]) -> Answer:
        result = await client.call_tool(tool, arguments)
        assert result.structured_content is None
        (block,) = result.content
        assert isinstance(block, TextContent)
        return Answer(block.text, is_error=bool(result.is_error))

    return call


@asynccontextmanager
async def open_client(url: str) -> AsyncIterator[Client]:
    """Yield a protocol client.

    A task of its own enters and leaves it, because a fixture is not left by the task that entered.
    """
    ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
    done = asyncio.Event()

    async def hold() -> None:
        async with Client(url) as client:
            ready.set_result(client)
            await done.wait()

    holding = asyncio.create_task(hold())
    yield await ready
    done.set()
    await holding


class ToolClient:
    """Calls tools as a program does. `ok` gives the JSON of a success, `expect_refusal` the text of an error."""

    def __init__(self, call: Caller, calendar: LocalCalendar, clock: Clock) -> None:
        self._call = call
        self.calendar = calendar
        self.clock = clock

    async def ok(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = await self._call(tool, arguments)
        assert not answer.is_error, answer.text
        return answer.data

    async def expect_refusal(self, tool: str, **arguments: Any) -> str:
        answer = await self._call(tool, arguments)
        assert answer.is_error, answer.text
        return answer.text

    async def start_anew(self) -> None:
        """Make the calendar as it was when it was opened first."""
        calendars = self.calendar.tools.calendars
        for resource in await calendars.primary.objects():
            await calendars.primary.remove(resource)
        calendars.register._run("delete from known_event", ())
        self.clock.time = START

    async def create(self, event_id: str = "planfocus00001", **given: Any) -> dict[str, Any]:
        """Create an event without a search for duplicates; by default on Tuesday, 4 May 2027, 10 to 11."""
        answer = await self.ok("create-event", **creation(event_id, **given))
        event: dict[str, Any] = answer["event"]
        return event

    async def get(self, event_id: str = "planfocus00001", **given: Any) -> dict[str, Any]:
        answer = await self.ok("get-event", **{"calendarId": "primary", "eventId": event_id, **given})
        event: dict[str, Any] = answer["event"]
        return event

    async def update(self, event_id: str = "planfocus00001", **given: Any) -> dict[str, Any]:
        answer = await self.ok("update-event", **{"calendarId": "primary", "eventId": event_id, **given})
        event: dict[str, Any] = answer["event"]
        return event

    async def delete(self, event_id: str = "planfocus00001", **given: Any) -> dict[str, Any]:
        return await self.ok("delete-event", **{"calendarId": "primary", "eventId": event_id, **given})

    async def day(self, day: str = "2027-05-04", **given: Any) -> list[dict[str, Any]]:
        """Return the events of a day in the calendar's zone."""
        bounds = {"timeMin": f"{day}T00:00:00", "timeMax": f"{day}T23:59:59"}
        answer = await self.ok("list-events", **{"calendarId": "primary", **bounds, **given})
        events: list[dict[str, Any]] = answer["events"]
        return events

    async def titles(self, day: str = "2027-05-04", **given: Any) -> list[str]:
        return [event["summary"] for event in await self.day(day, **given)]


def creation(event_id: str = "planfocus00001", **given: Any) -> dict[str, Any]:
    times = {"start": "2027-05-04T10:00:00", "end": "2027-05-04T11:00:00"}
    fixed = {"calendarId": "primary", "eventId": event_id, "summary": "Plan work", "calendarsToCheck": []}
    return {**fixed, **times, **given}


PASSWORD = "the password of the embedded calendar"


class OpenRadicale(EmbeddedRadicale):
    """Another CalDAV server, which accepts every login."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        super().__init__(folder, port, password=PASSWORD)
        self._server.set_app(build_application(folder))


class OtherProgram:
    """Any CalDAV program, working on the collection without the tools."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._client = httpx.AsyncClient(auth=("me", PASSWORD), trust_env=False, timeout=60)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def put(self, name: str, *lines: str, zone: str = "") -> None:
        """Store an object with one `VEVENT` of the given lines (or with the whole components that the lines are)."""
        event = (
            lines
            if lines[0].startswith("BEGIN:")
            else ("BEGIN:VEVENT", "DTSTAMP:20260101T000000Z", *lines, "END:VEVENT")
        )
        await self.store(
            name, "\r\n".join(("BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//else//EN", *zone.splitlines(), *event))
        )

    async def store(self, name: str, text: str) -> None:
        if not text.rstrip().endswith("END:VCALENDAR"):
            text += "\r\nEND:VCALENDAR\r\n"
        headers = {"Content-Type": "text/calendar; charset=utf-8"}
        answer = await self._client.put(self._href(name), content=text.encode(), headers=headers)
        answer.raise_for_status()

    async def get(self, name: str = "planfocus00001") -> str:
        return (await self._client.get(self._href(name))).raise_for_status().text

    async def lines(self, name: str = "planfocus00001") -> list[str]:
        """Return the unfolded lines of an object."""
        return (await self.get(name)).replace("\r\n ", "").replace("\n ", "").splitlines()

    async def edit(self, name: str, old: str, new: str) -> None:
        text = await self.get(name)
        assert old in text, text
        await self.store(name, text.replace(old, new))

    async def delete(self, name: str = "planfocus00001") -> None:
        (await self._client.delete(self._href(name))).raise_for_status()

    async def request(self, method: str, path: str, body: str, **headers: str) -> httpx.Response:
        return await self._client.request(method, urljoin(self.url, path), content=body, headers=headers)

    def _href(self, name: str) -> str:
        return urljoin(self.url, f"{name}.ics")


@asynccontextmanager
async def open_tools(folder: Path, clock: Clock | None = None, **config: Any) -> AsyncIterator[ToolClient]:
    """Open a calendar that is kept in a folder, in Berlin's zone by default.

    Its time limit is long, for busy machines.
    """
    clock = clock or Clock()
    fixed = {"data_dir": folder, "time_zone": BERLIN, "request_seconds": 60.0, "radicale_password": PASSWORD}
    settings = LocalCalendarConfig(**{**fixed, **config})
    async with await open_local_calendar(settings, now=clock) as calendar:
        yield ToolClient(calendar.tools.call, calendar, clock)
