"""Several things at once, but not too many."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def each_of(items: Iterable[T], work: Callable[[T], Awaitable[None]], *, at_once: int) -> None:
    """Do ``work`` for each item, at most ``at_once`` together. After the first failure nothing new is started; what
    is under way comes to its end, and then that failure is raised."""
    queue = iter(items)
    failed = False

    async def worker() -> None:
        nonlocal failed
        for item in queue:
            if failed:
                return
            try:
                await work(item)
            except BaseException:
                failed = True
                raise

    ends = await asyncio.gather(*(worker() for _ in range(at_once)), return_exceptions=True)
    for end in ends:
        if isinstance(end, BaseException):
            raise end
