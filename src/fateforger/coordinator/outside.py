"""The person's list of tasks elsewhere, looked at in the background: no reply ever waits for it."""

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
"""A look that is older is made again."""


@dataclass(frozen=True, slots=True)
class Listed:
    """What the list held when it could last be read; ``None`` when it never was. ``trouble`` says, as a sentence, that
    the latest look failed."""

    tasks: tuple[OutsideTask, ...] | None = None
    trouble: str | None = None


class OutsideList:
    """One look at a time; after one that failed the next may be made at once."""

    def __init__(self, source: OpenTasks, clock: Clock) -> None:
        self._source = source
        self._clock = clock
        self._known = Listed()
        self._read_at: datetime | None = None
        self._look: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Look, unless that was done just now or is being done."""
        fresh = self._read_at is not None and self._clock.now() - self._read_at <= KEPT_FOR
        if not fresh and (self._look is None or self._look.done()):
            self._look = asyncio.create_task(self._read(), name="look at the list outside")

    @property
    def known(self) -> Listed:
        """What looks have found so far."""
        return self._known

    async def settled(self) -> None:
        """Wait for the look that is under way, if one is."""
        if self._look is not None:
            await asyncio.wait({self._look})

    async def aclose(self) -> None:
        """Stop looking."""
        if self._look is not None:
            self._look.cancel()
            await asyncio.gather(self._look, return_exceptions=True)

    async def _read(self) -> None:
        at = self._clock.now()
        try:
            self._known = Listed(await self._source.open_tasks())
            self._read_at = at
        except TasksUnavailable as error:
            log.error("a list of tasks could not be read: %s", error.reason)  # noqa: TRY400  the reason is all there is
            self._known, self._read_at = Listed(self._known.tasks, error.message), None
