"""The adapter for CalDAV and a server in one process.

The session with the tools is in memory. Each call of the port's fake is a request to the server here. A person's
actions change the calendar objects, as a phone would. They have the names of
:class:`~tests.fakes.google_store.GoogleStore`, so that the soak judges all calendars alike.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, ParamSpec, TypeVar
from urllib.parse import unquote
from zoneinfo import ZoneInfo

import httpx
import icalendar
from mcp.client._memory import InMemoryTransport
from mcp.server.lowlevel.server import Server
from tests.contracts.calendar_people import new_object
from tests.fakes.caldav_server import USER, CalDavServer, StoredObject
from tests.fakes.google_calendar import Answer, Status, Verb
from tests.fakes.google_store import EventMissing, GoogleStore
from tests.fakes.over_requests import OverRequests
from tests.fakes.quirky_caldav import Habit

from caldav_mcp.collection import About, Collection
from caldav_mcp.colors import EVENT_COLORS
from caldav_mcp.dav import Dav
from caldav_mcp.event_json import Showing, event_json
from caldav_mcp.mcp_server import mcp_server
from caldav_mcp.objects import Resource
from caldav_mcp.register import Register
from caldav_mcp.tools import CalendarTools as LocalTools
from caldav_mcp.tools.calendars import Calendars
from fateforger.adapters.calendar.budget import NoBudget
from fateforger.adapters.calendar.calendars import McpCalendar
from fateforger.adapters.calendar.connection import McpSession
from fateforger.adapters.calendar.tools import CalendarTools
from fateforger.adapters.calendar.wire import Target
from fateforger.adapters.clock import SystemClock
from fateforger.calendar.directory import read_event
from fateforger.calendar.event import EventImage
from fateforger.calendar.ports import Limited, Outcome, Rejected, Unauthorized

OWNER = "owner@example.com"
P = ParamSpec("P")
T = TypeVar("T")
Change = Callable[[icalendar.Event], None]


class CalDavStore(GoogleStore):
    """The objects of a CalDAV calendar in the words of Google's store. Its events are as the tools show them."""

    def __init__(self, server: CalDavServer, time_zone: str = "Europe/Berlin") -> None:
        super().__init__(time_zone)
        self.server = server
        self._images: dict[tuple[StoredObject, bool], EventImage] = {}
        self._events: tuple[int, dict[str, EventImage]] = (-1, {})

    @property
    def events(self) -> dict[str, EventImage]:
        """All events, also deleted ones."""
        if self._events[0] != self.server.writes:
            gone = [self.show(stored, gone=True) for stored in self.server.bin.values()]
            images = [*gone, *map(self.show, self.server.objects.values())]
            self._events = self.server.writes, {image.id: image for image in images}
        return self._events[1]

    @events.setter
    def events(self, value: dict[str, EventImage]) -> None:
        assert not value, "the server holds the events"

    def show(self, stored: StoredObject, *, gone: bool = False) -> EventImage:
        """Return the event, or the whole series."""
        place = (stored, gone)
        if place not in self._images:
            resource = Resource(stored.path, stored.etag, stored.text.replace("\r\n", "\n"))
            showing = Showing("primary", ZoneInfo(self.time_zone), (OWNER,), stored.path, stored.etag)
            image = read_event(event_json(resource.master, resource.event_id, showing))
            self._images[place] = image.model_copy(update={"status": "cancelled"}) if gone else image
        return self._images[place]

    def user_create(
        self,
        summary: str = "Dentist",
        *,
        start: datetime | date,
        end: datetime | date,
        event_id: str | None = None,
        **more: Any,
    ) -> EventImage:
        uid = self._mint() if event_id is None else event_id
        calendar = new_object(uid, summary, self._moment(start), self._moment(end))
        self._apply(calendar.events[0], more)
        return self._write(f"{uid}.ics", calendar)

    def user_edit(self, event_id: str, **changes: Any) -> EventImage:
        stored = self._find(event_id)
        calendar = _parse(stored)
        event = _master(calendar)
        self._apply(event, changes)
        if changes.keys() == {"end"} and isinstance(event.start, datetime):
            event.add("DURATION", event.end - event.start)  # as some programs write it
            event.pop("DTEND")
        _replace(event, "SEQUENCE", int(event.get("SEQUENCE", 0)) + 1)
        return self._write(stored.path, calendar)

    def user_delete(self, event_id: str) -> EventImage:
        return self.show(self.server.delete(self._find(event_id).path), gone=True)

    def user_restore(self, event_id: str) -> EventImage:
        stored = next(s for s in self.server.bin.values() if self.show(s, gone=True).id == event_id)
        return self._write(stored.path, _parse(stored))

    def user_copy(self, event_id: str, *, by: timedelta = timedelta()) -> EventImage:
        """Duplicate an object with everything in it, under another UID."""
        calendar = _parse(self._find(event_id))
        event, uid = _master(calendar), self._mint()
        _replace(event, "UID", uid)
        image = self.live(event_id)
        self._apply(event, {"start": image.start + by, "end": image.end + by})
        return self._write(f"{uid}.ics", calendar)

    def user_repeat(self, event_id: str) -> EventImage:
        stored = self._find(event_id)
        calendar = _parse(stored)
        _replace(_master(calendar), "RRULE", {"FREQ": "DAILY", "COUNT": 3})
        return self._write(stored.path, calendar)

    def _find(self, event_id: str) -> StoredObject:
        found = next((s for s in self.server.objects.values() if self.show(s).id == event_id), None)
        if found is None:
            raise EventMissing(event_id)
        return found

    def _write(self, name: str, calendar: icalendar.Calendar) -> EventImage:
        self._ticks += 1
        stamp = datetime.fromisoformat("2026-01-01T00:00:00Z") + timedelta(seconds=self._ticks)
        for name_of_stamp in ("DTSTAMP", "LAST-MODIFIED"):
            _replace(_master(calendar), name_of_stamp, stamp)
        calendar.add_missing_timezones()
        path = httpx.URL(self.server.url).join(name).path
        return self.show(self.server.put(path, calendar.to_ical().decode()))

    def _moment(self, moment: datetime | date) -> datetime | date:
        """Return a time as a phone writes it: in the person's zone, except in the hour that happens twice."""
        if not isinstance(moment, datetime):
            return moment
        local = moment.astimezone(ZoneInfo(self.time_zone))
        return moment if local.fold else local

    def _apply(self, event: icalendar.Event, given: Mapping[str, Any]) -> None:
        """Set properties, from fields of an image and Google's names of the others."""
        for name, value in given.items():
            match name:
                case "summary" | "description":
                    _replace(event, name.upper(), value)
                case "start" | "end":
                    _replace(event, {"start": "DTSTART", "end": "DTEND"}[name], self._moment(value))
                case "color_id":
                    _replace(event, "COLOR", None if value is None else EVENT_COLORS[value].css)
                case "busy":
                    _replace(event, "TRANSP", "OPAQUE" if value else "TRANSPARENT")
                case "organized_by_me":
                    _replace(event, "ORGANIZER", f"mailto:{OWNER if value else 'boss@example.com'}")
                case "properties":
                    _replace(event, "X-OTHER-PROGRAM", value["crm"])
                case "extras":
                    for what, extra in value.items():
                        _add_extra(event, what, extra)
                case _:
                    raise AssertionError(f"CalDAV has no {name}")

    def _mint(self) -> str:
        return f"{super()._mint().upper()}-PHONE"


def _add_extra(event: icalendar.Event, name: str, value: Any) -> None:
    """Add to an event what another CalDAV program would, in place of Google's own parts."""
    match name:
        case "attendees":
            _replace(event, "ORGANIZER", event.get("ORGANIZER", f"mailto:{OWNER}"))
            for guest in value:
                event.add("ATTENDEE", f"mailto:{guest['email']}", {"PARTSTAT": "NEEDS-ACTION"})
        case "location":
            _replace(event, "LOCATION", value)
        case "reminders":
            alarm = icalendar.Alarm()
            alarm.add("ACTION", "DISPLAY")
            alarm.add("DESCRIPTION", "Reminder")
            alarm.add("TRIGGER", -timedelta(minutes=value["overrides"][0]["minutes"]))
            event.add_component(alarm)
        case "visibility":
            _replace(event, "CLASS", value.upper())
        case "guestsCanModify":
            event.add("CATEGORIES", ["urgent"])
        case "source":
            _replace(event, "URL", value["url"])
        case "hangoutLink":
            event.add("CONFERENCE", value, {"VALUE": "URI"})
        case "attachments":
            event.add("ATTACH", value[0]["fileUrl"])
        case _:
            raise AssertionError(f"CalDAV has no {name}")


def _replace(event: icalendar.Event, name: str, value: object) -> None:
    event.pop(name, None)
    if value is not None:
        event.add(name, value)


def _parse(stored: StoredObject) -> icalendar.Calendar:
    calendar = icalendar.Calendar.from_ical(stored.text)
    assert isinstance(calendar, icalendar.Calendar)
    event = _master(calendar)
    if "DURATION" in event:
        event.add("DTEND", event.end)
        event.pop("DURATION")
    return calendar


def _master(calendar: icalendar.Calendar) -> icalendar.Event:
    return next(event for event in calendar.events if "RECURRENCE-ID" not in event)


class SimulatedCalDav(OverRequests[httpx.Response]):
    """The port, by :class:`McpCalendar` over the tools of ``caldav_mcp`` over a CalDAV server."""

    def open(
        self, server: CalDavServer, now: Callable[[], datetime], sleep: Callable[[float], Awaitable[None]]
    ) -> None:
        self.server = server
        self._dav = Dav(username=USER, password="any", time_limit=60, transport=_Way(self), sleep=sleep)
        self._register = Register(Path(":memory:"))
        self._now = now
        self._tools = LocalTools(self._build_calendars())
        session = McpSession(InProcess(mcp_server(self._tools)), call_seconds=60)
        target = Target("primary", None, self.store.time_zone)
        self.adapter = McpCalendar(CalendarTools(session, NoBudget()), target, key=self._key, write_seconds=600)
        self._session = session

    async def greet(self) -> None:
        """Open the session, after which the traits are known."""
        await self._session.open()

    def restart(self) -> None:
        """Restart the program, which remembers nothing but its register of ids."""
        self._tools.calendars = self._build_calendars()

    async def aclose(self) -> None:
        await super().aclose()
        await self.adapter.aclose()
        await self._dav.__aexit__(None, None, None)
        self._register.close()
        self.server.close()

    async def travel(self, request: httpx.Request) -> httpx.Response:
        verb, event_id = name_request(request)
        body = await request.aread()

        def effect() -> httpx.Response:
            return self.server.answer(request.method, request.url.path, request.headers, body)

        return await self.send(verb, event_id, effect, {"request": request})

    def refuse(self, fault: Answer | Status) -> httpx.Response:
        status = fault if isinstance(fault, Status) else _to_status(fault.outcome)
        headers = {} if status.retry_after is None else {"Retry-After": f"{status.retry_after:g}"}
        return httpx.Response(status.status, headers=headers)

    def is_refusal(self, reply: httpx.Response) -> bool:
        return not reply.is_success

    def _build_calendars(self) -> Calendars:
        zone = ZoneInfo(self.store.time_zone)
        about = About("calendar@caldav.example", "soak", self.server.url, "My calendar", zone)
        return Calendars((Collection(self._dav, about),), (OWNER,), self._register, self._now, lambda moment: None)


@asynccontextmanager
async def opened_caldav(folder: Path, *habits: Habit) -> AsyncIterator[SimulatedCalDav]:
    """Open an empty calendar on a server with those habits."""
    server = CalDavServer(folder, "calendar", habits)
    calendar = SimulatedCalDav(CalDavStore(server), key="caldav", conditional_write=True)
    calendar.open(server, SystemClock().now, asyncio.sleep)
    async with aclosing(calendar):
        await calendar.greet()
        yield calendar


class _Way(httpx.AsyncBaseTransport):
    def __init__(self, calendar: SimulatedCalDav) -> None:
        self._calendar = calendar

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return await self._calendar.travel(request)


@dataclass(frozen=True)
class InProcess:
    """A server of tools in this process."""

    server: Server[Any]
    name: str = "caldav"
    open_seconds: float = 60.0

    def describe(self) -> str:
        return "the calendar server in this process"

    def open_transport(self) -> AbstractAsyncContextManager[Any]:
        return InMemoryTransport(self.server)


class InlineExecutor(ThreadPoolExecutor):
    """Carries out at once what would go to a thread, so that a history is the same each time."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001  as a thread does: the waiting caller gets it
            future.set_exception(error)
        return future


_VERBS: Mapping[str, Verb] = {"GET": "get", "DELETE": "delete"}


def name_request(request: httpx.Request) -> tuple[Verb, str | None]:
    """Return the port's verb for a request, and its event."""
    name = unquote(request.url.path.rpartition("/")[2]).removesuffix(".ics") or None
    if request.method == "PUT":
        return ("create" if "If-None-Match" in request.headers else "update"), name
    return _VERBS.get(request.method, "window"), name


def _to_status(outcome: Outcome) -> Status:
    match outcome:
        case Limited(retry_after=seconds):
            return Status(429, seconds)
        case Unauthorized():
            return Status(401)
        case Rejected():
            return Status(403)
        case _:
            return Status(500)
