"""Calendars without a connection: one that is opened when it is first used, and the one of a person who has none."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from datetime import datetime
from typing import NoReturn, Self, TypeVar

from fateforger.calendar.event import EventImage
from fateforger.calendar.ports import Calendar, CalendarTraits, DayReads, Limited, Outcome, Unauthorized, Write
from fateforger.errors import CalendarAuthFailed, CalendarError, CalendarNotConnected
from fateforger.text import gettext as _
from fateforger.text import mark_message

NOT_CONNECTED = mark_message("You have not connected a calendar, so I can neither read nor change one.")


@dataclass(frozen=True, slots=True)
class MissingCalendar:
    """Answers each read with :class:`CalendarNotConnected` and each write with ``Unauthorized``.

    Implements :class:`fateforger.calendar.ports.Calendar`. With the ``key`` of a calendar that was connected before,
    the history of what was written to it can still be read.
    """

    key: str
    problem: str = ""
    """Why a calendar that was connected is not any more; empty if there was none."""

    @property
    def traits(self) -> CalendarTraits:
        return CalendarTraits()

    def in_background(self) -> Self:
        return self

    async def window(self, start: datetime, end: datetime) -> tuple[EventImage, ...]:
        del start, end
        self._refuse()

    async def get(self, event_id: str) -> EventImage | None:
        del event_id
        self._refuse()

    async def write(self, write: Write) -> Outcome:
        del write
        return Unauthorized(self._reason)

    async def aclose(self) -> None:
        """Do nothing."""

    def _refuse(self) -> NoReturn:
        raise CalendarNotConnected(self._reason)

    @property
    def _reason(self) -> str:
        return self.problem or _(NOT_CONNECTED)


T = TypeVar("T")
Open = Callable[[], AbstractAsyncContextManager[Calendar]]
"""Opens a calendar for as long as the block runs. Raises ``CalendarError``."""
ReportFailure = Callable[[CalendarError], Awaitable[None]]
"""Called with each error of opening or reading a calendar."""


class LazyCalendar:
    """Opens a calendar for the first call, and again after an attempt that failed.

    Implements :class:`fateforger.calendar.ports.Calendar`. ``key`` is known before, so the journal can be read at once.
    """

    def __init__(self, key: str, open_calendar: Open, report_failure: ReportFailure) -> None:
        self._key = key
        self._open = open_calendar
        self._report_failure = report_failure
        self._opening = asyncio.Lock()
        self._calendar: Calendar | None = None
        self._reads: DayReads | None = None
        self._resources = AsyncExitStack()

    @property
    def key(self) -> str:
        return self._key

    @property
    def traits(self) -> CalendarTraits:
        """The calendar's, which the engine asks for after it has read, and until then the least."""
        return CalendarTraits() if self._calendar is None else self._calendar.traits

    def in_background(self) -> DayReads:
        return _BackgroundReads(self)

    async def get_calendar(self) -> Calendar:
        """Return the calendar itself. Raises ``CalendarError``."""
        async with self._opening:
            if self._calendar is None:
                self._calendar = await self.with_report(self._resources.enter_async_context(self._open()))
            return self._calendar

    async def get_reads(self) -> DayReads:
        """Return the calendar's background reads, the same until it is closed. Raises ``CalendarError``."""
        calendar = await self.get_calendar()
        if self._reads is None:
            self._reads = calendar.in_background()
        return self._reads

    async def window(self, start: datetime, end: datetime) -> tuple[EventImage, ...]:
        calendar = await self.get_calendar()
        return await self.with_report(calendar.window(start, end))

    async def get(self, event_id: str) -> EventImage | None:
        calendar = await self.get_calendar()
        return await self.with_report(calendar.get(event_id))

    async def write(self, write: Write) -> Outcome:
        try:
            calendar = await self.get_calendar()
        except CalendarAuthFailed as error:
            return Unauthorized(error.message)
        except CalendarError as error:
            return Limited(reason=error.message)  # nothing was sent
        return await calendar.write(write)

    async def aclose(self) -> None:
        """Close the calendar if it was opened. A later call opens it again."""
        async with self._opening:
            self._calendar = self._reads = None
            await self._resources.aclose()

    async def with_report(self, call: Awaitable[T]) -> T:
        """Await a call of the calendar, and report its failure."""
        try:
            return await call
        except CalendarError as error:
            await self._report_failure(error)
            raise


class _BackgroundReads:
    """The background reads of a calendar that is opened when they are first used."""

    def __init__(self, calendar: LazyCalendar) -> None:
        self._calendar = calendar

    @property
    def key(self) -> str:
        return self._calendar.key

    async def window(self, start: datetime, end: datetime) -> tuple[EventImage, ...]:
        reads = await self._calendar.get_reads()
        return await self._calendar.with_report(reads.window(start, end))

    async def get(self, event_id: str) -> EventImage | None:
        reads = await self._calendar.get_reads()
        return await self._calendar.with_report(reads.get(event_id))
