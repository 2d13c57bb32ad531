"""The person on the other side of a calendar: what they do in the calendar's own page, or with another program."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any, Protocol
from urllib.parse import urljoin

import httpx
import icalendar
from tests.fakes.google_store import GoogleStore

Moment = datetime | date


class Person(Protocol):
    """Acts on the calendar past the port. Ids are the port's."""

    async def creates(self, event_id: str, summary: str, start: Moment, end: Moment) -> None:
        """Create an event of their own. The id is one that the calendar takes."""
        ...

    async def fills(self, ids: list[str], start: datetime, each: timedelta, apart: timedelta) -> None:
        """Fill the empty calendar with many events of the same length and distance."""
        ...

    async def repeats(self, event_id: str, summary: str, start: datetime, end: datetime, *, days: int) -> None:
        """Create an event of their own on that many days in a row."""
        ...

    async def renames(self, event_id: str, summary: str) -> None: ...

    async def moves(self, event_id: str, by: timedelta) -> None: ...

    async def makes_it_repeat(self, event_id: str) -> None: ...

    async def deletes(self, event_id: str) -> None: ...

    async def copies(self, event_id: str, new_id: str) -> None:
        """Duplicate an event with everything in it."""
        ...


class GooglePerson:
    """In Google's page, over the calendar in memory."""

    def __init__(self, store: GoogleStore) -> None:
        self._store = store

    async def creates(self, event_id: str, summary: str, start: Moment, end: Moment) -> None:
        self._store.user_create(summary, start=start, end=end, event_id=event_id)

    async def fills(self, ids: list[str], start: datetime, each: timedelta, apart: timedelta) -> None:
        for n, event_id in enumerate(ids):
            await self.creates(event_id, "Meeting", start + n * apart, start + n * apart + each)

    async def repeats(self, event_id: str, summary: str, start: datetime, end: datetime, *, days: int) -> None:
        for n in range(days):
            by = timedelta(days=n)
            occurrence = f"{event_id}_{start + by:%Y%m%dT%H%M%SZ}"
            self._store.user_create(summary, start=start + by, end=end + by, event_id=occurrence, series_id=event_id)

    async def renames(self, event_id: str, summary: str) -> None:
        self._store.user_edit(event_id, summary=summary)

    async def moves(self, event_id: str, by: timedelta) -> None:
        image = self._store.live(event_id)
        self._store.user_edit(event_id, start=image.start + by, end=image.end + by)

    async def makes_it_repeat(self, event_id: str) -> None:
        self._store.user_edit(event_id, series_id=event_id, extras={"recurrence": ["RRULE:FREQ=DAILY;COUNT=3"]})

    async def deletes(self, event_id: str) -> None:
        self._store.user_delete(event_id)

    async def copies(self, event_id: str, new_id: str) -> None:
        image = self._store.live(event_id)
        more = {"description": image.description, "color_id": image.color_id, "properties": image.properties}
        self._store.user_create(image.summary, start=image.start, end=image.end, event_id=new_id, **more)


class CalDavPerson:
    """With any CalDAV program: whole objects over HTTP, no ETags."""

    def __init__(self, collection_url: str, client: httpx.AsyncClient) -> None:
        self._url = collection_url
        self._client = client

    async def creates(self, event_id: str, summary: str, start: Moment, end: Moment) -> None:
        await self._put(event_id, new_object(event_id, summary, start, end))

    async def fills(self, ids: list[str], start: datetime, each: timedelta, apart: timedelta) -> None:
        whole = new_object(ids[0], "Meeting", start, start + each)
        for n, event_id in enumerate(ids[1:], start=1):
            begins = start + n * apart
            whole.add_component(new_object(event_id, "Meeting", begins, begins + each).events[0])
        await self._put_at(self._url, whole)

    async def repeats(self, event_id: str, summary: str, start: datetime, end: datetime, *, days: int) -> None:
        calendar = new_object(event_id, summary, start, end)
        calendar.events[0].add("RRULE", {"FREQ": "DAILY", "COUNT": days})
        await self._put(event_id, calendar)

    async def renames(self, event_id: str, summary: str) -> None:
        await self._edit(event_id, SUMMARY=summary)

    async def moves(self, event_id: str, by: timedelta) -> None:
        event = (await self._get(event_id)).events[0]
        await self._edit(event_id, DTSTART=event.start + by, DTEND=event.end + by)

    async def makes_it_repeat(self, event_id: str) -> None:
        await self._edit(event_id, RRULE={"FREQ": "DAILY", "COUNT": 3})

    async def deletes(self, event_id: str) -> None:
        (await self._client.delete(self._href(event_id))).raise_for_status()

    async def copies(self, event_id: str, new_id: str) -> None:
        calendar = await self._get(event_id)
        calendar.events[0]["UID"] = new_id
        await self._put(new_id, calendar)

    async def _edit(self, event_id: str, **changes: Any) -> None:
        calendar = await self._get(event_id)
        event = calendar.events[0]
        for name, value in changes.items():
            event.pop(name, None)
            event.add(name, value)
        await self._put(event_id, calendar)

    async def _get(self, event_id: str) -> icalendar.Calendar:
        answer = (await self._client.get(self._href(event_id))).raise_for_status()
        calendar = icalendar.Calendar.from_ical(answer.text)
        assert isinstance(calendar, icalendar.Calendar)
        return calendar

    async def _put(self, event_id: str, calendar: icalendar.Calendar) -> None:
        await self._put_at(self._href(event_id), calendar)

    async def _put_at(self, url: str, calendar: icalendar.Calendar) -> None:
        headers = {"Content-Type": "text/calendar; charset=utf-8"}
        (await self._client.put(url, content=calendar.to_ical(), headers=headers)).raise_for_status()

    def _href(self, event_id: str) -> str:
        return urljoin(self._url, f"{event_id}.ics")


def new_object(uid: str, summary: str, start: Moment, end: Moment) -> icalendar.Calendar:
    """Return an event as another program writes it."""
    event = icalendar.Event()
    for name, value in (
        ("UID", uid),
        ("DTSTAMP", datetime.fromisoformat("2026-01-01T00:00:00Z")),
        ("SUMMARY", summary),
    ):
        event.add(name, value)
    event.add("DTSTART", start)
    event.add("DTEND", end)
    calendar = icalendar.Calendar()
    calendar.add("VERSION", "2.0")
    calendar.add("PRODID", "-//somebody//another program//EN")
    calendar.add_component(event)
    return calendar
