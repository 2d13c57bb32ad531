"""Budgets of requests over a database in memory, in a time of their own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from tests.factories.days import Time

from fateforger.adapters.calendar.budget import GOOGLE_LIMIT, LoginBudget
from fateforger.adapters.store.calendars import SqlQuota
from fateforger.adapters.store.store import open_store
from fateforger.calendar.ports import Login, RequestLimit

BEGUN = datetime(2026, 3, 2, 11, 0, tzinfo=UTC)
MINUTE = 60.0


@dataclass
class Seconds:
    """A time that passes only in sleeps."""

    passed: float = 0.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.passed

    def now(self) -> datetime:
        return BEGUN + timedelta(seconds=self.passed)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.passed += seconds


@asynccontextmanager
async def budget_of(most: int, time: Seconds, *, background: int = 50, kept: int = 30) -> AsyncIterator[LoginBudget]:
    """Yield the budget of one login, ``most`` requests a minute."""
    store = open_store(":memory:")
    limit = RequestLimit(most, background=background, kept=kept)
    quota = SqlQuota(store.database, now=time.now)
    yield LoginBudget(quota, Login("google"), limit, now=time, sleep=time.sleep)
    await store.aclose()


@asynccontextmanager
async def budget_in(time: Time, limit: RequestLimit = GOOGLE_LIMIT) -> AsyncIterator[LoginBudget]:
    """Yield the budget of one login, in the time of an engine."""
    store = open_store(":memory:")

    def seconds() -> float:
        return time.instant.timestamp()

    quota = SqlQuota(store.database, now=time.now)
    yield LoginBudget(quota, Login("google"), limit, now=seconds, sleep=time.sleep)
    await store.aclose()
