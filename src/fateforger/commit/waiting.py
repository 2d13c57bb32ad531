"""Wait as long as a calendar asks, while keeping the right to write to it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TypeVar

from fateforger.commit.hold import Hold
from fateforger.commit.outside import CommitContext, Wait
from fateforger.errors import CalendarUnreachable
from fateforger.sync.model import EventImage

T = TypeVar("T")


class WaitingReads:
    """The reads of a write that holds the lease.

    When the calendar asks for patience they wait, report it, and keep the lease; only the failed read is repeated.
    ``seen_at`` is the time of the last request for a window.
    """

    def __init__(self, outside: CommitContext, hold: Hold) -> None:
        self.seen_at = outside.clock.now()
        self._outside = outside
        self._hold = hold

    @property
    def key(self) -> str:
        return self._outside.calendar.key

    async def window(self, start: datetime, end: datetime) -> tuple[EventImage, ...]:
        async def request() -> tuple[EventImage, ...]:
            self.seen_at = self._outside.clock.now()
            return await self._outside.calendar.window(start, end)

        return await self._patiently(request)

    async def get(self, event_id: str) -> EventImage | None:
        return await self._patiently(lambda: self._outside.calendar.get(event_id))

    async def _patiently(self, read: Callable[[], Awaitable[T]]) -> T:
        async def wait(pause: Wait) -> None:
            self._outside.told(0, 0, pause)
            await wait_with_lease(pause.seconds, self._outside, self._hold)

        return await read_patiently(read, wait, seconds=self._outside.limits.waiting_budget)


async def read_patiently(
    read: Callable[[], Awaitable[T]], wait: Callable[[Wait], Awaitable[None]], *, seconds: float
) -> T:
    """Read; when the calendar says how long to wait, wait and read again, for so many seconds in all. Raises what the
    read raises."""
    while True:
        try:
            return await read()
        except CalendarUnreachable as error:
            if error.retry_after is None or error.retry_after > seconds:
                raise
            seconds -= error.retry_after
            await wait(Wait(error.retry_after, error.reason))


async def wait_with_lease(seconds: float, outside: CommitContext, hold: Hold) -> None:
    """Sleep, and keep the lease meanwhile."""
    while seconds > 0:
        nap = min(seconds, outside.limits.lease_margin)
        await outside.sleep(nap)
        await hold.ensure()
        seconds -= nap
