"""The web server for everything local, in the program's event loop."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
from collections import Counter
from collections.abc import Iterator
from typing import ClassVar

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from fateforger.app.data_dir import EVERY_ADDRESS, LOOPBACK
from fateforger.app.guard import HEADERS, TOO_MANY_HEADERS, Guard, Rules
from fateforger.errors import BadInput
from fateforger.limits import MAX_FRAME_BYTES, MAX_HEAD_BYTES, MAX_REQUEST_SECONDS, MAX_UNFINISHED

_WORDS = {
    400: b"The server cannot understand this request.",
    408: b"The request did not arrive in time.",
    431: TOO_MANY_HEADERS.encode(),
}


class _Server(uvicorn.Server):
    """A server that leaves signal handling to the program."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Connection(H11Protocol):
    """A connection whose requests have to arrive in time."""

    _unfinished: ClassVar[dict[_Connection, asyncio.TimerHandle]] = {}
    """Those of all servers of this process whose request has not arrived yet, oldest first."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in the base class
        super().connection_made(transport)
        self._machine = str((transport.get_extra_info("peername") or ("",))[0])
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._finish()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def _watch(self) -> None:
        """Start the timer when a request may begin, and stop it when all of it has arrived."""
        is_ours = not self.transport.is_closing() and self.transport.get_protocol() is self  # and no WebSocket now
        if not is_ours or self.conn.their_state not in {h11.IDLE, h11.SEND_BODY}:
            self._finish()
        elif self not in self._unfinished:
            self._unfinished[self] = self.loop.call_later(MAX_REQUEST_SECONDS, self.give_up)
            if len(self._unfinished) > MAX_UNFINISHED:
                self._find_surplus().give_up()

    def _find_surplus(self) -> _Connection:
        """Return the oldest connection of the machine that has the most, so that no machine shuts out the others."""
        by_machine = Counter(connection._machine for connection in self._unfinished)  # noqa: SLF001  its own kind
        [(machine, _count)] = by_machine.most_common(1)
        return next(connection for connection in self._unfinished if connection._machine == machine)  # noqa: SLF001  its own kind

    def _finish(self) -> None:
        timer = self._unfinished.pop(self, None)
        if timer is not None:
            timer.cancel()

    def give_up(self) -> None:
        """Close the connection; answer first if the client has begun a request."""
        self._finish()
        begun, _ended = self.conn.trailing_data
        if (begun or self.conn.their_state is h11.SEND_BODY) and self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            self._refuse(408)
        else:
            self.transport.close()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  uvicorn's sentence; ours is clearer
        # uvicorn calls this while it handles h11's error, which knows the status.
        error = sys.exception()
        self._refuse(error.error_status_hint if isinstance(error, h11.RemoteProtocolError) else 400)

    def _refuse(self, status: int) -> None:
        body = _WORDS.get(status, _WORDS[400])
        headers = [
            ("content-type", "text/plain; charset=utf-8"),
            ("content-length", str(len(body))),
            ("connection", "close"),
            *HEADERS.items(),
        ]
        for event in (h11.Response(status_code=status, headers=headers), h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


class WebServer:
    """Listen from construction until :meth:`close`, so that the address is known; serve between start and stop.

    Raises :class:`BadInput` if the port is taken.
    """

    def __init__(
        self, host: str, port: int, *, token: str | None = None, public_url: str | None = None, any_host: bool = False
    ) -> None:
        """Require the ``token``; without one, the application checks its callers itself.

        Also answer requests for the host of ``public_url``, at which people reach the public pages. ``any_host``
        accepts every host name, and is only for pages that other pages may send requests to.
        """
        self._socket = _listen(host, port)
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://{'127.0.0.1' if host in EVERY_ADDRESS else host}:{self.port}"
        self._rules = Rules(None if any_host else LOOPBACK | {host}, public_url, token)
        self._server: _Server | None = None
        self._serving: asyncio.Task[None] | None = None

    async def start(self, app: ASGIApp) -> None:
        config = uvicorn.Config(
            Guard(app, self._rules),
            http=_Connection,
            log_level="warning",
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=2,
            ws="websockets-sansio",
            ws_max_size=MAX_FRAME_BYTES,
            h11_max_incomplete_event_size=MAX_HEAD_BYTES,
            server_header=False,
            # So many are accepted in one go; each has to be read at least once before a flood pushes it out.
            backlog=MAX_UNFINISHED // 4,
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
