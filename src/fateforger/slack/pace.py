"""How fast messages may go out. Slack takes about one message a second in a channel, and short bursts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

MAX_CHANNELS = 5_000


@dataclass(frozen=True, slots=True)
class PacePolicy:
    """``burst`` messages at once, then ``per_second``."""

    per_second: float = 1.0
    burst: int = 10


UNHURRIED = PacePolicy(per_second=1000.0, burst=1000)
"""For a workspace that sets no limits."""


class Pace:
    """A bucket of permissions per channel. ``timer`` counts seconds, ``sleep`` waits for some."""

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
        """Until one more message may go to the channel."""
        now = self._timer()
        tokens, then = self._buckets.get(channel, (float(self._policy.burst), now))
        tokens = min(float(self._policy.burst), tokens + (now - then) * self._policy.per_second) - 1.0
        if len(self._buckets) >= MAX_CHANNELS:
            self._buckets.clear()
        # A negative number of tokens is a place in the queue.
        self._buckets[channel] = (tokens, now)
        if tokens < 0:
            await self._sleep(-tokens / self._policy.per_second)

    def hold(self, channel: str, seconds: float) -> None:
        """Slack asked to wait: nothing goes to the channel for so long."""
        now = self._timer()
        self._buckets[channel] = (0.0, now + seconds)
