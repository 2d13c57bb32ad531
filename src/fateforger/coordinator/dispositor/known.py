"""A person's queue together with what it waits for."""

from __future__ import annotations

from typing import Protocol

from fateforger.tasks import QueuedTask


class Looking(Protocol):
    """The part of :class:`fateforger.ports.Tasks` that only looks."""

    async def of(self, user_id: str, *, ended: bool = False) -> tuple[QueuedTask, ...]: ...

    async def get(self, user_id: str, task_id: str) -> QueuedTask | None: ...


async def known(tasks: Looking, user_id: str) -> tuple[QueuedTask, ...]:
    """What has not ended, in order; behind it what it waits for that has ended, for a task that was stopped blocks on.
    Raises ``StoreError``."""
    queue = await tasks.of(user_id)
    there = {task.id for task in queue}
    missing = dict.fromkeys(name for task in queue for name in task.blocked_by if name not in there)
    others = [await tasks.get(user_id, name) for name in missing]
    return (*queue, *(task for task in others if task is not None))
