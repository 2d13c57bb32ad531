"""Telling the workers of this process that a lane may have work."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from contextlib import suppress


class Wakeups:
    """Counts the news of each lane, and remembers up to which news a lane was found to have nothing to do. So news
    that arrives between looking and waiting is not lost, however many workers look. For one event loop."""

    def __init__(self) -> None:
        self._news: Counter[str] = Counter()
        self._idle_at: Counter[str] = Counter()
        self._waiting: defaultdict[str, set[asyncio.Future[None]]] = defaultdict(set)

    def news(self, lane: str) -> int:
        """How much has been announced; to be read before looking for work."""
        return self._news[lane]

    def announce(self, lane: str) -> None:
        """There may be work that was not there before."""
        self._news[lane] += 1
        for future in self._waiting.pop(lane, ()):
            if not future.done():
                future.set_result(None)

    def nothing_to_do(self, lane: str, news: int) -> None:
        """Somebody looked when there was so much news, and found no work."""
        self._idle_at[lane] = max(self._idle_at[lane], news)

    async def wait(self, lane: str, seconds: float) -> None:
        """Return when there are news that nobody has looked at in vain, or after that time."""
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
