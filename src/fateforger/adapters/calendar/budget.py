"""The cost of tool calls in requests to Google, and the budget they are reserved from.

One tool call is not one request: an update takes three, and the server repeats requests that Google does not answer.
The table holds for google-calendar-mcp 2.6.3 and calls as :mod:`~fateforger.adapters.calendar.wire` builds them.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Protocol, Self

from fateforger.calendar.ports import Login, Quota, RequestLimit, Reservation, Settlement
from fateforger.calendar.refusals import RefusalKind
from fateforger.errors import StoreError
from fateforger.text import mark_message

log = logging.getLogger(__name__)

MOST_A_MINUTE = 200
"""The most requests to Google for one login in any minute."""
GOOGLE_LIMIT = RequestLimit(requests=180)
"""The most requests to reserve. The rest covers repetitions by the server, which are known only afterwards."""
WHY_WAIT = mark_message("Google allows 200 requests a minute")

_COSTS = {"update-event": 3}
_REPEATED = frozenset({"list-calendars", "list-events", "get-event", "delete-event", "manage-accounts"})
_TRIES = 4
"""Tries of the server for a request that fails for a temporary reason, unless it is a POST or PATCH."""


def get_cost(tool: str) -> int:
    """Return the number of requests to Google for one successful call."""
    return _COSTS.get(tool, 1)


class Allowance:
    """Requests reserved for one call, or for all calls of one write.

    Leaving the block returns the unused requests, unless a call was not answered: its requests may still arrive.
    """

    def __init__(self, reserved: int, hand_back: Callable[[int], None] | None = None) -> None:
        self.reserved = reserved
        self._hand_back = hand_back
        self._spent = 0
        self._unanswered = 0

    def pay(self, tool: str) -> None:
        """Count a call that is about to be made."""
        self._unanswered += 1
        self._spent += get_cost(tool)

    def count_answer(self, tool: str, refusal: RefusalKind | None = None) -> None:
        """Count an answer, including the server's repetitions before it gave up."""
        self._unanswered -= 1
        if tool in _REPEATED and refusal in (RefusalKind.TROUBLE, RefusalKind.LIMITED):
            self._spent += (_TRIES - 1) * get_cost(tool)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._hand_back is not None and not self._unanswered:
            self._hand_back(self._spent)


class RequestBudget(Protocol):
    """The requests a login may still make to Google."""

    async def reserve(self, requests: int, *, background: bool = False) -> Allowance | float:
        """Return an allowance, or the seconds to wait until one is available. Raises ``StoreError``."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait for the budget to recover."""
        ...

    async def aclose(self) -> None:
        """Record what is not recorded yet, if possible."""
        ...


class NoBudget:
    """The budget of a local calendar: nothing is counted."""

    async def reserve(self, requests: int, *, background: bool = False) -> Allowance:
        del background
        return Allowance(requests)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def aclose(self) -> None:
        """Do nothing, since nothing was counted."""


class LoginBudget:
    """The budget of one login, kept in the database and shared by all processes and replicas.

    A call counts from before it starts until a minute after it ends, because its requests may arrive at any time in
    between. Any minute Google looks at therefore holds at most the limit, except for repetitions of calls that are
    failing at that moment. The actual cost of a call is recorded with the next reservation, so each write to the
    calendar costs one write to the database. ``now`` returns seconds of a monotonic clock.
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
            wait = await self._quota.reserve(self._login, wanted, self._limit, settled=self._build_settlements(ended))
        except BaseException:  # also when cancelled, the settlements are still to be recorded
            self._ended += ended  # recording a settlement twice is harmless
            raise
        return wait or Allowance(requests, lambda spent: self._ended.append((wanted.id, spent, self._now())))

    async def sleep(self, seconds: float) -> None:
        await self._sleep(seconds)

    async def aclose(self) -> None:
        ended, self._ended = self._ended, []
        try:
            await self._quota.settle(self._limit, self._build_settlements(ended))
        except StoreError as error:  # nothing is lost: unsettled requests expire by themselves
            log.warning("the last requests to the calendar count longer than they need to: %s", error.message)

    def _build_settlements(self, ended: list[tuple[str, int, float]]) -> list[Settlement]:
        now = self._now()
        return [Settlement(each, spent, max(0.0, now - at)) for each, spent, at in ended]
