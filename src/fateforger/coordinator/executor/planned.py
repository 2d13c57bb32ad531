"""Tasks of the queue that are in the plan of a day: they are in the person's hands until they report them as done."""

from __future__ import annotations

from collections.abc import Sequence

from fateforger.coordinator.dispositor.known import read_queue
from fateforger.coordinator.executor.carried import Tools
from fateforger.session.days import day_words
from fateforger.session.model import Session
from fateforger.session.offering import queue_ids
from fateforger.tasks import ENDED, QueuedTask, TaskState, read_task_id, ready_tasks
from fateforger.values import replace

LEASE_SECONDS = 60.0


class PlannedTasks:
    """Keeps the queue up to date with plans.

    ``executor`` names this program in its claims. All methods raise ``StoreError`` and can be repeated.
    """

    def __init__(self, tools: Tools, executor: str) -> None:
        self._tools = tools
        self._executor = executor

    async def to_do(self, user_id: str) -> tuple[QueuedTask, ...]:
        """Return the tasks that can be pulled, and those in the person's hands."""
        tasks = await read_queue(self._tools.tasks, user_id)
        can = {task.id for task in ready_tasks(tasks)}
        return tuple(task for task in tasks if task.id in can or task.state is TaskState.WAITING)

    async def find_ended(self, user_id: str, task_ids: Sequence[str]) -> frozenset[str]:
        """Return the ids of those tasks that are done or stopped."""
        found = [await self._tools.tasks.get(user_id, name) for name in task_ids if read_task_id(name) == name]
        return frozenset(task.id for task in found if task is not None and task.state in ENDED)

    async def follow(self, before: Session, after: Session) -> None:
        """Hand tasks that entered the list of a day to the person, and return those that left it to the queue."""
        was, now = queue_ids(before), queue_ids(after)
        for task_id in sorted(now - was):
            await self._take(after, task_id)
        for task_id in sorted(was - now):
            await self._tools.tasks.change(
                after.user_id, task_id, lambda task: _put_back(task, after), now=self._tools.clock.now()
            )

    async def _take(self, session: Session, task_id: str) -> None:
        now = self._tools.clock.now()
        claimed = await self._tools.tasks.claim(
            session.user_id, self._executor, now=now, lease_seconds=LEASE_SECONDS, task_id=task_id
        )
        if claimed is not None:
            await self._tools.tasks.settle(claimed, lambda task: _hand_over(task, session), now=now)
        else:
            await self._tools.tasks.change(
                session.user_id, task_id, lambda task: _move_to_session(task, session), now=now
            )


def _hand_over(task: QueuedTask, session: Session) -> QueuedTask:
    said = f"It is planned for {day_words(session.date)}. Say here when it is done."
    return replace(task, state=TaskState.WAITING, outcome=said, place=session.id)


def _move_to_session(task: QueuedTask, session: Session) -> QueuedTask:
    return _hand_over(task, session) if task.state is TaskState.WAITING else task


def _put_back(task: QueuedTask, session: Session) -> QueuedTask:
    if task.state is not TaskState.WAITING or task.place != session.id:
        return task
    return replace(task, state=TaskState.ACTIVE, outcome="", place="")
