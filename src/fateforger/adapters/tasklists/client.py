"""The HTTP client for a server that is not ours: with the token, and a limit of what is read."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from httpx2 import AsyncByteStream, AsyncClient, Response

MOST_BYTES = 4 * 1024 * 1024
"""Of one answer."""
_REFUSED = (401, 403)


class TooLong(Exception):
    """An answer was not read to its end."""


def http_client(token: str | None, seconds: float, refused: list[int]) -> AsyncClient:
    """To be closed by whoever asks for it. An answer longer than ``MOST_BYTES`` breaks off with :class:`TooLong`; the
    status of one that refuses the login is added to ``refused``, since the protocol's client does not tell it."""
    import httpx2  # noqa: PLC0415  heavy, and not needed before the first look

    # Both write addresses, or what was answered, to the log; an address may hold a secret.
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

    async def bounded(response: Response) -> None:
        if response.status_code in _REFUSED:
            refused.append(response.status_code)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = Bounded(response.stream)

    # Unpacked, a short answer could be a long one.
    headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {token}"} if token else {})
    return httpx2.AsyncClient(headers=headers, timeout=seconds, event_hooks={"response": [bounded]})
