"""Checks of agents' HTTP requests before the protocol's library reads them: size, form and number.

The library would answer a malformed request with the error of its parser. It does not limit the number of requests.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from starlette.types import Message, Receive

from fateforger.errors import BadInput
from fateforger.limits import MAX_CALL_BODY_BYTES, MAX_LABEL_CHARS

TOO_LARGE = f"A request may have at most {MAX_CALL_BODY_BYTES:,} bytes. Please send less at a time."
NO_JSON = "This request is not JSON."
NO_FRAME = (
    "This is not a message of the Model Context Protocol. Send one JSON object with jsonrpc, id, method and params."
)
_MINUTE = timedelta(minutes=1)


class TooLarge(BadInput):
    """A request is longer than the limit."""


@dataclass(slots=True)
class Rate:
    """Counts requests in the last minute."""

    most: int
    _times: deque[datetime] = field(default_factory=deque)

    def is_exceeded(self, now: datetime) -> bool:
        """Check whether as many as allowed were counted."""
        while self._times and self._times[0] <= now - _MINUTE:
            self._times.popleft()
        return len(self._times) >= self.most

    def count(self, now: datetime) -> None:
        """Count a request."""
        self._times.append(now)


async def read_body(receive: Receive) -> bytes:
    """Return the body of a request. Raises :class:`TooLarge` as soon as the body exceeds the limit."""
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > MAX_CALL_BODY_BYTES:
            raise TooLarge(TOO_LARGE)
        if not message.get("more_body", False):
            return bytes(body)


def replay(body: bytes, receive: Receive) -> Receive:
    """Return a ``receive`` that repeats a body that was read already, and then passes on later messages."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return left.pop() if left else await receive()

    return receive_again


def check_frame(body: bytes) -> None:
    """Raise ``BadInput`` unless a body is a message of the protocol."""
    try:
        frame: Any = json.loads(body)
    except (ValueError, RecursionError):
        raise BadInput(NO_JSON) from None
    match frame:
        case {"jsonrpc": "2.0", "method": str(method)} if len(method) <= MAX_LABEL_CHARS:
            right = isinstance(frame.get("params", {}), dict) and isinstance(frame.get("id", 0), int | str)
        case {"jsonrpc": "2.0", "id": int() | str(), "result": dict()} | {"jsonrpc": "2.0", "error": dict()}:
            right = True
        case _:
            right = False
    if not right:
        raise BadInput(NO_FRAME)
