"""Add work to the queue and list it, with a card for each answer; no other access to the queue."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from fateforger.coordinator.dispositor.cards import build_acknowledgment, build_queue_card
from fateforger.coordinator.dispositor.known import read_queue
from fateforger.ports import NewTask
from fateforger.session.cards import Card
from fateforger.session.commands.queue import EnqueueTask, ShowTasks
from fateforger.tasks import QueuedTask


class TaskAccess(Protocol):
    """The part of :class:`fateforger.ports.Tasks` that the dispositor may use: it cannot carry out a task (S145)."""

    async def add(
        self, user_id: str, tasks: Sequence[NewTask], *, cause: str, now: datetime
    ) -> tuple[QueuedTask, ...]: ...

    async def of(self, user_id: str, *, ended: bool = False) -> tuple[QueuedTask, ...]: ...

    async def get(self, user_id: str, task_id: str) -> QueuedTask | None: ...


class Dispositor:
    """Answers requests about the queue with cards; repeated commands have no effect. Methods raise ``StoreError``."""

    def __init__(self, shelf: TaskAccess) -> None:
        self._shelf = shelf

    async def enqueue(self, command: EnqueueTask) -> Card:
        """Add a task to the queue and return the acknowledgement (S154, S155)."""
        return build_acknowledgment(await self.put(command))

    async def list_queued(self, user_id: str) -> tuple[QueuedTask, ...]:
        """Return the tasks that have not ended, in order."""
        return await self._shelf.of(user_id)

    async def put(self, command: EnqueueTask) -> QueuedTask:
        """Add the task of a command to the queue and return it, without a message."""
        new = NewTask(command.spec, command.origin)
        (task,) = await self._shelf.add(command.user_id, (new,), cause=command.command_id, now=command.at)
        return task

    async def show_queue(self, command: ShowTasks) -> Card:
        """Return the card of the person's queue."""
        return build_queue_card(await read_queue(self._shelf, command.user_id))
