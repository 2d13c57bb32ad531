"""Progress of a command that writes to a calendar, on standard error, so that stdout stays one document."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from fateforger.commit.outside import Wait

QUIET_SECONDS = 1.0
"""A command that takes no longer prints nothing, and lines are at least this far apart."""
PATIENCE_SECONDS = 90.0
"""Seconds a command that only reads waits for its turn."""

T = TypeVar("T")


class ProgressLines:
    """Progress callback of a write (see :class:`fateforger.commit.outside.WriteProgressCallback`) that prints lines.

    It prints each wait when it begins, and the count about once a second.
    """

    def __init__(self, say: Callable[[str], None], now: Callable[[], float] = time.monotonic) -> None:
        self._say = say
        self._now = now
        self._last = now()
        self._said_done = 0
        self._waits_until = -math.inf
        self._spoke = False

    def __call__(self, done: int, of: int, wait: Wait | None = None) -> None:
        counted = f"{done} of {of} written" if of else ""
        if wait is not None:
            self._announce(counted, wait.seconds, wait.reason)
        elif counted and done > self._said_done and self._now() - self._last >= QUIET_SECONDS:
            self._line(f"{counted}.")
            self._said_done = done

    def announce_reading(self) -> None:
        """Say that the calendar is being read, if nothing else was said so far."""
        if not self._spoke:
            self._line("Reading your calendar.")

    async def read_patiently(self, read: Callable[[], Awaitable[T]]) -> T:
        """Read; while the calendar gives a time to wait, wait and read again."""
        from fateforger.commit.waiting import read_patiently  # noqa: PLC0415  heavy

        async def wait(pause: Wait) -> None:
            self._announce("", pause.seconds, pause.reason)
            await asyncio.sleep(pause.seconds)

        return await read_patiently(read, wait, seconds=PATIENCE_SECONDS)

    def _announce(self, counted: str, seconds: float, reason: str) -> None:
        """Announce a wait once, even if several writes share it."""
        until = self._now() + seconds
        if seconds < QUIET_SECONDS or until < self._waits_until + QUIET_SECONDS:
            return
        self._waits_until = until
        head = f"{counted}; waiting" if counted else "Waiting"
        self._line(f"{head} {math.ceil(seconds)} s: {reason.rstrip('.')}.")

    def _line(self, text: str) -> None:
        self._spoke, self._last = True, self._now()
        self._say(text)


@asynccontextmanager
async def show_progress() -> AsyncIterator[ProgressLines]:
    """Print progress on standard error once the block waits or takes longer than a second."""
    lines = ProgressLines(lambda text: click.echo(text, err=True))
    timer = asyncio.get_running_loop().call_later(QUIET_SECONDS, lines.announce_reading)
    try:
        yield lines
    finally:
        timer.cancel()
