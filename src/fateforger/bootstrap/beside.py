"""Background tasks that run for the lifetime of the process."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from typing import Any


def run_in_background(stack: AsyncExitStack, work: Coroutine[Any, Any, None], *, name: str) -> None:
    """Start a task; when ``stack`` is closed, the task is cancelled and awaited."""
    task = asyncio.create_task(work, name=name)
    stack.push_async_callback(_cancel_task, task)


async def _cancel_task(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
