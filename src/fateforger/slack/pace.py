"""Rate limit of outgoing messages. Slack allows about one message per second and channel, with short bursts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

MAX_CHANNELS = 5_000


@dataclass(frozen=True, slots=True)
class PacePolicy:
    """Allows ``burst`` messages at once, then ``per_second``."""

    per_second: float = 1.0
    burst: int = 10


UNHURRIED = PacePolicy(per_second=1000.0, burst=1000)
"""For a workspace without limits."""


class Pace:
    """Token bucket per channel. ``timer`` returns seconds, ``sleep`` waits for some."""

    def __init__(
        self,
        policy: PacePolicy | None = None,
        *,
        timer: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._policy = policy or PacePolicy()
        self._timer = timer
        self._sleep = sleep
        self._buckets: dict[str, tuple[float, float]] = {}

    async def wait(self, channel: str) -> None:
        """Wait until one more message may go to the channel."""
        now = self._timer()
        tokens, then = self._buckets.get(channel, (float(self._policy.burst), now))
        tokens = min(float(self._policy.burst), tokens + (now - then) * self._policy.per_second) - 1.0
        if len(self._buckets) >= MAX_CHANNELS:
            self._buckets.clear()
        # A negative number of tokens is a position in the queue.
        self._buckets[channel] = (tokens, now)
        if tokens < 0:
            await self._sleep(-tokens / self._policy.per_second)

    def hold(self, channel: str, seconds: float) -> None:
        """Send nothing to the channel for a number of seconds, because Slack asked to wait."""
        now = self._timer()
        self._buckets[channel] = (0.0, now + seconds)
