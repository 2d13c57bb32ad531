"""Slack's limits, kept before Slack enforces them: calls wait for their turn, and calls that people wait for go first.

The tiers are those of Slack's documentation, for one app in one workspace.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from fateforger.metrics import SLACK_CALLS, SLACK_WAIT_SECONDS
from fateforger.ports.traces import Span, trace

WINDOW = 60.0
"""Seconds in which Slack counts the calls of a method."""
TIER_2, TIER_3, TIER_4 = 20, 50, 100
CALLS_PER_WINDOW: Mapping[str, int] = {
    "agents.sessions.rename": TIER_3,
    "agents.sessions.setStatus": TIER_3,
    "assistant.threads.setSuggestedPrompts": TIER_4,
    "chat.appendStream": TIER_4,
    "chat.delete": TIER_3,
    "chat.postEphemeral": TIER_4,
    "chat.startStream": TIER_2,
    "chat.stopStream": TIER_2,
    "chat.update": TIER_3,
    "conversations.history": TIER_3,
    "conversations.open": TIER_3,
    "conversations.replies": TIER_3,
    "files.completeUploadExternal": TIER_4,
    "files.getUploadURLExternal": TIER_4,
    "users.info": TIER_4,
    "views.open": TIER_4,
    "views.publish": TIER_4,
    "views.update": TIER_4,
}
"""Calls of a method in a minute. The others have a limit of their own, such as that of a channel, or none."""
_NO_LIMIT = 1_000_000
UNHURRIED = frozenset({"views.open"})
"""Methods that never wait here: what they need expires within seconds, so trying is better."""

_COSMETIC: ContextVar[bool] = ContextVar("cosmetic", default=False)


@contextmanager
def cosmetic() -> Iterator[None]:
    """Let the calls of this block wait behind all calls that somebody waits for."""
    token = _COSMETIC.set(True)
    try:
        yield
    finally:
        _COSMETIC.reset(token)


class _Turn(NamedTuple):
    cosmetic: bool
    number: int
    granted: asyncio.Future[None]


class MethodLimit:
    """A limit of ``calls`` of one method in a window; turns are granted in order, cosmetic ones last.

    ``timer`` returns seconds.
    """

    def __init__(self, calls: int, *, timer: Callable[[], float] = time.monotonic) -> None:
        self._all = calls
        self._timer = timer
        self.divide(1)
        self._made: deque[float] = deque()
        self._parked_until = 0.0
        self._waiting: list[_Turn] = []
        self._numbers = 0
        self._next: asyncio.TimerHandle | None = None

    def divide(self, programs: int) -> None:
        """Keep to this program's part of the limit, of so many that call the method."""
        self._calls = self._all if programs == 1 else max(self._all // programs, 2)
        self._cosmetic_calls = self._calls // 2

    @property
    def is_free(self) -> bool:
        """True if a call would not have to wait now."""
        cosmetic = _COSMETIC.get()
        is_next = not self._waiting or (self._waiting[0].cosmetic and not cosmetic)
        return is_next and self._is_free(cosmetic=cosmetic)

    def _is_free(self, *, cosmetic: bool) -> bool:
        now = self._timer()
        return now >= self._parked_until and self._count(now) < (self._cosmetic_calls if cosmetic else self._calls)

    @property
    def pause(self) -> float:
        """Seconds until a call is free, if no other call comes before it; zero if one is free now."""
        return 0.0 if self.is_free else self._find_pause(cosmetic=_COSMETIC.get())

    async def wait(self) -> None:
        """Wait for a turn, and count the call."""
        self._numbers += 1
        turn = _Turn(_COSMETIC.get(), self._numbers, asyncio.get_running_loop().create_future())
        heapq.heappush(self._waiting, turn)
        self._grant()
        await turn.granted

    async def wait_until_free(self) -> None:
        """Wait for a turn without counting a call; the call that follows counts itself."""
        await self.wait()
        self._made.pop()

    def park(self, seconds: float) -> None:
        """Make no call for some seconds, because Slack asked for that."""
        self._parked_until = max(self._parked_until, self._timer() + seconds)

    def _count(self, now: float) -> int:
        while self._made and self._made[0] <= now - WINDOW:
            self._made.popleft()
        return len(self._made)

    def _grant(self) -> None:
        """Grant the turns that are free, and come again when the next one will be."""
        while self._waiting and self._is_free(cosmetic=self._waiting[0].cosmetic):
            turn = heapq.heappop(self._waiting)
            if not turn.granted.cancelled():  # the call was given up
                self._made.append(self._timer())
                turn.granted.set_result(None)
        if self._next is not None:
            self._next.cancel()
            self._next = None
        if self._waiting:
            self._next = asyncio.get_running_loop().call_later(
                self._find_pause(cosmetic=self._waiting[0].cosmetic), self._grant
            )

    def _find_pause(self, *, cosmetic: bool) -> float:
        now = self._timer()
        most = self._cosmetic_calls if cosmetic else self._calls
        over = self._count(now) - most
        leaves = self._made[over] + WINDOW if over >= 0 else now
        return max(leaves - now, self._parked_until - now, 0.001)


class SlackLimits:
    """The limits of one workspace: one for each method. With ``keep`` false, only what Slack asks for is kept."""

    def __init__(self, *, keep: bool = True) -> None:
        self._calls = CALLS_PER_WINDOW if keep else {}
        self._methods: dict[str, MethodLimit] = {}
        self._programs = 1

    def divide(self, programs: int) -> None:
        """Keep to this program's part of all limits, of so many that use the same app."""
        self._programs = programs
        for limit in self._methods.values():
            limit.divide(programs)

    def of(self, method: str) -> MethodLimit:
        if method not in self._methods:
            self._methods[method] = MethodLimit(self._calls.get(method, _NO_LIMIT))
            self._methods[method].divide(self._programs)
        return self._methods[method]


def read_retry_after(error: SlackApiError) -> float:
    """Return the seconds that Slack asks to wait; one if it does not say."""
    try:
        return max(float(str(error.response.headers.get("Retry-After"))), 0.0)
    except ValueError:
        return 1.0


def _read_code(error: SlackApiError) -> str:
    answer = error.response
    if not isinstance(answer, AsyncSlackResponse):
        return "unreadable_answer"
    if answer.status_code == 429:
        return "ratelimited"
    return str(answer.data.get("error") or answer.status_code) if isinstance(answer.data, dict) else "no_json"


class LimitedClient(AsyncWebClient):
    """A client whose calls keep to the limits of one workspace, and are counted by method and result."""

    def __init__(self, limits: SlackLimits, *, team: str | None = None, **settings: Any) -> None:
        """Call for the workspace ``team``; it is unknown where an organization has installed the app."""
        super().__init__(**settings)
        self.limits = limits
        self.team = team

    def limit_of(self, method: str, _where: str) -> MethodLimit:
        """Return the limit of a method in the workspace of an id."""
        return self.limits.of(method)

    async def client_of(self, _where: str) -> LimitedClient:
        """Return the client of the workspace of an id, for calls without one."""
        return self

    async def api_call(self, api_method: str, **details: Any) -> AsyncSlackResponse:
        """Call a method when it is its turn. Raises what the client raises; a refusal for haste parks the method."""
        with trace("slack", method=api_method) as span:
            return await self._call_in_turn(api_method, span, details)

    async def _call_in_turn(self, api_method: str, span: Span, details: Mapping[str, Any]) -> AsyncSlackResponse:
        limit = self.limits.of(api_method)
        if api_method not in UNHURRIED:
            began = time.monotonic()
            await limit.wait()
            SLACK_WAIT_SECONDS.labels(api_method).inc(time.monotonic() - began)
        code = "no_answer"
        try:
            answer = await super().api_call(api_method, **details)
            code = "ok"
        except SlackApiError as error:
            code = _read_code(error)
            if code == "ratelimited" and api_method in CALLS_PER_WINDOW:
                limit.park(read_retry_after(error))
            raise
        finally:
            SLACK_CALLS.labels(api_method, code).inc()
            span.set_attribute("code", code)
        return answer


MAX_CHANNELS = 5_000


class Pace:
    """Token bucket per channel: allows ``burst`` messages at once, then ``per_second``.

    ``timer`` returns seconds, ``sleep`` waits for some.
    """

    def __init__(
        self,
        *,
        per_second: float = 1.0,
        burst: int = 10,
        timer: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._per_second = per_second
        self._burst = float(burst)
        self._timer = timer
        self._sleep = sleep
        self._buckets: dict[str, tuple[float, float]] = {}

    async def wait(self, channel: str) -> None:
        """Wait until one more message may go to the channel."""
        now = self._timer()
        tokens, then = self._buckets.get(channel, (self._burst, now))
        tokens = min(self._burst, tokens + (now - then) * self._per_second) - 1.0
        if len(self._buckets) >= MAX_CHANNELS:
            self._buckets.clear()
        # A negative number of tokens is a position in the queue.
        self._buckets[channel] = (tokens, now)
        if tokens < 0:
            await self._sleep(-tokens / self._per_second)

    def hold(self, channel: str, seconds: float) -> None:
        """Send nothing to the channel for a number of seconds, because Slack asked to wait."""
        now = self._timer()
        self._buckets[channel] = (0.0, now + seconds)
