"""The queue of everybody's tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from fateforger.tasks import NewTask, QueuedTask

Change = Callable[[QueuedTask], QueuedTask]
"""What becomes of a task; pure, and called anew when the task was changed meanwhile. May raise ``BadInput``."""

Rearrangement = Callable[[tuple[QueuedTask, ...]], Sequence[QueuedTask]]
"""From all tasks of a person that have not ended, in order, those that become something else, as they are then; pure.
May raise ``BadInput``."""


class Tasks(Protocol):
    """Tasks, kept. Each call is one commit that survives a crash. A person's tasks are theirs: an id of somebody else's
    is an id that is not there. Raises :class:`~fateforger.errors.StoreError`."""

    async def add(self, user_id: str, tasks: Sequence[NewTask], *, cause: str, now: datetime) -> tuple[QueuedTask, ...]:
        """Put tasks into the queue, all or none, and return them with their ids. ``cause`` names what led to them (a
        message, a click): a cause that added before adds nothing, and what it added then is returned, as it is now.
        Raises ``BadInput`` for a goal or a blocker that is not there, and for tasks that would wait for each other."""
        ...

    async def of(self, user_id: str, *, ended: bool = False) -> tuple[QueuedTask, ...]:
        """A person's tasks in the order of their queue; with ``ended`` also those done or stopped."""
        ...

    async def get(self, user_id: str, task_id: str) -> QueuedTask | None:
        """One task of that person."""
        ...

    async def claim(
        self, user_id: str, executor: str, *, now: datetime, lease_seconds: float, task_id: str | None = None
    ) -> QueuedTask | None:
        """Claim the next task that can be pulled (:func:`fateforger.tasks.ready`), or the one of that id: it is
        ``running`` then, by this executor alone, until the lease ends. ``None`` when there is none, or that one cannot
        be pulled. A claim that ran out counts as none."""
        ...

    async def extend(self, task: QueuedTask, *, now: datetime, lease_seconds: float) -> QueuedTask | None:
        """Keep the claim of a running task; ``None`` when it was lost."""
        ...

    async def settle(self, task: QueuedTask, change: Change, *, now: datetime) -> QueuedTask | None:
        """End a claim: ``change`` takes the running task as it is now to what follows (done, waiting, failed, active);
        if it leaves it running, the claim goes on. ``None`` when the claim was lost; nothing is written then. A claim
        that ran out is kept until somebody takes the task."""
        ...

    async def change(self, user_id: str, task_id: str, change: Change, *, now: datetime) -> QueuedTask | None:
        """Change a task that is there, whatever its state; a claim ends when it is not ``running`` after that. ``None``
        when there is none of that id. Raises ``BadInput`` for a move that :func:`fateforger.tasks.may_move` forbids."""
        ...

    async def rearrange(self, user_id: str, change: Rearrangement, *, now: datetime) -> tuple[QueuedTask, ...]:
        """Change several of a person's tasks at once, all or none, and return the queue after that. Raises as
        :meth:`change`."""
        ...

    async def waiting(self) -> tuple[QueuedTask, ...]:
        """Everybody's tasks that wait for their person, so that what completes them can be looked for."""
        ...

    async def take_back(self, executor: str, *, now: datetime) -> int:
        """End all claims of an executor, and say how many there were; the tasks can be pulled again. Only for a caller
        who knows that no executor of that name is alive."""
        ...

    async def forget(self, user_id: str) -> int:
        """Delete every task of one person for good, and say how many there were."""
        ...
