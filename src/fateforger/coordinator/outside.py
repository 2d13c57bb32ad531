"""The person's external task list, read in the background: no reply waits for it."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from fateforger.errors import TasksUnavailable
from fateforger.ports import Clock, OpenTasks
from fateforger.tasks.outside import OutsideTask

log = logging.getLogger(__name__)

KEPT_FOR = timedelta(minutes=1)
"""Age from which a result is read again."""


@dataclass(frozen=True, slots=True)
class ListState:
    """The list when it was last read; ``None`` if it never was.

    ``trouble`` is a sentence about the failure of the latest read.
    """

    tasks: tuple[OutsideTask, ...] | None = None
    trouble: str | None = None


class ExternalTaskList:
    """Reads the list, one read at a time. After a failure the next read may start at once."""

    def __init__(self, source: OpenTasks, clock: Clock) -> None:
        self._source = source
        self._clock = clock
        self._known = ListState()
        self._read_at: datetime | None = None
        self._look: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Start a read, unless there is a recent one or one in progress."""
        fresh = self._read_at is not None and self._clock.now() - self._read_at <= KEPT_FOR
        if not fresh and (self._look is None or self._look.done()):
            self._look = asyncio.create_task(self._read(), name="look at the list outside")

    @property
    def state(self) -> ListState:
        """The result of the reads so far."""
        return self._known

    async def wait(self) -> None:
        """Wait for the read in progress, if there is one."""
        if self._look is not None:
            await asyncio.wait({self._look})

    async def aclose(self) -> None:
        """Stop reading."""
        if self._look is not None:
            self._look.cancel()
            await asyncio.gather(self._look, return_exceptions=True)

    async def _read(self) -> None:
        at = self._clock.now()
        try:
            self._known = ListState(await self._source.open_tasks())
            self._read_at = at
        except TasksUnavailable as error:
            log.error("a list of tasks could not be read: %s", error.reason)  # noqa: TRY400  the reason says it all
            self._known, self._read_at = ListState(self._known.tasks, error.message), None
