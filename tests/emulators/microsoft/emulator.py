"""Graph and Microsoft's sign-in as one server, with everything that can go wrong on the way to it.

    emulator = MicrosoftEmulator()
    emulator.inject(Fault("lost", after=True), method="POST")   # the next POST takes effect, its answer is lost
    emulator.inject(Fault(429, retry_after=2), at=3)            # the fourth request of all is refused
    emulator.quota = 100                                        # so many requests in ten minutes

It is used in two ways: over a socket (:meth:`MicrosoftEmulator.app`, ``python -m tests.emulators.microsoft``), and
without one (:meth:`MicrosoftEmulator.transport`).
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import unquote

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from tests.emulators.microsoft.graph import Calendars, GraphRequest, GraphResponse
from tests.emulators.microsoft.mailbox import Mailbox, Refusal
from tests.emulators.microsoft.sign_in import SignIn
from tests.emulators.microsoft.subscriptions import Subscriptions

ANN = "ann@contoso.example"
_SPAN = 600.0


class ConnectionCut(Exception):
    """The connection is cut."""


@dataclass(frozen=True)
class Fault:
    """A status, a lost connection, or no answer in time; before the request takes effect, or ``after`` it did. ``late``
    is no answer in time to a request that takes effect only later, when ``calls`` more requests have arrived."""

    what: int | Literal["lost", "slow", "late"] = "lost"
    after: bool = False
    retry_after: float | None = None
    code: str = "UnknownError"
    calls: int = 1

    def strike(self) -> GraphResponse:
        if isinstance(self.what, int):
            headers = {} if self.retry_after is None else {"Retry-After": f"{self.retry_after:g}"}
            return GraphResponse(self.what, {"error": {"code": self.code, "message": "Something went wrong."}}, headers)
        raise ConnectionCut if self.what == "lost" else httpx.ReadTimeout("no answer")


@dataclass
class _Armed:
    fault: Fault
    at: int | None
    method: str | None


@dataclass
class MicrosoftEmulator:
    """``mailboxes`` by their owner. ``requests`` are method and path of all that arrived at Graph."""

    now: Callable[[], float] = time.monotonic
    mailboxes: dict[str, Mailbox] = field(default_factory=lambda: {ANN: Mailbox()})
    quota: int | None = None
    at_once: int | None = None
    seconds_a_request: float = 0.0
    requests: list[tuple[str, str]] = field(default_factory=list)
    _armed: list[_Armed] = field(default_factory=list)
    _lately: deque[float] = field(default_factory=deque)
    _late: list[tuple[int, GraphRequest]] = field(default_factory=list)
    _interrupting: list[tuple[int, Callable[[], object]]] = field(default_factory=list)
    _under_way: int = 0

    def __post_init__(self) -> None:
        self.sign_in = SignIn(self.now)
        self.calendars = Calendars()
        self.subscriptions = Subscriptions()

    @property
    def mailbox(self) -> Mailbox:
        """The mailbox of Ann, the only person at first."""
        return self.mailboxes[ANN]

    def inject(self, fault: Fault, *, at: int | None = None, method: str | None = None) -> None:
        """Let a request to Graph meet a fault: the one at that position, else the next one of that method."""
        self._armed.append(_Armed(fault, at, method))

    def interrupt(self, act: Callable[[], object], *, at: int) -> None:
        """Let the person do something right before the request at that position of all."""
        self._interrupting.append((at, act))

    def calm(self) -> None:
        """Forget all that did not happen yet, and let late requests land."""
        self._armed.clear()
        self._interrupting.clear()
        self.land(everything=True)

    def answer(self, asked: GraphRequest) -> GraphResponse:
        """Answer a request. Raises :class:`ConnectionCut`, or ``httpx.ReadTimeout`` for an answer that does not come in time."""
        if self.sign_in.handles(asked.path):
            return self.sign_in.answer(asked)
        self.land()
        for act in [act for at, act in self._interrupting if at == len(self.requests)]:
            act()
        fault = self._meet(asked)
        if fault is not None and not fault.after:
            if fault.what == "late":
                self._late.append((len(self.requests) + fault.calls, asked))
            return fault.strike()
        answered = self._answer_graph(asked)
        return answered if fault is None else fault.strike()

    def land(self, *, everything: bool = False) -> None:
        """Carry out the requests that are late and due."""
        due = [asked for position, asked in self._late if everything or position <= len(self.requests)]
        self._late = [late for late in self._late if late[1] not in due]
        for asked in due:
            self._answer_graph(asked)

    def _answer_graph(self, asked: GraphRequest) -> GraphResponse:
        try:
            return self._answer_or_refuse(asked)
        except Refusal as refusal:
            return GraphResponse(refusal.status, refusal.body, refusal.headers)

    def _answer_or_refuse(self, asked: GraphRequest) -> GraphResponse:
        grant = self.sign_in.check(asked.headers.get("authorization", ""))
        self._count()
        if asked.method != "GET" and "Calendars.ReadWrite" not in grant.scopes:
            raise Refusal(403, "ErrorAccessDenied", "Access is denied. Check credentials and try again.")
        owner = grant.user if asked.path.startswith("/v1.0/me/") else unquote(asked.path.split("/")[3])
        if owner is None:
            raise Refusal(400, "BadRequest", "/me request is only valid with delegated authentication flow.")
        if grant.user not in {None, owner}:
            raise Refusal(403, "ErrorAccessDenied", "Access is denied. Check credentials and try again.")
        if owner not in self.mailboxes:
            raise Refusal(
                404, "MailboxNotEnabledForRESTAPI", "The mailbox is either inactive, soft-deleted, or on-premise."
            )
        return self.calendars.answer(asked, self.mailboxes[owner], owner)

    def _meet(self, asked: GraphRequest) -> Fault | None:
        position = len(self.requests)
        self.requests.append((asked.method, asked.path))
        for armed in self._armed:
            if armed.at == position or (armed.at is None and armed.method in {None, asked.method}):
                self._armed.remove(armed)
                return armed.fault
        return None

    def _count(self) -> None:
        if self.at_once is not None and self._under_way > self.at_once:
            message = "Application is over its MailboxConcurrency limit."
            raise Refusal(429, "ApplicationThrottled", message, Retry_After="1")
        if self.quota is None:
            return
        now = self.now()
        while self._lately and self._lately[0] <= now - _SPAN:
            self._lately.popleft()
        if len(self._lately) >= self.quota:
            wait = max(1, round(self._lately[0] + _SPAN - now))
            raise Refusal(429, "TooManyRequests", "Application is over its RequestLimit.", Retry_After=str(wait))
        self._lately.append(now)

    # --- the two ways to reach it ---

    def transport(self) -> httpx.MockTransport:
        """Return a transport for a client in the same process. It never waits, so a request is one step."""

        def handle(request: httpx.Request) -> httpx.Response:
            url = request.url
            asked = GraphRequest(
                request.method,
                f"{url.scheme}://{url.netloc.decode()}",
                url.path,
                dict(url.params),
                {name.lower(): value for name, value in request.headers.items()},
                request.content,
            )
            try:
                answered = self.answer(asked)
            except ConnectionCut:
                raise httpx.ReadError("the connection was lost") from None
            return httpx.Response(answered.status, json=answered.body, headers=dict(answered.headers))

        return httpx.MockTransport(handle)

    def app(self) -> Starlette:
        methods = ["GET", "POST", "PATCH", "DELETE"]
        return Starlette(routes=[Route("/{path:path}", self._serve, methods=methods)])

    async def _serve(self, request: Request) -> Response:
        asked = GraphRequest(
            request.method,
            f"{request.url.scheme}://{request.url.netloc}",
            request.url.path,
            dict(request.query_params),
            {name.lower(): value for name, value in request.headers.items()},
            await request.body(),
        )
        self._under_way += 1
        try:
            if self.seconds_a_request:
                await asyncio.sleep(self.seconds_a_request)
            answered = await self._subscribe(asked) or self.answer(asked)
        except (ConnectionCut, httpx.ReadTimeout):
            return _BrokenOff()
        finally:
            self._under_way -= 1
        await self.subscriptions.deliver(self.mailboxes)
        if answered.body is None:
            return Response(status_code=answered.status, headers=dict(answered.headers))
        return JSONResponse(answered.body, answered.status, dict(answered.headers))

    async def _subscribe(self, asked: GraphRequest) -> GraphResponse | None:
        """Return the answer to a request about subscriptions; ``None`` for another one."""
        if not self.subscriptions.handles(asked.path):
            return None
        self.requests.append((asked.method, asked.path))
        try:
            owner = self.sign_in.check(asked.headers.get("authorization", "")).user or ""
            return await self.subscriptions.answer(asked, owner, self.mailboxes[owner])
        except Refusal as refusal:
            return GraphResponse(refusal.status, refusal.body, refusal.headers)


class _BrokenOff(Response):
    """More is promised than is sent."""

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        headers = [(b"content-type", b"application/json"), (b"content-length", b"100000")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
