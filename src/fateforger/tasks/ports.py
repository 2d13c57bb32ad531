"""People's queues of tasks, how long their tasks took, and task lists that they keep in other services."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import date, datetime
from typing import Protocol

from fateforger.tasks.durations import Observation
from fateforger.tasks.queue import NewTask
from fateforger.tasks.task import OutsideTask, QueuedTask

Change = Callable[[QueuedTask], QueuedTask]
"""Returns the changed task. It is pure, and called again if the task was changed meanwhile. May raise ``BadInput``."""

Rearrangement = Callable[[tuple[QueuedTask, ...]], Sequence[QueuedTask]]
"""Returns the changed tasks among a person's unfinished ones, which it gets in order. It is pure. May raise
``BadInput``."""


class Tasks(Protocol):
    """Stored tasks. Each call is one commit that survives a crash.

    An id of another person's task counts as unknown. Raises :class:`~fateforger.errors.StoreError`.
    """

    async def add(self, user_id: str, tasks: Sequence[NewTask], *, cause: str, now: datetime) -> tuple[QueuedTask, ...]:
        """Put tasks into the queue, all or none, and return them with their ids.

        ``cause`` names the origin (a message, a click): a cause that added before adds nothing, and its tasks are
        returned as they are now. Raises ``BadInput`` for a missing goal or blocker, and for tasks that would wait for
        each other.
        """
        ...

    async def of(self, user_id: str, *, ended: bool = False) -> tuple[QueuedTask, ...]:
        """Return a person's tasks in the order of their queue; with ``ended`` also those done or stopped."""
        ...

    async def get(self, user_id: str, task_id: str) -> QueuedTask | None: ...

    async def claim(
        self,
        user_id: str,
        executor: str,
        *,
        now: datetime,
        lease_seconds: float,
        task_id: str | None = None,
        today: date | None = None,
    ) -> QueuedTask | None:
        """Claim the next task that can be pulled (:func:`~fateforger.tasks.queue.ready_tasks`), or the one of that id.

        With ``today``, the next task is none that is kept for a later day. The task is ``running`` then, by this
        executor alone, until the lease ends. Returns ``None`` if there is none, or that one cannot be pulled. An
        expired claim counts as none.
        """
        ...

    async def extend(self, task: QueuedTask, *, now: datetime, lease_seconds: float) -> QueuedTask | None:
        """Extend the claim of a running task; return ``None`` if it was lost."""
        ...

    async def settle(self, task: QueuedTask, change: Change, *, now: datetime) -> QueuedTask | None:
        """End a claim: ``change`` maps the running task to its next state (done, waiting, failed, active).

        If it stays running, the claim continues. Returns ``None`` if the claim was lost; nothing is written then. An
        expired claim is valid until another executor takes the task.
        """
        ...

    async def change(self, user_id: str, task_id: str, change: Change, *, now: datetime) -> QueuedTask | None:
        """Change an existing task in any state; its claim ends if it is not ``running`` afterwards.

        Returns ``None`` for an unknown id. Raises ``BadInput`` for a move that
        :func:`~fateforger.tasks.transitions.can_move` forbids.
        """
        ...

    async def rearrange(self, user_id: str, change: Rearrangement, *, now: datetime) -> tuple[QueuedTask, ...]:
        """Change several of a person's tasks at once, all or none; return the resulting queue.

        Raises as :meth:`change`.
        """
        ...

    async def waiting(
        self, *, of: Collection[str] | None = None, after: str = "", limit: int = 100
    ) -> tuple[QueuedTask, ...]:
        """Return tasks that wait for their person, by id from the one that follows ``after`` on.

        ``of`` names the people; ``None`` means everyone. Left out are those whom Slack cannot reach: where the app was
        removed, and deactivated accounts.
        """
        ...

    async def take_back(self, executor: str, *, now: datetime) -> int:
        """End all claims of an executor, and return their number; the tasks can be pulled again.

        Only for a caller who knows that no executor of that name is alive.
        """
        ...


MOST_OBSERVATIONS = 400
"""Observations of a person that are read: some months of them."""


class Durations(Protocol):
    """Observed lengths of people's tasks. Each call is one commit. Raises :class:`~fateforger.errors.StoreError`."""

    async def of(self, user_id: str) -> tuple[Observation, ...]:
        """Return a person's latest observations, the oldest first, by day and then by id."""
        ...

    async def keep(self, user_id: str, observations: Sequence[Observation], *, gone: Sequence[str] = ()) -> None:
        """Store a person's observations, each in place of that with its id, and delete those with the ids ``gone``."""
        ...


OpenTasks = Callable[[], Awaitable[tuple[OutsideTask, ...]]]
"""Returns the open tasks in the task list of the one person who plans here, in their own order, within a few seconds.

Their content comes from outside and is bounded and cleaned before it is returned. Raises
:class:`~fateforger.errors.TasksUnavailable` if that is not possible, for any reason.
"""
