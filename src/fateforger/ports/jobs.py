"""Durable jobs, done by lanes of workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

EVER_AFTER = datetime(9999, 1, 1, tzinfo=UTC)
"""Retry time of a job or message that waits for something other than time."""
LONGEST_RETRY = timedelta(minutes=5)
"""The longest wait before another try. A retry that lies further ahead was set by a clock that was set back since."""


@dataclass(frozen=True, slots=True)
class Job:
    """Work to be done once, in order within its ``key``. ``payload`` is JSON."""

    id: int
    lane: str
    key: str
    dedupe: str
    payload: Mapping[str, Any]
    attempts: int
    fence: int


@dataclass(frozen=True, slots=True)
class NewJob:
    """Work to put on a lane.

    A job whose ``dedupe`` was seen on that lane before is not accepted again, with three exceptions. One that
    ``recurs`` is: of its name at most one waits, due at the earliest instant that was asked for. With ``again`` it is
    once it was given up, because its person was told to repeat it. With ``apart`` it is when at least that much time
    has passed since the last one that was accepted. Without ``run_at`` a job is due at once, even if the clock is
    set back before it is claimed.
    """

    lane: str
    key: str
    dedupe: str
    payload: Mapping[str, Any] = field(default_factory=dict)
    run_at: datetime | None = None
    recurs: bool = False
    again: bool = False
    apart: timedelta | None = None


class Jobs(Protocol):
    """Durable work: first in, first out per key; at least once; taken over when a worker dies."""

    async def enqueue(self, job: NewJob, *, now: datetime) -> bool:
        """Durably accept a job; ``False`` when its ``dedupe`` was accepted before, or waits already."""
        ...

    async def was_accepted(self, lane: str, dedupe: str) -> bool:
        """Check whether a job of that name was accepted during the last days."""
        ...

    async def find_unfinished(self, lane: str, dedupe: str) -> Job | None:
        """Return the job of that name while it waits or runs, otherwise ``None``."""
        ...

    async def list_unfinished(self, lane: str, key: str) -> tuple[Job, ...]:
        """Return the jobs of that key that wait or run."""
        ...

    async def count_unfinished(self, lane: str, key: str) -> int:
        """Return how many jobs of that key wait or run."""
        ...

    async def claim(self, lane: str, owner: str, *, now: datetime, lease_seconds: float) -> Job | None:
        """Claim the next job of the lane that is due and has no unfinished earlier job with its key.

        ``owner`` names this process. A claim is lost when its process was not heard of for the seconds of its lease: a
        process is heard of when it claims, and when it extends a claim.
        """
        ...

    async def extend(self, job: Job, *, now: datetime, lease_seconds: float) -> bool:
        """Extend a claim; return ``False`` if it was lost to another worker."""
        ...

    async def finish(self, job: Job) -> bool:
        """Complete a job; return ``False`` if the claim was lost."""
        ...

    async def retry(self, job: Job, error: str, *, run_at: datetime, now: datetime) -> bool:
        """Put the job back for a later try; the later jobs of its key wait for it."""
        ...

    async def bury(self, job: Job, error: str) -> bool:
        """Give the job up, and let the later jobs of its key proceed; it is kept for inspection."""
        ...

    async def get_share(self, owner: str) -> tuple[int, int]:
        """Return the place of this process among those that are alive, from zero, and their number.

        For work that they divide. While one comes or goes, two may have the same place for some seconds.
        """
        ...

    async def count_programs(self) -> int:
        """Return how many programs are alive, this one included."""
        ...

    async def listen(self, lanes: Iterable[str], on_news: Callable[[str], None]) -> None:
        """Let :meth:`wait` notice jobs of these lanes that other processes enqueue, if the queue can tell of them.

        ``on_news`` is called with the lane for each of them. This goes on until it is cancelled. Raises
        ``StoreUnavailable`` when the queue cannot tell any more.
        """
        ...

    async def wait(self, lane: str, *, seconds: float) -> None:
        """Return as soon as new work may be there, or after that time."""
        ...
