"""Read a person's queue together with the tasks that it waits for."""

from __future__ import annotations

from typing import Protocol

from fateforger.tasks import QueuedTask


class TaskReader(Protocol):
    """The read-only part of :class:`fateforger.ports.Tasks`."""

    async def of(self, user_id: str, *, ended: bool = False) -> tuple[QueuedTask, ...]: ...

    async def get(self, user_id: str, task_id: str) -> QueuedTask | None: ...


async def read_queue(tasks: TaskReader, user_id: str) -> tuple[QueuedTask, ...]:
    """Return the tasks that have not ended, in order, followed by the ended tasks that they wait for.

    The latter are included because a stopped task still blocks. Raises ``StoreError``.
    """
    queue = await tasks.of(user_id)
    there = {task.id for task in queue}
    missing = dict.fromkeys(name for task in queue for name in task.blocked_by if name not in there)
    others = [await tasks.get(user_id, name) for name in missing]
    return (*queue, *(task for task in others if task is not None))
