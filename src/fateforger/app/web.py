"""The web server for everything local, in the program's event loop, and the guard of its requests.

The guard checks who sends a request, from which page, and how long it is. It wraps the whole application, so a new
route is closed until it is listed here.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import hashlib
import hmac
import html
import re
import socket
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import ClassVar
from urllib.parse import parse_qsl, urlencode, urlsplit

import h11
import uvicorn
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from fateforger.app.data_dir import EVERY_ADDRESS, LOOPBACK, PARAMETER
from fateforger.errors import BadInput
from fateforger.limits import (
    MAX_BODY_BYTES,
    MAX_FRAME_BYTES,
    MAX_HEAD_BYTES,
    MAX_LENGTH_DIGITS,
    MAX_REQUEST_SECONDS,
    MAX_UNFINISHED,
)
from fateforger.text import gettext as _
from fateforger.text import mark_message

PUBLIC_PATHS = ("/connect/", "/changes/", "/slack/")
"""Paths that may be reached from elsewhere: pages for people, notices by Google and Microsoft, and what Slack calls.
Everything else is only for this machine."""
OPEN_PATHS = ("/health", "/static/", *PUBLIC_PATHS)
"""Paths that need no token: they show nothing personal, or check their own signature or link."""
SLACK_PATHS = ("/api/", "/link/", "/respond/")
"""Paths of the local Slack, which require its bot token, a ticket or an address that cannot be guessed. An upload to
``/files/`` does, too."""
UPLOADS = "/files/"
COOKIE_SECONDS = 30 * 24 * 3600
"""Time for which a browser is remembered: a month, so that a bookmark of the page keeps working."""

FOREIGN = mark_message("This page only answers to its own address.")
CLOSED = mark_message(
    "This page is for the person who started fateforger. Open the address that “fateforger up” printed;"
    " “fateforger doctor” shows it again."
)
TOO_LONG = mark_message("This request is too long; at most {count} bytes are read.")
TOO_MANY_HEADERS = "The address and headers of this request are too long."
TITLE = mark_message("This page is private")

HEADERS = {
    "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    "x-frame-options": "SAMEORIGIN",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}
"""Headers of every answer that does not set them. Without a referrer, no other server sees the token."""
_PAGE = """<!doctype html>
<html>
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title>
<style>:root {{ color-scheme: light dark }} body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 34rem;
margin: 4rem auto; padding: 0 1rem }}</style></head>
<body><h1>{title}</h1><p>{sentence}</p></body>
</html>
"""
_PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(:\d{1,5})?", re.ASCII)
"""Name and port of a server, without a user."""
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


@dataclass(frozen=True, slots=True)
class Rules:
    """The requests that a server answers.

    ``hosts`` are its own names; ``None`` means any. ``public`` is the address at which people reach the
    :data:`PUBLIC_PATHS`. ``token`` opens everything else; without one, the application checks its callers itself.
    """

    hosts: frozenset[str] | None
    public: str | None = None
    token: str | None = None

    @property
    def cookie(self) -> str:
        """Name of the cookie. Browsers share cookies between ports, so each token has its own name."""
        return f"fateforger-{hashlib.sha256((self.token or '').encode()).hexdigest()[:8]}"

    def knows(self, scope: Scope) -> bool:
        """Check that a request is for this server, and that no other server's page made it.

        Otherwise any page open in the same browser could press buttons here (DNS rebinding, cross-site posts).
        """
        if self.hosts is None:
            return True
        host, origin = _read_header(scope, b"host").lower(), _read_header(scope, b"origin").lower()
        match, public, own = _HOST.fullmatch(host), urlsplit((self.public or "").lower()), list[str]()
        name = "" if match is None else match[1].strip("[]")
        is_public = bool(public.hostname) and scope["path"].startswith(PUBLIC_PATHS)
        if name in self.hosts:
            own.append(f"http://{host}")
        elif not (is_public and name == public.hostname):
            return False
        if is_public:
            own.append(f"{public.scheme}://{public.netloc}")
        return not origin or _normalize(origin) in map(_normalize, own)

    def admits(self, scope: Scope) -> bool:
        """Check whether a request may pass: its path is open, or it carries the token."""
        path = scope["path"]
        if self.token is None or path.startswith((*OPEN_PATHS, *SLACK_PATHS)):
            return True
        if path.startswith(UPLOADS) and scope.get("method") == "POST":
            return True
        scheme, _space, bearer = _read_header(scope, b"authorization").partition(" ")
        return (scheme.lower() == "bearer" and self.matches(bearer)) or self.matches(self._read_cookie(scope))

    def matches(self, given: str) -> bool:
        """Compare a token in a time that does not depend on it."""
        return self.token is not None and hmac.compare_digest(given.strip().encode(), self.token.encode())

    def _read_cookie(self, scope: Scope) -> str:
        try:
            cookie = SimpleCookie(_read_header(scope, b"cookie")).get(self.cookie)
        except CookieError:
            return ""
        return "" if cookie is None else cookie.value


class Guard:
    """Refuse what the rules do not admit, and add the :data:`HEADERS` to every answer."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            receive = receive if scope["path"].startswith(UPLOADS) else _count(receive)
            send = _add_headers(send)
        refusal = self._refuse(scope)
        if refusal is None:
            try:
                await self._app(scope, receive, send)
            except ClientDisconnect:
                return  # the client has gone, or was too slow
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await refusal(scope, receive, send)

    def _refuse(self, scope: Scope) -> Response | None:
        """Return the answer to a request that may not pass; ``None`` for one that may."""
        if not self._rules.knows(scope):
            return PlainTextResponse(_(FOREIGN), status_code=403)
        if sum(len(name) + len(value) for name, value in scope["headers"]) > MAX_HEAD_BYTES:
            return PlainTextResponse(TOO_MANY_HEADERS, status_code=431)
        opened = self._open(scope)
        if opened is not None:
            return opened
        if not self._rules.admits(scope):
            return _close(scope)
        length = _read_header(scope, b"content-length")
        if length and not scope["path"].startswith(UPLOADS) and not _is_short(length):
            return PlainTextResponse(_describe_length(), status_code=413)
        return None

    def _open(self, scope: Scope) -> Response | None:
        """Return a redirect from an address with the right token to the same one without it; it sets the cookie."""
        if scope["type"] != "http" or scope["method"] not in {"GET", "HEAD"} or self._rules.token is None:
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if not any(name == PARAMETER and self._rules.matches(value) for name, value in query):
            return None
        rest = urlencode([(name, value) for name, value in query if name != PARAMETER])
        # Only one slash, because two would lead to another server.
        path = "/" + scope["path"].lstrip("/\\")
        answer = RedirectResponse(f"{path}?{rest}" if rest else path, status_code=303)
        answer.set_cookie(
            self._rules.cookie, self._rules.token, max_age=COOKIE_SECONDS, httponly=True, samesite="strict"
        )
        answer.headers["cache-control"] = "no-store"
        return answer


def _close(scope: Scope) -> Response:
    """Return the refusal for a request without the token: a page for a browser, otherwise the sentence alone."""
    headers = {"www-authenticate": 'Bearer realm="fateforger"', "cache-control": "no-store"}
    if "text/html" not in _read_header(scope, b"accept"):
        return PlainTextResponse(_(CLOSED), status_code=401, headers=headers)
    page = _PAGE.format(title=html.escape(_(TITLE)), sentence=html.escape(_(CLOSED)))
    return HTMLResponse(page, status_code=401, headers={**headers, "content-security-policy": _PAGE_POLICY})


def _describe_length() -> str:
    return _(TOO_LONG, count=f"{MAX_BODY_BYTES:,}")


def _is_short(length: str) -> bool:
    # No more digits are read than a limit can have: parsing a long number takes long.
    return length.isdecimal() and len(length) <= MAX_LENGTH_DIGITS and int(length) <= MAX_BODY_BYTES


def _read_header(scope: Scope, name: bytes) -> str:
    headers: Iterable[tuple[bytes, bytes]] = scope["headers"]
    return next((value.decode("latin-1") for key, value in headers if key.lower() == name), "")


def _normalize(origin: str) -> str:
    scheme = origin.partition(":")[0]
    return origin.removesuffix(_DEFAULT_PORTS.get(scheme, ""))


def _count(receive: Receive) -> Receive:
    """Return a ``receive`` that refuses a body over the limit, whatever length was announced."""
    received = 0

    async def receive_counted() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > MAX_BODY_BYTES:
            raise HTTPException(413, _describe_length())
        return message

    return receive_counted


def _add_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", []))
            given = {name.lower() for name, _value in headers}
            headers += [(n.encode(), v.encode()) for n, v in HEADERS.items() if n.encode() not in given]
            message = {**message, "headers": headers}
        await send(message)

    return send_with_headers


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
        self,
        host: str,
        port: int,
        *,
        token: str | None = None,
        public_url: str | None = None,
        any_host: bool = False,
        named: str = "--port or FATEFORGER_PORT",
    ) -> None:
        """Require the ``token``; without one, the application checks its callers itself.

        Also answer requests for the host of ``public_url``, at which people reach the public pages. ``any_host``
        accepts every host name, and is only for pages that other pages may send requests to. ``named`` says how
        the port is given. Raises ``BadInput`` if the port is taken, or the host is not this machine's.
        """
        self._socket = _listen(host, port, named)
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


def _listen(host: str, port: int, named: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Naming the protocol makes the event loop disable Nagle's algorithm; otherwise each answer may wait 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            where, remedy = "port", f"Is fateforger running already? Otherwise choose another port with {named}."
        elif error.errno == errno.EACCES:
            where, remedy = "port", f"Choose another port with {named}, for example one above 1024."
        else:
            where, remedy = "host", "Choose an address of this machine with --host or FATEFORGER_HOST."
        raise BadInput(f"I cannot listen on {host}, port {port}: {error.strerror}. {remedy}", where=where) from None
    listener.listen(128)
    listener.setblocking(False)  # noqa: FBT003  the socket module's own signature
    return listener
