"""Answers of other servers: when to ask again, and limits: a number of bytes, counted after unpacking, and a time.

The limits are hooks of the HTTP client, which keeps its own settings. They work with httpx and with httpx2, because the
packages that call services use one or the other.
"""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
import httpx2

from fateforger.text import gettext as _

_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_PIECE_BYTES = 65_536


def read_retry_after(said: str, now: datetime) -> float | None:
    """Return the seconds from now that a ``Retry-After`` header asks for (RFC 9110, 10.2.3): a number or a date.

    Returns ``None`` if there is none, or none that can be read.
    """
    try:
        seconds = float(said)
    except ValueError:
        try:
            until = parsedate_to_datetime(said)
        except ValueError:
            return None
        # A date in a zone of "-0000" comes without a zone; it is in UTC.
        seconds = ((until if until.tzinfo else until.replace(tzinfo=UTC)) - now).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None


class AnswerUnreadable(httpx.DecodingError, httpx2.DecodingError):  # type: ignore[misc]  # the same error in both
    """An answer is damaged, or compressed in a way that was not asked for."""


class AnswerTooLong(AnswerUnreadable):
    """An answer exceeded its limit, and was not read to its end."""


class AnswerTooSlow(httpx.ReadTimeout, httpx2.ReadTimeout):  # type: ignore[misc]  # the same error in both
    """An answer did not end in time."""


class _Unpacker:
    """Unpacks one answer piece by piece, so that the limit is noticed before the whole answer is in memory."""

    def __init__(self, encoding: str, max_bytes: int, seconds: float | None) -> None:
        if encoding not in {"", "identity", "gzip", "x-gzip", "deflate"}:
            raise AnswerUnreadable(f"unknown encoding {encoding[:40]}")
        self._inflate = None if encoding in {"", "identity"} else zlib.decompressobj(_GZIP_OR_ZLIB)
        self._left = max_bytes
        self._end = None if seconds is None else time.monotonic() + seconds

    def unpack(self, data: bytes) -> Iterator[bytes]:
        if self._end is not None and time.monotonic() > self._end:
            raise AnswerTooSlow("the answer did not end in time")
        if self._inflate is None:
            yield self._count(data)
            return
        try:
            while data and not self._inflate.eof:
                yield self._count(self._inflate.decompress(data, _PIECE_BYTES))
                data = self._inflate.unconsumed_tail
        except zlib.error as error:
            raise AnswerUnreadable("the answer is damaged") from error

    def finish(self) -> Iterator[bytes]:
        if self._inflate is not None:
            yield self._count(self._inflate.flush())

    def _count(self, piece: bytes) -> bytes:
        self._left -= len(piece)
        if self._left < 0:
            raise AnswerTooLong("the answer is too long")
        return piece


class _Limited(httpx.AsyncByteStream, httpx2.AsyncByteStream, httpx.SyncByteStream):
    def __init__(self, stream: Any, unpacker: _Unpacker) -> None:
        self._stream = stream
        self._unpacker = unpacker

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            for piece in self._unpacker.unpack(chunk):
                yield piece
        for piece in self._unpacker.finish():
            yield piece

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._stream:
            yield from self._unpacker.unpack(chunk)
        yield from self._unpacker.finish()

    async def aclose(self) -> None:
        await self._stream.aclose()

    def close(self) -> None:
        self._stream.close()


_EVENT_STREAM = "text/event-stream"


def limit_answers(client: Any, max_bytes: int, *, seconds: float | None = None, events: bool = True) -> None:
    """Limit what a client of either library reads of an answer to ``max_bytes``, and the time for it to ``seconds``.

    Without ``events``, streams of events have no limit, because they may stay open for days; their reader has to limit
    each event. Answers above a limit raise :class:`AnswerTooLong` or :class:`AnswerTooSlow`, errors of both libraries.
    """

    def limit(response: Any) -> None:
        unlimited = not events and response.headers.get("Content-Type", "").startswith(_EVENT_STREAM)
        encoding = response.headers.pop("Content-Encoding", "").strip().lower()
        response.headers.pop("Content-Length", None)  # the unpacked answer has another length
        unpacker = _Unpacker(encoding, 2**63 if unlimited else max_bytes, None if unlimited else seconds)
        response.stream = _Limited(response.stream, unpacker)

    async def limit_later(response: Any) -> None:
        limit(response)

    hook: Callable[[Any], Coroutine[Any, Any, None] | None] = limit
    if isinstance(client, httpx.AsyncClient | httpx2.AsyncClient):
        hook = limit_later
    client.headers["Accept-Encoding"] = "gzip"
    hooks = client.event_hooks
    client.event_hooks = {**hooks, "response": [*hooks["response"], hook]}


def describe_failure(error: Exception) -> str:
    """Return why a service gave no usable answer, as part of a sentence."""
    if isinstance(error, TimeoutError | httpx.TimeoutException | httpx2.TimeoutException):
        return _("it gave no answer in time")
    if isinstance(error, AnswerTooLong):
        return _("its answer is too long")
    if isinstance(error, AnswerUnreadable):
        return _("its answer cannot be read")
    return type(error).__name__
