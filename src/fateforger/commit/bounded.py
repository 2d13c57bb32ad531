"""Run several tasks concurrently, up to a limit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import TypeVar

T = TypeVar("T")


async def run_each(items: Collection[T], work: Callable[[T], Awaitable[None]], *, at_once: int) -> None:
    """Run ``work`` for each item, at most ``at_once`` concurrently.

    After the first failure no further item is started; running ones finish, and then that failure is raised.
    """
    if len(items) < 2:
        for item in items:
            await work(item)
        return
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

    ends = await asyncio.gather(*(worker() for _ in range(min(at_once, len(items)))), return_exceptions=True)
    for end in ends:
        if isinstance(end, BaseException):
            raise end
