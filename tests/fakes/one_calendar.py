"""One calendar for everybody."""

from __future__ import annotations

from dataclasses import dataclass

from fateforger.calendar.connections import ConnectionView
from fateforger.conversation.ports import Submitter, WatchedCalendar


@dataclass(frozen=True, slots=True)
class OneCalendar:
    """Implements :class:`fateforger.conversation.ports.Calendars` over the calendar of a single person."""

    submitter: Submitter
    reads: WatchedCalendar | None = None

    async def of(self, user_id: str) -> Submitter:
        del user_id
        return self.submitter

    async def is_connected(self, user_id: str) -> bool:
        del user_id
        return True

    async def describe(self, user_id: str, address: str = "") -> ConnectionView:
        del user_id, address
        return ConnectionView()

    async def join(self, user_id: str, address: str) -> str:
        del user_id, address
        raise NotImplementedError

    async def disconnect(self, user_id: str) -> str:
        del user_id
        raise NotImplementedError

    async def get_watched(self, user_id: str) -> WatchedCalendar:
        del user_id
        assert self.reads is not None
        return self.reads
