"""Announcements of new work to the workers of this process."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from contextlib import suppress


class Wakeups:
    """Counts announcements per lane, and the count at which a lane was last found empty.

    An announcement that arrives between looking and waiting is therefore not lost, however many workers look. For use
    in one event loop.
    """

    def __init__(self) -> None:
        self._news: Counter[str] = Counter()
        self._idle_at: Counter[str] = Counter()
        self._waiting: defaultdict[str, set[asyncio.Future[None]]] = defaultdict(set)

    def news(self, lane: str) -> int:
        """Return the number of announcements; read it before looking for work."""
        return self._news[lane]

    def announce(self, lane: str) -> None:
        """Announce that a lane may have new work."""
        self._news[lane] += 1
        for future in self._waiting.pop(lane, ()):
            if not future.done():
                future.set_result(None)

    def nothing_to_do(self, lane: str, news: int) -> None:
        """Record that a worker found no work after ``news`` announcements."""
        self._idle_at[lane] = max(self._idle_at[lane], news)

    async def wait(self, lane: str, seconds: float) -> None:
        """Return on an announcement that no worker has followed up in vain, or after that many seconds."""
        if self._news[lane] > self._idle_at[lane]:
            return
        future = asyncio.get_running_loop().create_future()
        self._waiting[lane].add(future)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await future
        finally:
            self._waiting[lane].discard(future)
