"""Check tasks that wait for something other than the person's decision, on a wake-up and at intervals (S162)."""

from __future__ import annotations

import asyncio
import logging

from fateforger.background.letters import build_notification_job
from fateforger.coordinator.dispositor.cards import build_task_card
from fateforger.coordinator.executor.carried import TaskResult, Tools
from fateforger.coordinator.executor.kinds import check_completion
from fateforger.errors import BadInput, StoreError
from fateforger.tasks import QueuedTask, TaskState

log = logging.getLogger(__name__)

SECONDS = 20.0
"""Seconds between two checks without a wake-up."""


class WaitingTasks:
    """Checks the waiting tasks of all people. It keeps no state: an interrupted check is repeated."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._awake = asyncio.Event()

    def wake(self) -> None:
        """Wake the check. Call this when something happened that a task may wait for."""
        self._awake.set()

    async def run(self) -> None:
        """Check tasks until cancelled."""
        while True:
            self._awake.clear()
            try:
                await self.run_once()
            except StoreError as error:
                log.warning("waiting tasks are not looked at for now: %s", error.message)
            except Exception:  # outermost edge of a check: one broken task must not end it for all
                log.exception("a look at waiting tasks failed")
            try:
                await asyncio.wait_for(self._awake.wait(), SECONDS)
            except TimeoutError:
                continue

    async def run_once(self) -> None:
        """Check each waiting task once. Raises ``StoreError``."""
        for task in await self._tools.tasks.waiting():
            came = await check_completion(self._tools, task)
            if came is not None:
                await self._settle(task, came)

    async def _settle(self, task: QueuedTask, came: TaskResult) -> None:
        """Announce the result once, and then store it, so that no result goes unannounced."""
        cause = f"{task.id}/{task.version}/{came.state.value}"
        after = came.on(task, cause, task.mode)
        session = await self._tools.sessions.load(after.place.partition(" ")[0])
        now = self._tools.clock.now()
        if session is not None and session.thread_ts is not None:
            others = [each for each in await self._tools.tasks.of(task.user_id) if each.id != task.id]
            card = build_task_card(after, others)
            news = build_notification_job(
                card, v=cause, channel=session.channel, thread_ts=session.thread_ts, beside=True
            )
            await self._tools.jobs.enqueue(news, now=now)
        try:
            await self._tools.tasks.change(
                task.user_id, task.id, lambda there: _apply_if_waiting(there, came, cause), now=now
            )
        except BadInput as error:
            log.info("the task %s went on by itself: %s", task.id, error.message)


def _apply_if_waiting(task: QueuedTask, came: TaskResult, cause: str) -> QueuedTask:
    """Return the task with the result, if it is still waiting."""
    return came.on(task, cause, task.mode) if task.state is TaskState.WAITING else task
