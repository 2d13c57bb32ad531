"""How long, how often and how many at once, when a calendar is written."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Limits:
    """All durations in seconds, except ``roll_forward``."""

    concurrency: int = 4
    attempts: int = 4
    """How often one write, or one read that has to succeed, is tried."""
    backoff_first: float = 0.5
    backoff_most: float = 8.0
    waiting_budget: float = 90.0
    """How long one transaction may wait for a calendar that wants fewer requests or does not answer: longer than any
    calendar's minute."""
    fresh_for: float = 10.0
    """How long an event counts as known after it was read; then it is read again before it is written to."""
    vouched_for: float = 5.0
    """How long what was read of an event may stand for the look that a calendar takes before an update."""
    landing_grace: float = 5.0
    """How long an unanswered update or delete may still land: longer than any server works on a request."""
    lease_seconds: float = 30.0
    lease_margin: float = 15.0
    """No write starts with less than this left of the lease: longer than any call lasts."""
    lease_wait: float = 5.0
    lease_poll: float = 0.1
    roll_forward: timedelta = timedelta(minutes=15)
    """An interrupted transaction younger than this is finished; an older one is only settled."""
    window_after: timedelta = timedelta(hours=12)
    """How far beyond the end of the local day the calendar is read: blocks may cross midnight."""
    id_rounds: int = 3
    """How often blocks whose ids turn out to be used up are tried again under new ones."""
    history: int = 200
    """How far back undo looks."""
