"""Time limits, retries and concurrency of writing to a calendar."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Limits:
    """All durations are in seconds, except ``roll_forward`` and ``window_after``."""

    concurrency: int = 4
    attempts: int = 4
    """The number of tries of one write, or of one read that has to succeed."""
    backoff_first: float = 0.5
    backoff_most: float = 8.0
    waiting_budget: float = 90.0
    """The total wait of one transaction for a calendar that wants fewer requests or does not answer: longer than the
    minute after which calendars accept requests again."""
    fresh_for: float = 10.0
    """The age up to which a read event is used; after that it is read again before it is written to."""
    vouched_for: float = 5.0
    """The age up to which a read event replaces the read that a calendar does before an update."""
    landing_grace: float = 5.0
    """The time in which an unanswered update or delete may still land: longer than any server works on a request."""
    lease_seconds: float = 30.0
    lease_margin: float = 15.0
    """No write starts with less than this left of the lease: longer than any call lasts."""
    lease_wait: float = 5.0
    lease_poll: float = 0.1
    roll_forward: timedelta = timedelta(minutes=15)
    """An interrupted transaction younger than this is finished; an older one is only settled."""
    window_after: timedelta = timedelta(hours=12)
    """The time after the end of the local day up to which the calendar is read: blocks may cross midnight."""
    id_rounds: int = 3
    """The number of tries for blocks whose ids turn out to be used up."""
    history: int = 200
    """The number of transactions an undo reads at first."""
