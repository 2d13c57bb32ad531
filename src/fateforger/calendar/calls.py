"""Calls of calendars: budgets that they share, and counts by provider, operation and result."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Protocol

from fateforger.metrics import CALENDAR_CALLS
from fateforger.ports.traces import trace
from fateforger.text import mark_message

ASKED_OFTEN = mark_message("I have asked very often in the last minutes")
"""The reason for which a request was not sent, for use inside a sentence about the provider."""
PATIENCE_SECONDS = 5.0
"""The longest wait of a read for its budget, before it is refused."""


class Purpose(Enum):
    """The purpose of a request. Its value is the share of a bucket that is left to more urgent ones."""

    WRITE = 0.0
    READ = 0.1
    BACKGROUND = 0.5


def find_purpose(method: str, *, background: bool) -> Purpose:
    """Return the purpose of an HTTP request."""
    if background:
        return Purpose.BACKGROUND
    return Purpose.READ if method == "GET" else Purpose.WRITE


@dataclass(frozen=True, slots=True)
class TokenBucket:
    """At most ``size`` requests at once, and ``per_second`` more as time passes.

    The state of a bucket is the instant at which it is full again; one without state is full. In any span of seconds
    it gives no more than ``size + seconds * per_second``.
    """

    name: str
    size: float
    per_second: float

    def clip(self, full_at: datetime, now: datetime) -> datetime:
        """Return the instant, no later than for an empty bucket: a clock may have been set back since it was kept."""
        return min(max(full_at, now), now + timedelta(seconds=self.size / self.per_second))

    def compute_wait(self, full_at: datetime, now: datetime, purpose: Purpose) -> float:
        """Return the seconds until a request may be made; 0 means now."""
        missing = (full_at - now).total_seconds() * self.per_second
        most = self.size * (1 - purpose.value)
        return max(0.0, (missing + 1 - most) / self.per_second)

    def take(self, full_at: datetime) -> datetime:
        """Return the instant at which the bucket is full again after one more request."""
        return full_at + timedelta(seconds=1 / self.per_second)


class Buckets(Protocol):
    """The state of token buckets, shared by all programs on a database. Raises ``StoreError``."""

    async def take(self, buckets: tuple[TokenBucket, ...], purpose: Purpose) -> float:
        """Take one request from all buckets and return 0, or take none and return the seconds until that may work.

        The first bucket is an account's, the last one the widest.
        """
        ...


class Budget(Protocol):
    """The requests that may still be made for one account."""

    async def spend(self, purpose: Purpose) -> float:
        """Pay for one request and return 0; otherwise return the seconds to wait. Raises ``StoreError``."""
        ...


class Unlimited:
    """Counts nothing."""

    async def spend(self, purpose: Purpose) -> float:
        del purpose
        return 0.0


class SharedBudget:
    """The budget of one account.

    A read waits a little until there is room. A write never does: its caller has to keep a lease meanwhile, and tells
    the person. Nor does a read in the background, which comes again anyway.
    """

    def __init__(
        self,
        store: Buckets,
        *buckets: TokenBucket,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._store = store
        self._buckets = buckets
        self._sleep = sleep

    async def spend(self, purpose: Purpose) -> float:
        patience = PATIENCE_SECONDS if purpose is Purpose.READ else 0.0
        while True:
            wait = await self._store.take(self._buckets, purpose)
            if wait <= 0 or wait > patience:
                return wait
            patience -= wait
            await self._sleep(wait)


OK = "ok"
NO_ANSWER = "no_answer"


@dataclass(slots=True)
class Call:
    """A call that is going on. ``code`` is ``ok``, a status, or a name of the code; never a text of the calendar."""

    code: str = NO_ANSWER


@contextmanager
def count_call(provider: str, operation: str) -> Iterator[Call]:
    """Count the call of the block; the block sets the code. One that never ends with an answer counts as such."""
    call = Call()
    with trace("calendar", provider=provider, operation=operation) as span:
        try:
            yield call
        finally:
            span.set_attribute("code", call.code)
            CALENDAR_CALLS.labels(provider, operation, call.code).inc()
