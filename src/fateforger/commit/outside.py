"""Everything that carrying out a transaction needs from outside, in one hand."""

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
    """A pause that a write has to make, and why, in a few words."""

    seconds: float
    reason: str


class Told(Protocol):
    """Hears how many events of a transaction are written, and of how many (0 while that is not known), and of each
    wait when it begins. It must not wait and must not fail."""

    def __call__(self, done: int, of: int, wait: Wait | None = None) -> None: ...


def untold(done: int, of: int, wait: Wait | None = None) -> None:
    """Tell nobody."""
    del done, of, wait


@dataclass(frozen=True, slots=True)
class Outside:
    """One calendar with its journal, and time. ``jitter`` gives numbers in [0, 1) that spread retries."""

    calendar: Calendar
    journal: Journal
    clock: Clock
    sleep: Sleep
    jitter: Callable[[], float] = random.random
    limits: Limits = field(default_factory=Limits)
    told: Told = untold

    def pause_before(self, attempt: int, asked: float | None = None) -> float:
        """Seconds to wait before another attempt (0 is the first): what the calendar asked for, else exponential
        with full jitter."""
        if asked is not None:
            return asked
        most = min(self.limits.backoff_most, self.limits.backoff_first * float(2**attempt))
        return most * (0.5 + self.jitter() / 2)
