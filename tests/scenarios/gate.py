"""A gate before a server, at which the writes to it wait: the moment in which a program is killed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

_WRITES = {"POST", "PUT", "PATCH", "DELETE"}
_HOP = {"connection", "transfer-encoding", "content-length", "content-encoding", "host"}


@dataclass
class Gate:
    """Lets the first of the writes below ``path`` pass once it is shut, and holds each later one until it opens.

    A write that was held is then ``lost``, takes effect ``late``, or had done so ``before`` it was held, and only its
    answer did not come.
    """

    app: Any
    then: Literal["lost", "late", "before"]
    path: str = "/"
    shut: bool = False
    held: threading.Event = field(default_factory=threading.Event)
    _passed: int = 0
    _opened: threading.Event = field(default_factory=threading.Event)

    def open(self) -> None:
        """Let go of what is held, and of all that comes."""
        self.shut = False
        self._opened.set()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        waits = self.shut and scope["type"] == "http" and scope["method"] in _WRITES and self.path in scope["path"]
        if not waits or self._count() == 1:
            await self.app(scope, receive, send)
            return
        answer: list[Any] = []

        async def keep(message: Any) -> None:
            answer.append(message)

        if self.then == "before":
            await self.app(scope, receive, keep)
        body = await receive() if self.then == "late" else None
        self.held.set()
        await asyncio.to_thread(self._opened.wait)
        if self.then == "late":
            await self.app(scope, _make_receive(body), keep)
        await PlainTextResponse("too late", 503)(scope, receive, send)

    def _count(self) -> int:
        self._passed += 1
        return self._passed


def _make_receive(message: Any) -> Any:
    async def receive() -> Any:
        return message

    return receive


def pass_on(to: str) -> Starlette:
    """Hand every request on to the server at ``to``."""
    alone = httpx.Limits(max_keepalive_connections=0)  # the client is never closed
    client = httpx.AsyncClient(trust_env=False, timeout=30, limits=alone)
    methods = ["GET", "HEAD", "PUT", "POST", "DELETE", "REPORT", "PROPFIND", "OPTIONS", "MKCALENDAR"]

    async def answer(request: Request) -> Response:
        headers = {name: value for name, value in request.headers.items() if name not in _HOP}
        content = await request.body()
        asked = httpx.URL(to).copy_with(path=request.url.path, query=request.url.query.encode())
        given = await client.request(request.method, asked, content=content, headers=headers)
        shown = {name: value for name, value in given.headers.items() if name.lower() not in _HOP}
        return Response(given.content, given.status_code, shown)

    return Starlette(routes=[Route("/{path:path}", answer, methods=methods)])
