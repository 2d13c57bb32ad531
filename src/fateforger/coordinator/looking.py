"""Read the calendar in the background, so that a reply waits for it only for a limited time (S39, S40)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from fateforger.errors import WorldError
from fateforger.ports import Clock
from fateforger.sync.model import Ledger, Snapshot

KEPT_FOR = timedelta(seconds=30)
"""Age from which a result is read again."""

Read = Callable[[date, str], Awaitable[tuple[Snapshot, Ledger]]]


@dataclass(frozen=True, slots=True)
class Look:
    """The events of a day and our own writes on it; or the reason why neither is known."""

    snapshot: Snapshot | None = None
    ledger: Ledger | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class _PendingRead:
    at: datetime
    task: asyncio.Task[Look]


class Looker:
    """Reads each day and zone once at a time; concurrent callers share the read."""

    def __init__(self, read: Read, clock: Clock) -> None:
        self._read = read
        self._clock = clock
        self._looks: dict[tuple[date, str], _PendingRead] = {}

    def begin(self, day: date, tz: str, *, fresh: bool = False) -> asyncio.Task[Look]:
        """Return the read in progress or a recent one, otherwise start a new one. ``fresh`` excludes finished reads."""
        known = self._looks.get((day, tz))
        if known is not None and not self._stale(known, fresh=fresh):
            return known.task
        self._looks = {key: look for key, look in self._looks.items() if not self._stale(look, fresh=False)}
        task = asyncio.create_task(self._look(day, tz), name=f"look at {day}")
        self._looks[day, tz] = _PendingRead(self._clock.now(), task)
        return task

    async def wait(self, day: date, tz: str, *, seconds: float, fresh: bool = False) -> Look | None:
        """Return the result of a read, or ``None`` if it takes too long; the read continues."""
        task = self.begin(day, tz, fresh=fresh)
        done, _ = await asyncio.wait({task}, timeout=seconds)
        return task.result() if done else None

    def forget(self, day: date, tz: str) -> None:
        """Discard the result for a day that was written to, because it is out of date."""
        known = self._looks.get((day, tz))
        if known is not None and known.task.done():
            del self._looks[day, tz]

    async def aclose(self) -> None:
        """Stop reading."""
        tasks = [look.task for look in self._looks.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._looks.clear()

    def _stale(self, look: _PendingRead, *, fresh: bool) -> bool:
        if not look.task.done():
            return False
        failed = look.task.cancelled() or look.task.exception() is not None or look.task.result().error is not None
        return fresh or failed or self._clock.now() - look.at > KEPT_FOR

    async def _look(self, day: date, tz: str) -> Look:
        try:
            snapshot, ledger = await self._read(day, tz)
        except WorldError as error:
            return Look(error=error.message)
        return Look(snapshot, ledger)
