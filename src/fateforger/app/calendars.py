"""Calendars of people: the configured one is its owner's, and nobody else reads or writes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from fateforger.calendar.access import read_day
from fateforger.calendar.missing import MissingCalendar
from fateforger.calendar.model import Ledger, Snapshot
from fateforger.calendar.ports import Calendar, DayReads, Journal
from fateforger.calendar.submitter import CalendarSubmitter
from fateforger.workers.people import Ownership


@dataclass(frozen=True, slots=True)
class OpenCalendar:
    """A calendar with its engine. ``reads`` leave most of the request budget to the reads that people wait for."""

    engine: CalendarSubmitter
    reads: DayReads
    journal: Journal

    @property
    def writing(self) -> bool:
        return self.engine.writing

    async def read(self, day: date, tz: str) -> tuple[Snapshot, Ledger]:
        """Read a day in the background. Raises ``WorldError``."""
        return await read_day(self.reads, self.journal, day, tz)

    async def late(self) -> tuple[str, ...]:
        """Return a sentence for each event that reached the calendar after its undo."""
        return await self.engine.late(self.reads)


@dataclass(frozen=True, slots=True)
class PersonCalendars:
    """Implements :class:`fateforger.conversation.calendars.Calendars`.

    The owner has the ``configured`` calendar. ``build_engine`` returns the engine of a calendar.
    """

    configured: OpenCalendar
    ownership: Ownership
    build_engine: Callable[[Calendar], CalendarSubmitter]

    async def of(self, user_id: str) -> CalendarSubmitter:
        return (await self.watched(user_id)).engine

    async def watched(self, user_id: str) -> OpenCalendar:
        if (await self.ownership.owner()).person == user_id:
            return self.configured
        missing = MissingCalendar(f"none:{user_id}")
        return OpenCalendar(self.build_engine(missing), missing, self.configured.journal)
