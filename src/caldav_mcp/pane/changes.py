"""News for open pages: what was changed through the tools, and that something was changed elsewhere."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass
from datetime import date
from zoneinfo import ZoneInfo

from caldav_mcp.collection import Collection
from caldav_mcp.errors import ServiceError
from caldav_mcp.times import Moment

_LOOK_EVERY = 2.0


@dataclass(frozen=True)
class News:
    """`version` differs whenever anything changed.

    `written` counts the changes made through the tools, `day` is that of the last one of them. `is_reachable` is false
    while the calendar does not answer.
    """

    version: str
    written: int
    day: date | None
    is_reachable: bool


class Changes:
    """Counts changes. The calendar itself is asked only while somebody is waiting, at most every 2 seconds."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._era = secrets.token_hex(4)
        self._count = 0
        self._written = 0
        self._last: Moment | None = None
        self._news = asyncio.Event()
        self._looking = asyncio.Lock()
        self._looked_at = float("-inf")
        self._state: str | None = None
        self._is_reachable = True
        self._closed = False

    def close(self) -> None:
        """End all waiting, because the server is about to stop."""
        self._closed = True
        self._advance()

    def note(self, moment: Moment) -> None:
        """Something at that time was written through the tools."""
        self._last = moment
        self._written += 1
        self._advance()

    async def from_now_on(self, zone: ZoneInfo) -> News:
        """Return the news so far, for a page that reads the calendar next."""
        if self._state is None:
            await self._look()
        return self.current(zone)

    def current(self, zone: ZoneInfo) -> News:
        last = self._last
        day = None if last is None else last.day or last.instant.astimezone(zone).date()
        return News(f"{self._era}-{self._count}", self._written, day, self._is_reachable)

    async def after(self, version: str, zone: ZoneInfo, patience: float) -> News:
        """Return the news as soon as they differ from `version`, else what there is after `patience` seconds."""
        deadline = asyncio.get_running_loop().time() + patience
        while not self._closed:
            await self._look()
            news = self.current(zone)
            left = deadline - asyncio.get_running_loop().time()
            if news.version != version or left <= 0:
                return news
            try:
                async with asyncio.timeout(min(left, _LOOK_EVERY)):
                    await self._news.wait()
            except TimeoutError:
                continue
        return self.current(zone)

    async def _look(self) -> None:
        async with self._looking:
            now = asyncio.get_running_loop().time()
            if now - self._looked_at < _LOOK_EVERY:
                return
            self._looked_at = now
            try:
                state = await self._collection.state()
            except ServiceError:
                # The page says so; looking goes on, because a calendar that is away may come back.
                self._note_reachable(is_reachable=False)
                return
            self._note_reachable(is_reachable=True)
            if self._state is not None and state != self._state:
                self._advance()
            self._state = state

    def _note_reachable(self, *, is_reachable: bool) -> None:
        if is_reachable != self._is_reachable:
            self._is_reachable = is_reachable
            self._advance()

    def _advance(self) -> None:
        self._count += 1
        self._news.set()
        self._news = asyncio.Event()
