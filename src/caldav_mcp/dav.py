"""HTTP to a CalDAV server: time limit, retries, and failures as `ServiceError`s.

Plain `httpx` rather than the `caldav` package: what matters here is exact control of `If-Match` and `If-None-Match`, a
total time limit for each request, and nothing blocking; the XML involved is small.
"""

from __future__ import annotations

import asyncio
import re
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from email.utils import parsedate_to_datetime
from math import ceil
from types import TracebackType
from typing import Self, cast
from urllib.parse import urlsplit

import httpx

from caldav_mcp.errors import (
    BadRequest,
    Busy,
    Conflict,
    ConnectionLost,
    Forbidden,
    NoAnswer,
    NoRoom,
    NotDav,
    NotFound,
    PreconditionFailed,
    RateLimited,
    ServerTrouble,
    ServiceError,
    TooMuch,
    Unauthorized,
)
from caldav_mcp.limits import MAX_ANSWER_BYTES, MAX_REDIRECTS
from caldav_mcp.multistatus import DavResponse, read_error, read_multistatus

_PAUSES = (0.1, 0.5)
_SECONDS = re.compile(r"[0-9]{1,6}")
_REPEATABLE = frozenset({"GET", "PROPFIND", "REPORT"})
_MOVED = frozenset({301, 307, 308})
"""Redirects that writes follow: the calendar has moved, and the write did not happen. Others may lead to a web page."""
_MESSAGES = {429: "Rate Limit Exceeded", 500: "Backend Error", 503: "Service Unavailable"}
_BUSY = frozenset({429, 503})
_RIGHTS = frozenset({"need-privileges"})
_ROOM = frozenset({"quota-not-exceeded", "sufficient-disk-space"})
_BY_STATUS: dict[int, type[ServiceError]] = {
    400: BadRequest, 401: Unauthorized, 403: Forbidden, 404: NotFound, 405: Forbidden, 409: Conflict,
    410: NotFound, 412: PreconditionFailed, 423: RateLimited, 429: RateLimited, 507: NoRoom,
}  # fmt: skip


class Dav:
    """One account at one server.

    Each try of a request has `time_limit` seconds in all. Reads are tried up to three times when the server hangs up or
    answers 5xx without saying when to ask again, and follow redirects within the same domain, where the password
    belongs (but never from https to http, where everybody could read it). Writes are sent once, because the first one
    may have arrived; they follow only the redirects of a calendar that has moved. Of an answer no more than
    `longest_answer` bytes are taken in.
    """

    def __init__(
        self,
        *,
        username: str | None = None,
        password: str | None = None,
        on_this_machine: bool = False,
        time_limit: float,
        longest_answer: int = MAX_ANSWER_BYTES,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`on_this_machine` says that no proxy is between us, and that no certificates are needed.

        With a `transport` of its own, the proxies of the environment are not used. `sleep` waits for the given seconds
        between two tries.
        """
        self._client = httpx.AsyncClient(
            auth=None if username is None else (username, password or ""),
            headers={"Accept-Encoding": "gzip"},
            timeout=time_limit,
            trust_env=not on_this_machine,
            verify=not on_this_machine,
            transport=transport,
        )
        self.username = username
        self._time_limit = time_limit
        self._longest_answer = longest_answer
        self._sleep = sleep

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.aclose()

    async def request(
        self, method: str, url: str, *, body: bytes | str | None = None, headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        """Send one request; raises the `ServiceError` of a failure or an error status."""
        repeatable = method in _REPEATABLE
        pauses = list(_PAUSES) if repeatable else []
        hops = MAX_REDIRECTS
        while True:
            try:
                response = await self._once(method, url, body, headers or {})
                follows = hops and (repeatable or response.status_code in _MOVED)
                elsewhere = _elsewhere(response) if follows else None
                if elsewhere is None:
                    return _check_status(response)
            except (ConnectionLost, ServerTrouble):
                if not pauses:
                    raise
                await self._sleep(pauses.pop(0))
            else:
                url, hops = elsewhere, hops - 1

    async def multistatus(self, method: str, url: str, body: bytes, *, depth: int) -> list[DavResponse]:
        headers = {"Depth": str(depth), "Content-Type": "application/xml; charset=utf-8"}
        response = await self.request(method, url, body=body, headers=headers)
        try:
            return await asyncio.to_thread(read_multistatus, response.content, str(response.url))
        except ValueError as error:
            raise NotDav(f"The calendar server's answer was not understood ({error})") from error

    async def _once(
        self, method: str, url: str, body: bytes | str | None, headers: Mapping[str, str]
    ) -> httpx.Response:
        if self._client.is_closed:
            raise ConnectionLost(_public(url), "the calendar was closed")
        try:
            async with asyncio.timeout(self._time_limit):
                given = self._client.stream(method, url, content=body, headers=dict(headers))
                async with given as response:
                    return await self._taken_in(response)
        except (TimeoutError, httpx.TimeoutException):
            raise NoAnswer from None
        except (httpx.TransportError, httpx.InvalidURL) as error:
            raise ConnectionLost(_public(url), _reason(error)) from error

    async def _taken_in(self, response: httpx.Response) -> httpx.Response:
        """Read an answer as far as it may go. Raises `TooMuch`, and `NoAnswer` for a write, which may have happened."""
        body = bytearray()
        async for piece in _unpack(response):
            body += piece
            if len(body) > self._longest_answer:
                if response.request.method not in _REPEATABLE:
                    raise NoAnswer
                raise TooMuch(self._longest_answer)
        # The body is unpacked already, so these headers are not true of it any more.
        headers = [(n, v) for n, v in response.headers.multi_items() if n not in {"content-encoding", "content-length"}]
        return httpx.Response(
            response.status_code,
            headers=headers,
            content=bytes(body),
            request=response.request,
            extensions=response.extensions,
        )


_PACKED = frozenset({"gzip", "x-gzip", "deflate"})
_PIECE_BYTES = 65_536


async def _unpack(response: httpx.Response) -> AsyncIterator[bytes]:
    """Yield an unpacked answer in small pieces. A chunk that is unpacked in one go could fill the memory."""
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in _PACKED | {"identity", ""}:
        raise NotDav(f"The calendar server's answer is compressed in a way that was not asked for ({encoding[:40]})")
    inflate = zlib.decompressobj(32 + zlib.MAX_WBITS) if encoding in _PACKED else None
    async for chunk in cast(httpx.AsyncByteStream, response.stream):
        packed = chunk
        if inflate is None:
            yield chunk
            continue
        while packed and not inflate.eof:
            try:
                yield inflate.decompress(packed, _PIECE_BYTES)
            except zlib.error:
                raise NotDav("The calendar server's answer is damaged") from None
            packed = inflate.unconsumed_tail
    if inflate is not None:
        yield inflate.flush()


def _check_status(response: httpx.Response) -> httpx.Response:
    status = response.status_code
    if status < 300:
        return response
    if status < 400:
        raise NotDav(f"The calendar server sends us elsewhere: {_public(response.headers.get('Location', 'nowhere'))}")
    if status in _BUSY and (seconds := _read_retry_after(response.headers)) is not None:
        raise Busy(_MESSAGES[status], seconds)
    if status == 403:
        raise _read_forbidden(response.content)
    if status >= 500 and status not in _BY_STATUS:
        raise ServerTrouble(_MESSAGES.get(status, response.reason_phrase or f"Status {status}"))
    raise _BY_STATUS.get(status, BadRequest)


def _read_retry_after(headers: httpx.Headers) -> int | None:
    """Return the seconds to wait, given as such or as a date, which is compared with the server's own clock."""
    said = headers.get("Retry-After", "").strip()
    if _SECONDS.fullmatch(said):
        return int(said)
    try:
        wait = parsedate_to_datetime(said) - parsedate_to_datetime(headers.get("Date", ""))
    except (ValueError, TypeError):
        return None
    return max(0, ceil(wait.total_seconds()))


def _read_forbidden(body: bytes) -> Forbidden:
    """Return the refusal with the server's reason: often, but not always, a right is missing."""
    conditions, said = read_error(body)
    if conditions & _ROOM:
        return NoRoom()
    reason = said or ", ".join(sorted(conditions))
    if not reason or conditions & _RIGHTS:
        return Forbidden()
    return Forbidden(f"Forbidden: the calendar server says: {reason}")


def _elsewhere(response: httpx.Response) -> str | None:
    """Return the target of a redirect within the same domain, or None."""
    if not response.has_redirect_location:
        return None
    here, target = response.url, response.url.join(response.headers["Location"])
    if here.scheme == "https" and target.scheme != "https":
        return None
    return str(target) if target.host == here.host or _domain(target.host) == _domain(here.host) else None


def _domain(host: str) -> str:
    """Return the part of a host's name that belongs to one owner: `icloud.com` of `p34-caldav.icloud.com`.

    Where the last but one label is short (`co.uk`) it takes one more; an address of numbers belongs to itself.
    """
    labels = host.lower().split(".")
    if labels[-1].isdecimal() or ":" in host:
        return host
    return ".".join(labels[-3 if len(labels) > 2 and len(labels[-2]) <= 3 else -2 :])


def _public(url: str) -> str:
    """Return the address without user, query and fragment, which may hold a password."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def _reason(error: Exception) -> str:
    if isinstance(error, httpx.UnsupportedProtocol | httpx.InvalidURL):
        return str(error)
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ConnectionRefusedError):
            return "connect ECONNREFUSED"
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx.ConnectError):
        return f"connect {error}".strip()
    return "read ECONNRESET"
