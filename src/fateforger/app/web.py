"""The web server for everything local, in the program's event loop."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from fateforger.errors import BadInput

PUBLIC_PATHS = ("/connect/", "/changes/", "/slack/")
"""Paths that may be reached from elsewhere: pages for people, notices by Google and Microsoft, and what Slack calls.
Everything else is for this machine only."""
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


class _Server(uvicorn.Server):
    """A server that leaves signal handling to the program."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class SameOrigin:
    """Refuse requests that another web page made: a foreign ``Origin``, or a ``Host`` that is not this server's.

    Without it, any page open in the same browser could press buttons here (DNS rebinding, cross-site posts).
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str], public: str | None = None) -> None:
        """Answer requests for ``hosts``, and those for the host ``public`` only below :data:`PUBLIC_PATHS`."""
        self._app = app
        self._hosts = hosts
        self._public = public

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in {"http", "websocket"} and not self._is_allowed(scope):
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
                return
            body = b"This page only answers to its own address."
            headers = [(b"content-type", b"text/plain; charset=utf-8")]
            await send({"type": "http.response.start", "status": 403, "headers": headers})
            await send({"type": "http.response.body", "body": body})
            return
        await self._app(scope, receive, send)

    def _is_allowed(self, scope: Scope) -> bool:
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        host = _parse_host(f"//{headers.get(b'host', '')}")
        origin = headers.get(b"origin")
        hosts = self._hosts
        if self._public is not None and scope["path"].startswith(PUBLIC_PATHS):
            hosts = hosts | {self._public}
        return host in hosts and (origin is None or _parse_host(origin) in hosts)


def _parse_host(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


class WebServer:
    """Listen from construction until :meth:`close`, so that the address is known; serve between start and stop.

    Raises :class:`BadInput` if the port is taken.
    """

    def __init__(self, host: str, port: int, *, public_url: str | None = None, any_host: bool = False) -> None:
        """Also answer requests for the host of ``public_url``, at which people reach the public pages.

        With ``any_host`` there is nothing that another page must not press, and every name of this machine will do.
        """
        self._socket = _listen(host, port)
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{self.port}"  # noqa: S104  compared, not bound
        self._public = None if public_url is None else _parse_host(public_url)
        self._hosts = frozenset(_LOOPBACK | {host})
        self._any_host = any_host
        self._server: _Server | None = None
        self._serving: asyncio.Task[None] | None = None

    async def start(self, app: ASGIApp) -> None:
        config = uvicorn.Config(
            app if self._any_host else SameOrigin(app, self._hosts, self._public),
            log_level="warning",
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=2,
            ws="websockets-sansio",
        )
        self._server = _Server(config)
        self._serving = asyncio.create_task(self._server.serve(sockets=[self._socket]), name="web server")
        while not self._server.started:
            if self._serving.done():
                await self._serving
            await asyncio.sleep(0.005)

    async def stop(self) -> None:
        if self._server is not None and self._serving is not None:
            self._server.should_exit = True
            await self._serving

    def close(self) -> None:
        """Close the socket, also of a server that never served."""
        self._socket.close()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Naming the protocol makes the event loop disable Nagle's algorithm; otherwise each answer may wait 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise BadInput(
            f"I cannot listen on {host}, port {port}: {error.strerror}. Is fateforger running already? Otherwise"
            " choose another port with --port or FATEFORGER_PORT.",
            where="port",
        ) from None
    listener.listen(128)
    listener.setblocking(False)  # noqa: FBT003  the socket module's own signature
    return listener
