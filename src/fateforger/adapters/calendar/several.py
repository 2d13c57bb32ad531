"""One calendar to write to, and others of the same login to plan around."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from fateforger.adapters.calendar.arguments import resolve_start
from fateforger.adapters.calendar.calendar import McpCalendar
from fateforger.adapters.calendar.choosing import choose_read
from fateforger.adapters.calendar.directory import CalendarEntry
from fateforger.errors import CalendarError, CalendarUnreachable
from fateforger.ports import CalendarTraits, Outcome, Window
from fateforger.sync.model import PLAIN, EventExtras, EventFields, EventImage, Marker, OwnedId

LIST_KEPT_SECONDS = 600.0
"""Seconds for which the list of calendars is cached."""


class SeveralCalendars:
    """The calendar port that writes to ``main`` and reads other calendars as well.

    An event of another calendar can never be mistaken for ours: it has an id of another form and no marker (see
    :meth:`EventImage.elsewhere`), and every write and every read by id goes to ``main`` only. A meeting that is on
    several calendars is returned once. If any calendar cannot be read there is no answer at all, since its time would
    seem to be free.
    """

    def __init__(self, main: McpCalendar, wanted: str, *, now: Callable[[], float] = time.monotonic) -> None:
        """Take ``wanted`` as in :func:`~fateforger.adapters.calendar.choosing.choose_read`; resolve it on first use."""
        self._main = main
        self._wanted = wanted
        self._now = now
        self._known: tuple[float, tuple[CalendarEntry, ...]] | None = None

    def in_background(self) -> SeveralCalendars:
        """Return the same calendars for background reads."""
        return SeveralCalendars(self._main.in_background(), self._wanted, now=self._now)

    @property
    def key(self) -> str:
        return self._main.key

    @property
    def traits(self) -> CalendarTraits:
        return self._main.traits

    async def window(self, start: datetime, end: datetime) -> Window:
        others = await self._list_others()
        own, *rest = await asyncio.gather(
            self._main.window(start, end), *(self._read_window(other, start, end) for other in others)
        )
        events = [*own, *drop_copies(own, (event for events in rest for event in events))]
        zone = self._main.time_zone
        ordered = sorted(events, key=lambda event: (resolve_start(event.start, zone), event.id))
        return Window(ordered, (title for window in (own, *rest) for title in window.left_out))

    async def get(self, event_id: str) -> EventImage | None:
        return await self._main.get(event_id)

    async def create(
        self, event_id: OwnedId, fields: EventFields, marker: Marker, extras: EventExtras = PLAIN
    ) -> Outcome:
        return await self._main.create(event_id, fields, marker, extras)

    async def update(
        self,
        event_id: OwnedId,
        changes: Mapping[str, Any],
        marker: Marker,
        *,
        expect: str | None = None,
        seen: EventImage | None = None,
    ) -> Outcome:
        return await self._main.update(event_id, changes, marker, expect=expect, seen=seen)

    async def delete(self, event_id: OwnedId, *, expect: str | None = None) -> Outcome:
        return await self._main.delete(event_id, expect=expect)

    async def aclose(self) -> None:
        await self._main.aclose()

    async def _list_others(self) -> tuple[CalendarEntry, ...]:
        if self._known is None or self._now() - self._known[0] > LIST_KEPT_SECONDS:
            entries = await self._main.list_calendars()
            self._known = (self._now(), choose_read(entries, self._wanted, written=self._main.calendar_id))
        return self._known[1]

    async def _read_window(self, other: CalendarEntry, start: datetime, end: datetime) -> Window:
        try:
            events = await self._main.for_calendar(other.id).window(start, end)
        except CalendarError as error:
            raise _name_calendar(error, other) from error
        return Window((event.elsewhere(other.id, other.summary) for event in events), events.left_out)


def drop_copies(own: Iterable[EventImage], others: Iterable[EventImage]) -> list[EventImage]:
    """Return the events of other calendars that are not copies of an earlier one.

    The same meeting has the same ``iCalUID`` and the same time. A copy that takes up time is kept even if an earlier
    one was declined.
    """
    kept: list[EventImage] = []
    known: dict[tuple[object, ...], bool] = {}
    for event in own:
        known[_meeting_key(event)] = event.busy or known.get(_meeting_key(event), False)
    for event in others:
        meeting = _meeting_key(event)
        if meeting not in known or (event.busy and not known[meeting]):
            kept.append(event)
            known[meeting] = event.busy
    return kept


def _meeting_key(event: EventImage) -> tuple[object, ...]:
    return event.raw.get("iCalUID") or event.id, event.start, event.end


def _name_calendar(error: CalendarError, other: CalendarEntry) -> CalendarError:
    said = f"I cannot read your calendar “{other.summary}”, so I do not know your whole day. {error.message}"
    if isinstance(error, CalendarUnreachable):
        return CalendarUnreachable(said, where=error.where, retry_after=error.retry_after, reason=error.reason)
    return type(error)(said, where=error.where)
