"""Checks of every request: who sends it, from which page, and how long it is.

It wraps the whole application, so a new route is closed until it is listed here.
"""

from __future__ import annotations

import hashlib
import hmac
import html
import re
from collections.abc import Iterable
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fateforger.app.data_dir import PARAMETER
from fateforger.limits import MAX_BODY_BYTES, MAX_HEAD_BYTES, MAX_LENGTH_DIGITS
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
