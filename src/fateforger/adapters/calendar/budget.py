"""How many requests to Google a login may cost in a minute, counted as Google counts them.

A tool call is not one request: an update is three, and what Google does not answer the server asks again. The table is
that of google-calendar-mcp 2.6.3 for calls as :mod:`~fateforger.adapters.calendar.arguments` writes them.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from fateforger.adapters.calendar.refusals import Refusal

MINUTE = 60.0
MOST_A_MINUTE = 200
"""What one login may cost in any minute, whatever runs on this machine."""

_ROUNDING = 1e-9
"""Sums of seconds are not exact: who waited as told has waited long enough."""

_COSTS = {"update-event": 3}
_REPEATED = frozenset({"list-calendars", "list-events", "get-event", "delete-event", "manage-accounts"})
_TRIES = 4
"""How often the server asks Google, when that fails for a reason that may pass and the call is no POST or PATCH."""


def cost_of(tool: str) -> int:
    """Requests to Google for one call that goes well."""
    return _COSTS.get(tool, 1)


@dataclass(slots=True)
class Spending:
    """A call under way, and what it costs as far as is known."""

    cost: int

    def failed(self, tool: str, refusal: Refusal) -> None:
        """The server may have asked again and again before it gave up."""
        if tool in _REPEATED and refusal in (Refusal.TROUBLE, Refusal.LIMITED):
            self.cost = _TRIES * cost_of(tool)


class RequestBudget:
    """``most`` requests in any minute; ``None`` counts nothing. ``now`` gives seconds that only grow.

    A call counts from its beginning until a minute after its end, since nobody knows when in between its requests
    arrive. So whichever minute Google looks at, no more than ``most`` fall into it (but for the repetitions of calls
    that are failing right then).
    """

    def __init__(
        self,
        most: int | None,
        *,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.sleep = sleep
        self._most = most
        self._now = now
        self._under_way = 0
        self._ended: deque[tuple[float, int]] = deque()

    def wait_for(self, cost: int) -> float:
        """Seconds until so many more requests may begin, as far as can be said now; 0 means at once."""
        if self._most is None:
            return 0.0
        now = self._now()
        while self._ended and self._ended[0][0] + MINUTE <= now + _ROUNDING:
            self._ended.popleft()
        over = self._under_way + sum(spent for _, spent in self._ended) + cost - self._most
        wait = 0.0
        for ended, spent in self._ended:
            if over <= 0:
                return wait
            over -= spent
            wait = ended + MINUTE - now
        return wait if over <= 0 else MINUTE

    @contextmanager
    def spending(self, cost: int) -> Iterator[Spending]:
        """Count a call for as long as the block runs, and for a minute after."""
        spending = Spending(cost)
        self._under_way += cost
        try:
            yield spending
        finally:
            self._under_way -= cost
            if self._most is not None:
                self._ended.append((self._now(), spending.cost))
