"""A list of tasks that the person keeps elsewhere. It is only ever read."""

from __future__ import annotations

from typing import Protocol

from fateforger.tasks.outside import OutsideTask


class OpenTasks(Protocol):
    """The list of the one person who plans here. What it answers is somebody else's: it is bounded and cleaned before
    it comes through here."""

    async def open_tasks(self) -> tuple[OutsideTask, ...]:
        """What is open there, in its own order, within a few seconds. Raises
        :class:`~fateforger.errors.TasksUnavailable` when that cannot be told, whatever the reason."""
        ...
