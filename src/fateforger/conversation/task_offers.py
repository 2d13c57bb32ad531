"""Other things to do on a day, from the queue, earlier sessions and an external task list.

The external list is read in the background: no reply waits for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from fateforger.errors import TasksUnavailable
from fateforger.ports.clock import Clock
from fateforger.ports.people import OwnerRecord
from fateforger.session.model import OfferedInput, Session
from fateforger.session.open_work import carry_over, list_elsewhere, with_outside, with_queue
from fateforger.session.stages import TimeboxingStage
from fateforger.session.store import Sessions
from fateforger.tasks.ports import OpenTasks
from fateforger.tasks.task import OutsideTask, QueuedTask
from fateforger.workers.supervisor import BackgroundTasks

log = logging.getLogger(__name__)

FindOwner = Callable[[], Awaitable[OwnerRecord]]
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
    """Reads the list, one read at a time. After a failure the next read may start at once.

    The list is that of the owner of the program's own calendar, and is offered to them alone.
    """

    def __init__(self, read: OpenTasks, clock: Clock, find_owner: FindOwner) -> None:
        self._read_tasks = read
        self._clock = clock
        self._find_owner = find_owner
        self._known = ListState()
        self._read_at: datetime | None = None
        self._look: asyncio.Task[None] | None = None
        self._tasks = BackgroundTasks()

    def begin(self) -> None:
        """Start a read, unless there is a recent one or one in progress."""
        fresh = self._read_at is not None and self._clock.now() - self._read_at <= KEPT_FOR
        if not fresh and (self._look is None or self._look.done()):
            self._look = self._tasks.start(self._read(), name="look at the list outside")

    async def belongs_to(self, user_id: str) -> bool:
        """Check whether the list is this person's. Raises ``StoreError``."""
        return (await self._find_owner()).person == user_id

    @property
    def state(self) -> ListState:
        """The result of the reads so far."""
        return self._known

    async def wait(self) -> None:
        """Wait for the read in progress, if there is one."""
        if self._look is not None:
            await asyncio.wait({self._look})

    async def aclose(self) -> None:
        await self._tasks.close()

    async def _read(self) -> None:
        at = self._clock.now()
        try:
            self._known = ListState(await self._read_tasks())
            self._read_at = at
        except TasksUnavailable as error:
            log.error("a list of tasks could not be read: %s", error.reason)  # noqa: TRY400  the reason says it all
            self._known, self._read_at = ListState(self._known.tasks, error.message), None


LATEST = 20
"""Recent sessions of a person that are searched for open tasks."""


class OpenTaskReader(Protocol):
    """The part of a person's queue that offers need. Raises ``StoreError``."""

    async def to_do(self, user_id: str) -> tuple[QueuedTask, ...]:
        """Return the tasks that can be pulled, and those in the person's hands."""
        ...

    async def find_ended(self, user_id: str, task_ids: Sequence[str]) -> frozenset[str]:
        """Return the ids of those tasks that are done or stopped."""
        ...


async def find_offers(
    sessions: Sessions,
    session: Session,
    queue: OpenTaskReader | None,
    outside: ExternalTaskList | None,
    *,
    now: datetime,
) -> tuple[tuple[OfferedInput, ...] | None, str | None]:
    """Return what else could be done on a day without a draft (``None`` for any other), and why it may be incomplete.

    For its owner, a read of the list ``outside`` is started, but not awaited. Raises ``StoreError``.
    """
    if session.stage.number > TimeboxingStage.CAPTURE_INPUTS.number:
        return None, None
    others = await sessions.of_user(session.user_id, limit=LATEST)
    left = carry_over(session, others, now=now)
    if queue is not None:
        ended = await queue.find_ended(session.user_id, [each.task.id for each in left])
        elsewhere = list_elsewhere(session, others, now=now)
        left = with_queue(session, left, await queue.to_do(session.user_id), ended=ended, elsewhere=elsewhere)
    if outside is None or not await outside.belongs_to(session.user_id):
        return left, None
    outside.begin()
    return with_outside(session, left, outside.state.tasks), outside.state.trouble
