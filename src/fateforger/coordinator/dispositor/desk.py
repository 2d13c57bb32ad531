"""Puts work into the queue, lists it, and says so. Of the queue it knows how to add and to look, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from fateforger.coordinator.dispositor.cards import acknowledgement, queue_card
from fateforger.coordinator.dispositor.known import known
from fateforger.ports import NewTask
from fateforger.session.cards import Card
from fateforger.session.commands.queue import EnqueueTask, ShowTasks
from fateforger.tasks import QueuedTask


class Shelf(Protocol):
    """What the front desk may do with :class:`fateforger.ports.Tasks`: nothing of it carries a task out (S145)."""

    async def add(
        self, user_id: str, tasks: Sequence[NewTask], *, cause: str, now: datetime
    ) -> tuple[QueuedTask, ...]: ...

    async def of(self, user_id: str, *, ended: bool = False) -> tuple[QueuedTask, ...]: ...

    async def get(self, user_id: str, task_id: str) -> QueuedTask | None: ...


class FrontDesk:
    """Each deed is done once, however often its command comes; the card is the answer. All raise ``StoreError``."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    async def enqueue(self, command: EnqueueTask) -> Card:
        """Put a task into the queue, and say so (S154, S155)."""
        return acknowledgement(await self.put(command))

    async def queued(self, user_id: str) -> tuple[QueuedTask, ...]:
        """The tasks that have not ended, in order."""
        return await self._shelf.of(user_id)

    async def put(self, command: EnqueueTask) -> QueuedTask:
        """The task that a command puts into the queue, without a word about it."""
        new = NewTask(command.spec, command.origin)
        (task,) = await self._shelf.add(command.user_id, (new,), cause=command.command_id, now=command.at)
        return task

    async def listed(self, command: ShowTasks) -> Card:
        """The person's queue."""
        return queue_card(await known(self._shelf, command.user_id))
