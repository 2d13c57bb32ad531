"""Writes that start again from a fresh read when somebody else was faster."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from caldav_mcp.errors import PreconditionFailed, ServerTrouble

_TRIES = 5
T = TypeVar("T")


async def retry_write(attempt: Callable[[], Awaitable[T]], *, repeat: bool) -> T:
    """Run a read-merge-write until no other write came in between, at most five times.

    With `repeat` false (the caller named the state it wants to change) the first stale state is the answer.
    """
    for _ in range(_TRIES):
        try:
            return await attempt()
        except PreconditionFailed:
            if not repeat:
                raise
    raise ServerTrouble("The event was changed by somebody else again and again")
