"""Common parts of the queues: receipts of all accepted jobs, jobs as they are listed, and wakeups."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Index, Text
from sqlalchemy.dialects.postgresql import insert as insert_postgresql
from sqlalchemy.dialects.sqlite import insert as insert_sqlite
from sqlmodel import Field

from fateforger.adapters.store.tables import Base, Instant, table


class JobReceipt(Base, table=True):
    """The name of a job that was accepted; it outlives the job (:mod:`fateforger.adapters.store.store`)."""

    __tablename__ = "job_receipt"
    __table_args__ = (Index("ix_job_receipt_accepted", "accepted_at"),)

    lane: str = Field(primary_key=True, sa_type=Text)
    dedupe: str = Field(primary_key=True, sa_type=Text)
    accepted_at: datetime = Field(sa_type=Instant, sa_column_kwargs={"server_default": "0"})


RECEIPT = table(JobReceipt)


@dataclass(frozen=True, slots=True)
class StoredJob:
    """A job that waits, runs or was given up. ``payload`` is JSON."""

    id: int
    lane: str
    key: str
    payload: str
    is_running: bool


@dataclass(frozen=True, slots=True)
class DeadRow:
    """A job that was given up. ``payload`` is JSON; ``error`` is the last one."""

    id: int
    lane: str
    payload: str
    enqueued_at: datetime
    attempts: int
    error: str


@dataclass(frozen=True, slots=True)
class LaneBacklog:
    """The number of unfinished jobs of a lane, and for how many seconds the oldest of those that are due waits."""

    lane: str
    jobs: int
    seconds: float


def accept(connection: Connection, lane: str, dedupe: str, now: datetime) -> bool:
    """Record the name of a job; return ``False`` if it was accepted before."""
    insert = insert_sqlite if connection.dialect.name == "sqlite" else insert_postgresql
    given = insert(RECEIPT).values(lane=lane, dedupe=dedupe, accepted_at=now).on_conflict_do_nothing()
    return connection.execute(given.returning(RECEIPT.c.lane)).first() is not None


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
