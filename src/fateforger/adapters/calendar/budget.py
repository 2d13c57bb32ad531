"""What calls cost in requests to Google, and reserving those before a call is made.

A tool call is not one request: an update is three, and what Google does not answer the server asks again. The table is
that of google-calendar-mcp 2.6.3 for calls as :mod:`~fateforger.adapters.calendar.arguments` writes them.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Protocol, Self

from fateforger.adapters.calendar.refusals import Refusal
from fateforger.errors import StoreError
from fateforger.ports import Login, Quota, RequestLimit, Reservation, Settlement

log = logging.getLogger(__name__)

MOST_A_MINUTE = 200
"""What Google is asked at most, for one login, in any minute."""
GOOGLE_LIMIT = RequestLimit(requests=180)
"""What is reserved at most. The rest is for what the server repeats by itself, which is known only afterwards."""
WHY_WAIT = f"Google allows {MOST_A_MINUTE} requests a minute"

_COSTS = {"update-event": 3}
_REPEATED = frozenset({"list-calendars", "list-events", "get-event", "delete-event", "manage-accounts"})
_TRIES = 4
"""How often the server asks Google, when that fails for a reason that may pass and the call is no POST or PATCH."""


def cost_of(tool: str) -> int:
    """Return the requests to Google for one call that goes well."""
    return _COSTS.get(tool, 1)


class Allowance:
    """Requests that are reserved for one call, or for all calls of one write. Leaving the block hands back what was
    not used, unless a call was not answered: then nobody knows when its requests arrive."""

    def __init__(self, reserved: int, hand_back: Callable[[int], None] | None = None) -> None:
        self.reserved = reserved
        self._hand_back = hand_back
        self._spent = 0
        self._unanswered = 0

    def pay(self, tool: str) -> None:
        """Count a call that begins."""
        self._unanswered += 1
        self._spent += cost_of(tool)

    def answered(self, tool: str, refusal: Refusal | None = None) -> None:
        """Count an answer. The server may have asked again and again before it gave up."""
        self._unanswered -= 1
        if tool in _REPEATED and refusal in (Refusal.TROUBLE, Refusal.LIMITED):
            self._spent += (_TRIES - 1) * cost_of(tool)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._hand_back is not None and not self._unanswered:
            self._hand_back(self._spent)


class RequestBudget(Protocol):
    """What a login may still ask of Google."""

    async def reserve(self, requests: int, *, background: bool = False) -> Allowance | float:
        """Return an allowance, or how many seconds it takes until there may be one. Raises ``StoreError``."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait for the budget."""
        ...

    async def aclose(self) -> None:
        """Record what is not recorded yet, if that can be done."""
        ...


class NoBudget:
    """For a calendar of our own: nothing is counted."""

    async def reserve(self, requests: int, *, background: bool = False) -> Allowance:
        del background
        return Allowance(requests)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def aclose(self) -> None:
        """Nothing was counted."""


class LoginBudget:
    """The budget of one login, kept in the database, so that all processes and replicas share it.

    A call counts from before its beginning until a minute after its end, since nobody knows when in between its
    requests arrive. So whichever minute Google looks at, no more than the limit fall into it (but for the repetitions
    of calls that are failing right then). What a call came to is recorded together with the next reservation, so that
    each write to the calendar costs one to the database. ``now`` gives seconds that only grow.
    """

    def __init__(
        self,
        quota: Quota,
        login: Login,
        limit: RequestLimit = GOOGLE_LIMIT,
        *,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._quota = quota
        self._login = login
        self._limit = limit
        self._now = now
        self._sleep = sleep
        self._ended: list[tuple[str, int, float]] = []

    async def reserve(self, requests: int, *, background: bool = False) -> Allowance | float:
        wanted = Reservation(uuid.uuid4().hex, requests, background)
        ended, self._ended = self._ended, []
        try:
            wait = await self._quota.reserve(self._login, wanted, self._limit, settled=self._settlements(ended))
        except BaseException:
            self._ended += ended  # recording a settlement twice changes nothing
            raise
        return wait or Allowance(requests, lambda spent: self._ended.append((wanted.id, spent, self._now())))

    async def sleep(self, seconds: float) -> None:
        await self._sleep(seconds)

    async def aclose(self) -> None:
        ended, self._ended = self._ended, []
        try:
            await self._quota.settle(self._limit, self._settlements(ended))
        except StoreError as error:  # nothing is lost: what is not settled expires by itself
            log.warning("the last requests to the calendar count longer than they need to: %s", error.message)

    def _settlements(self, ended: list[tuple[str, int, float]]) -> list[Settlement]:
        now = self._now()
        return [Settlement(each, spent, max(0.0, now - at)) for each, spent, at in ended]
