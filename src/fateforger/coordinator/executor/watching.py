"""Tasks that wait for something other than a word: looked at when that may have come, and now and then (S162)."""

from __future__ import annotations

import asyncio
import logging

from fateforger.background.letters import letter
from fateforger.coordinator.dispositor.cards import task_card
from fateforger.coordinator.executor.carried import Carried, Tools
from fateforger.coordinator.executor.kinds import completed
from fateforger.errors import BadInput, StoreError
from fateforger.tasks import QueuedTask, TaskState

log = logging.getLogger(__name__)

SECONDS = 20.0
"""Between two looks when nobody says that something may have come."""


class Waiting:
    """Looks at everybody's waiting tasks. Nothing is remembered beyond the process: what waits is in the store, and a
    look that was cut off is simply repeated."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._awake = asyncio.Event()

    def wake(self) -> None:
        """Something may have come that a task waits for."""
        self._awake.set()

    async def run(self) -> None:
        """Look until it is cancelled."""
        while True:
            self._awake.clear()
            try:
                await self.round()
            except StoreError as error:
                log.warning("waiting tasks are not looked at for now: %s", error.message)
            except Exception:  # the outermost edge of looking: one task that is beyond us must not end it for all
                log.exception("a look at waiting tasks failed")
            try:
                await asyncio.wait_for(self._awake.wait(), SECONDS)
            except TimeoutError:
                continue

    async def round(self) -> None:
        """Look at each waiting task once. Raises ``StoreError``."""
        for task in await self._tools.tasks.waiting():
            came = await completed(self._tools, task)
            if came is not None:
                await self._settle(task, came)

    async def _settle(self, task: QueuedTask, came: Carried) -> None:
        """First it is said, once, and then written down: so nothing that ended by itself goes unsaid."""
        cause = f"{task.id}/{task.version}/{came.state.value}"
        after = came.on(task, cause, task.mode)
        session = await self._tools.sessions.load(after.place.partition(" ")[0])
        now = self._tools.clock.now()
        if session is not None and session.thread_ts is not None:
            others = [each for each in await self._tools.tasks.of(task.user_id) if each.id != task.id]
            card = task_card(after, others)
            news = letter(card, v=cause, channel=session.channel, thread_ts=session.thread_ts, beside=True)
            await self._tools.jobs.enqueue(news, now=now)
        try:
            await self._tools.tasks.change(task.user_id, task.id, lambda there: _still(there, came, cause), now=now)
        except BadInput as error:
            log.info("the task %s went on by itself: %s", task.id, error.message)


def _still(task: QueuedTask, came: Carried, cause: str) -> QueuedTask:
    """What becomes of the task if it still waits."""
    return came.on(task, cause, task.mode) if task.state is TaskState.WAITING else task
