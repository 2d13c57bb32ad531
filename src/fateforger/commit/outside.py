"""Dependencies of the commit engine, bundled."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from fateforger.commit.limits import Limits
from fateforger.ports import Calendar, Clock, Journal

Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Wait:
    """A pause in a write, with its reason in a few words."""

    seconds: float
    reason: str


class WriteProgressCallback(Protocol):
    """Callback for the progress of a write.

    It receives the number of events written and their total (0 while unknown), and each wait when it begins. It must
    not block and must not fail.
    """

    def __call__(self, done: int, of: int, wait: Wait | None = None) -> None: ...


def ignore_write_progress(done: int, of: int, wait: Wait | None = None) -> None:
    """Ignore the progress."""
    del done, of, wait


@dataclass(frozen=True, slots=True)
class CommitContext:
    """One calendar with its journal, and time. ``jitter`` returns numbers in [0, 1) that spread retries."""

    calendar: Calendar
    journal: Journal
    clock: Clock
    sleep: Sleep
    jitter: Callable[[], float] = random.random
    limits: Limits = field(default_factory=Limits)
    told: WriteProgressCallback = ignore_write_progress

    def pause_before(self, attempt: int, asked: float | None = None) -> float:
        """Return the seconds to wait before another attempt (0 is the first).

        This is what the calendar asked for, otherwise exponential backoff with jitter.
        """
        if asked is not None:
            return asked
        most = min(self.limits.backoff_most, self.limits.backoff_first * float(2**attempt))
        return most * (0.5 + self.jitter() / 2)
