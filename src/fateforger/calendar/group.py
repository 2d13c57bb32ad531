"""One calendar to write to, and others of the same account that are read along with it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime

from fateforger.calendar.directory import CalendarEntry, choose_read, drop_copies, name_unreadable, resolve_start
from fateforger.calendar.event import EventImage
from fateforger.calendar.ports import AccountCalendar, Calendar, CalendarTraits, DayReads, Outcome, Window, Write
from fateforger.errors import CalendarError, CalendarNotFound

LIST_KEPT_SECONDS = 600.0
"""Seconds for which the list of calendars is kept."""


class GroupReads:
    """Reads the events of a calendar and of ``others``, each meeting once.

    Events of other calendars can never be mistaken for ours (see :meth:`EventImage.elsewhere`). If one of those
    calendars cannot be read there is no answer at all, since its time would seem to be free.
    """

    def __init__(self, main: DayReads, others: Mapping[CalendarEntry, DayReads], *, time_zone: str) -> None:
        self._reads = main
        self._read_along = others
        self._time_zone = time_zone

    @property
    def key(self) -> str:
        return self._reads.key

    async def window(self, start: datetime, end: datetime) -> Window:
        others = {entry: reads.window(start, end) for entry, reads in self._read_along.items()}
        return await read_together(self._reads.window(start, end), others, time_zone=self._time_zone)

    async def get(self, event_id: str) -> EventImage | None:
        return await self._reads.get(event_id)


class CalendarGroup(GroupReads):
    """Writes to ``main``, and reads the events of ``others`` as well.

    Implements :class:`fateforger.calendar.ports.AccountCalendar`. The others share the connections and the notices of
    ``main``, which is the one that is closed.
    """

    def __init__(self, main: AccountCalendar, others: Mapping[CalendarEntry, Calendar], *, time_zone: str) -> None:
        super().__init__(main, others, time_zone=time_zone)
        self._main = main
        self._others = others

    @property
    def traits(self) -> CalendarTraits:
        return self._main.traits

    def in_background(self) -> DayReads:
        others = {entry: calendar.in_background() for entry, calendar in self._others.items()}
        return GroupReads(self._main.in_background(), others, time_zone=self._time_zone)

    async def end_signals(self) -> None:
        await self._main.end_signals()

    async def write(self, write: Write) -> Outcome:
        return await self._main.write(write)

    async def aclose(self) -> None:
        await self._main.aclose()


class ReadChoice:
    """The calendars that a login reads along, chosen by :func:`~fateforger.calendar.directory.choose_read`.

    They are chosen on first use, and again when the list of calendars is :data:`LIST_KEPT_SECONDS` old.
    """

    def __init__(self, wanted: str, *, written: str, now: Callable[[], float] = time.monotonic) -> None:
        self._wanted = wanted
        self._written = written
        self._now = now
        self._known: tuple[float, tuple[CalendarEntry, ...]] | None = None

    async def find(self, list_calendars: Callable[[], Awaitable[Sequence[CalendarEntry]]]) -> tuple[CalendarEntry, ...]:
        """Return the chosen calendars; ``list_calendars`` is called when a list is needed."""
        if not self._wanted.strip():
            return ()
        if self._known is None or self._now() - self._known[0] > LIST_KEPT_SECONDS:
            entries = await list_calendars()
            self._known = (self._now(), choose_read(entries, self._wanted, written=self._written))
        return self._known[1]

    async def read(
        self,
        main: Awaitable[Sequence[EventImage]],
        others: Mapping[CalendarEntry, Awaitable[Sequence[EventImage]]],
        *,
        time_zone: str,
    ) -> Window:
        """Read as :func:`read_together` does; if one is not found, choose the calendars again before the next read."""
        try:
            return await read_together(main, others, time_zone=time_zone)
        except CalendarNotFound:
            self._known = None
            raise


async def read_together(
    main: Awaitable[Sequence[EventImage]],
    others: Mapping[CalendarEntry, Awaitable[Sequence[EventImage]]],
    *,
    time_zone: str,
) -> Window:
    """Return the events of the main calendar and of others, each meeting once.

    Raises ``CalendarError`` if one of them cannot be read, with its name.
    """
    own, *rest = await asyncio.gather(main, *(_read_other(entry, reading) for entry, reading in others.items()))
    events = [*own, *drop_copies(own, (event for events in rest for event in events))]
    ordered = sorted(events, key=lambda event: (resolve_start(event.start, time_zone), event.id))
    return Window(ordered, (title for events in (own, *rest) for title in _list_left_out(events)))


async def _read_other(other: CalendarEntry, reading: Awaitable[Sequence[EventImage]]) -> Window:
    try:
        events = await reading
    except CalendarError as error:
        raise name_unreadable(error, other) from error
    return Window((event.elsewhere(other.id, other.summary) for event in events), _list_left_out(events))


def _list_left_out(events: Sequence[EventImage]) -> tuple[str, ...]:
    return events.left_out if isinstance(events, Window) else ()
