"""Google's OAuth and its Calendar API v3, over accounts and calendars in memory.

    google = GoogleEmulator()
    async with served(google.app()) as base:
        google.inject(Fault(503, "Backend Error"), method="PATCH", applied=True)
        ...

Written from Google's documentation; what google-calendar-mcp 2.6.3 was seen to get from it is kept by
``tests/contracts/test_real_server.py``. Everything is decided by :meth:`GoogleEmulator.handle`, which knows no server, so that a
simulation can call it without one.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from tests.emulators.google.accounts import GoogleAccounts, utc_now
from tests.emulators.google.channels import Notice
from tests.emulators.google.events import CalendarApi
from tests.emulators.google.wire import Ask, Refusal, Reply
from tests.fakes.google_store import GoogleStore

CUT, LATE = 0, 1
MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Fault:
    """An error instead of an answer. Status ``CUT`` breaks the connection off, ``LATE`` answers too late."""

    status: int = 503
    message: str = "Backend Error"
    reason: str = ""
    retry_after: float | None = None

    def reply(self) -> Reply:
        return Refusal(self.status, self.message, self.reason or "any", self.retry_after).reply()


@dataclass
class _Armed:
    fault: Fault
    method: str
    path: str
    applied: bool
    times: int

    def meets(self, ask: Ask) -> bool:
        return self.times > 0 and self.method in ("", ask.method) and self.path in ask.path


@dataclass
class GoogleEmulator:
    """Google. ``calendars`` are those of the first account by their ids; ``quota`` is the most requests in a minute.

    Without ``check_tokens`` any login is good. ``requests`` counts what arrived for a calendar; ``late_seconds`` is what
    counts as too late.
    """

    calendars: dict[str, GoogleStore] = field(default_factory=lambda: {"primary": GoogleStore()})
    accounts: GoogleAccounts = field(default_factory=GoogleAccounts)
    check_tokens: bool = True
    quota: int | None = None
    late_seconds: float = 3.3
    now: Callable[[], datetime] = utc_now
    requests: int = 0
    asked: list[Ask] = field(default_factory=list)
    _armed: list[_Armed] = field(default_factory=list)
    _recent: deque[datetime] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self.api = CalendarApi(self)
        self.accounts.now = self._tell_time

    def inject(self, fault: Fault, *, method: str = "", path: str = "", applied: bool = False, times: int = 1) -> None:
        """Let the next ``times`` requests with this method, and this in their path, meet a fault: before they take
        effect, or with ``applied`` after that."""
        self._armed.append(_Armed(fault, method, path, applied, times))

    def calm(self) -> None:
        """Forget the faults that did not happen yet, and the record of requests."""
        self._armed.clear()
        self.asked.clear()
        self.requests = 0

    def handle(self, ask: Ask) -> Reply:
        """Answer a request. It never fails."""
        answered = self.accounts.handle(ask)
        if answered is not None:
            return answered
        try:
            self._count()
            return self.api.handle(ask)
        except Refusal as refusal:
            return refusal.reply()

    def app(self) -> Starlette:
        async def endpoint(request: Request) -> Response:
            ask = Ask(
                request.method,
                request.url.path,
                dict(request.query_params),
                {name.lower(): value for name, value in request.headers.items()},
                await request.body(),
            )
            response = await self._answer(ask)
            await self.deliver()
            return response

        return Starlette(routes=[Route("/{path:path}", endpoint, methods=["GET", "POST", "PUT", "PATCH", "DELETE"])])

    async def deliver(self) -> None:
        """Send the notices that are due to the addresses of their channels."""
        due: list[Notice] = self.api.channels.collect(self.calendars)
        if due:
            async with httpx.AsyncClient(trust_env=False, timeout=5) as client:
                for notice in due:
                    await client.post(notice.address, headers=notice.headers)

    async def _answer(self, ask: Ask) -> Response:
        self.asked.append(ask)
        self.requests += "/calendar/v3/" in ask.path
        armed = next((one for one in self._armed if one.meets(ask)), None)
        if armed is None:
            return _to_response(self.handle(ask))
        armed.times -= 1
        if armed.applied:
            self.handle(ask)
        if armed.fault.status == CUT:
            return _BrokenOff()
        if armed.fault.status == LATE:
            await asyncio.sleep(self.late_seconds)
            return _to_response(Fault(504, "Gateway Timeout").reply())
        return _to_response(armed.fault.reply())

    def _count(self) -> None:
        if self.quota is None:
            return
        now = self.now()
        while self._recent and now - self._recent[0] >= MINUTE:
            self._recent.popleft()
        if len(self._recent) >= self.quota:
            wait = (self._recent[0] + MINUTE - now).total_seconds()
            raise Refusal(403, "Rate Limit Exceeded", "rateLimitExceeded", round(wait, 3))
        self._recent.append(now)

    def _tell_time(self) -> datetime:
        return self.now()


class _BrokenOff(Response):
    """More is promised than is sent."""

    async def __call__(
        self,
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[MutableMapping[str, Any]]],
        send: Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ) -> None:
        headers = [(b"content-type", b"application/json"), (b"content-length", b"100000")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})


def _to_response(reply: Reply) -> Response:
    return Response(reply.body, reply.status, dict(reply.headers))
