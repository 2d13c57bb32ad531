"""The HTTP client for an external server: with the token, and a limit on the size of answers."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from httpx2 import AsyncByteStream, AsyncClient, Response

MOST_BYTES = 4 * 1024 * 1024
"""The most bytes of one answer."""
_REFUSED = (401, 403)


class TooLong(Exception):
    """An answer exceeded the limit and was not read to its end."""


def open_http_client(token: str | None, seconds: float, refused: list[int]) -> AsyncClient:
    """Return a client, which the caller closes.

    An answer longer than ``MOST_BYTES`` raises :class:`TooLong`. The status of a refused login is added to ``refused``,
    since the protocol's client does not expose it.
    """
    import httpx2  # noqa: PLC0415  heavy, and not needed before the first look

    # Both log addresses or answers; an address may hold a secret.
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    logging.getLogger("mcp.client.streamable_http").setLevel(logging.CRITICAL)

    class Bounded(httpx2.AsyncByteStream):
        def __init__(self, stream: AsyncByteStream) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            read = 0
            async for chunk in self._stream:
                read += len(chunk)
                if read > MOST_BYTES:
                    raise TooLong("the answer is too long")
                yield chunk

        async def aclose(self) -> None:
            await self._stream.aclose()

    async def limit_response(response: Response) -> None:
        if response.status_code in _REFUSED:
            refused.append(response.status_code)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = Bounded(response.stream)

    # Compressed, a short answer could expand into a long one.
    headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {token}"} if token else {})
    return httpx2.AsyncClient(headers=headers, timeout=seconds, event_hooks={"response": [limit_response]})
