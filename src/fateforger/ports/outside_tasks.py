"""A list of tasks that the person keeps in another service. It is only ever read."""

from __future__ import annotations

from typing import Protocol

from fateforger.tasks.outside import OutsideTask


class OpenTasks(Protocol):
    """The task list of the one person who plans here.

    Its content comes from outside and is bounded and cleaned before it is returned.
    """

    async def open_tasks(self) -> tuple[OutsideTask, ...]:
        """Return the open tasks, in their own order, within a few seconds.

        Raises :class:`~fateforger.errors.TasksUnavailable` if that is not possible, for any reason.
        """
        ...
