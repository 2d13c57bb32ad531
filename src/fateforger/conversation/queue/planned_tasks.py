"""The queue as the plans of days change: what entered a day, left it, or was ticked there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

from fateforger.conversation.queue.dispatch import read_queue
from fateforger.conversation.queue.work import Tools, build_completion
from fateforger.errors import BadInput
from fateforger.session.model import Session
from fateforger.session.open_work import queue_ids
from fateforger.tasks.gate import Report
from fateforger.tasks.ports import Change
from fateforger.tasks.queue import ready_tasks
from fateforger.tasks.task import ENDED, QueuedTask, TaskState, read_task_id
from fateforger.tasks.transitions import reopen_task
from fateforger.text import format_day
from fateforger.text import gettext as _
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
        """Bring the queue up to date with a change of a day.

        Tasks that entered its list are handed to the person, those that left it go back, and what was said to be done
        there, or ticked in a box, is done in the queue as well. A task that still misses one of its criteria waits for
        the person, and says so. The same holds for work of missed days that was settled without being on the list.
        """
        was, now = queue_ids(before), queue_ids(after)
        await self._follow_settled(before, after, listed=was | now)
        for task_id in sorted(was | now):
            names = {task_id, *_find_boxes(before, task_id), *_find_boxes(after, task_id)}
            was_done, done = (_is_done(session, task_id, names) for session in (before, after))
            if done and not was_done:
                if after.open_work.returned is not None:
                    await self._change(after, task_id, partial(_take_over, session=after))
                await self._settle(after, task_id)
            elif was_done and not done:
                await self._change(after, task_id, partial(_reopen, session=after))
            elif task_id not in was:
                await self._take(after, task_id)
            elif task_id not in now:
                await self._change(after, task_id, partial(_put_back, session=after))
            if task_id in was & now and (ticked := _list_ticked(after, task_id)) != _list_ticked(before, task_id):
                await self._change(after, task_id, partial(_tick, ticked=ticked))

    async def _follow_settled(self, before: Session, after: Session, *, listed: frozenset[str]) -> None:
        returned = after.open_work.returned
        queued = {} if returned is None else {each.id: each.queued for each in returned.tasks if each.added}
        had, has = ({queued.get(name, name) for name in each.open_work.settled} for each in (before, after))
        for task_id in sorted((had ^ has) - listed):
            if read_task_id(task_id) != task_id:
                continue
            # A task is in the person's hands before it is done, and again when it is not.
            if task_id in has:
                await self._change(after, task_id, partial(_take_over, session=after))
                await self._settle(after, task_id)
            else:
                await self._change(after, task_id, partial(_reopen, session=after))
                await self._change(after, task_id, partial(_put_back, session=after))

    async def _settle(self, session: Session, task_id: str) -> None:
        task = await self._tools.tasks.get(session.user_id, task_id)
        if task is None:
            return
        check = await build_completion(self._tools, task, Report())
        await self._change(session, task_id, partial(_settle, session=session, complete=check))

    async def _change(self, session: Session, task_id: str, change: Callable[[QueuedTask], QueuedTask]) -> None:
        await self._tools.tasks.change(session.user_id, task_id, change, now=self._tools.clock.now())

    async def _take(self, session: Session, task_id: str) -> None:
        now = self._tools.clock.now()
        claimed = await self._tools.tasks.claim(
            session.user_id, self._executor, now=now, lease_seconds=LEASE_SECONDS, task_id=task_id
        )
        if claimed is not None:
            await self._tools.tasks.settle(claimed, lambda task: hand_over(task, session), now=now)
        else:
            await self._change(session, task_id, partial(_move_to_session, session=session))


def hand_over(task: QueuedTask, session: Session) -> QueuedTask:
    """Return a task that is in the person's hands, in the plan of a day."""
    said = _("It is planned for {date}. Say here when it is done.", date=format_day(session.date))
    return replace(task, state=TaskState.WAITING, outcome=said, place=session.id)


def _move_to_session(task: QueuedTask, session: Session) -> QueuedTask:
    return hand_over(task, session) if task.state is TaskState.WAITING else task


def _put_back(task: QueuedTask, session: Session) -> QueuedTask:
    if task.state is not TaskState.WAITING or task.place != session.id:
        return task
    return replace(task, state=TaskState.ACTIVE, outcome="", place="")


def _find_boxes(session: Session, task_id: str) -> list[str]:
    """Return the boxes of a day that a task of the queue is in."""
    return [box.id for box in session.day.inputs.tasks if any(item.id == task_id for item in box.details.items)]


def _is_done(session: Session, task_id: str, names: Collection[str]) -> bool:
    """Check whether a task of the queue is done on a day: by one of its ``names``, or ticked in a box."""
    items = (item for task in session.day.inputs.tasks for item in task.details.items)
    ticked = any(item.done for item in items if item.id == task_id)
    return ticked or not frozenset(names).isdisjoint(session.open_work.settled)


def _list_ticked(session: Session, task_id: str) -> frozenset[str]:
    """Return the titles that are ticked on a day in the box that a task of the queue is."""
    items = (item for task in session.day.inputs.tasks if task.id == task_id for item in task.details.items)
    return frozenset(item.title for item in items if item.done)


def _tick(task: QueuedTask, ticked: Collection[str]) -> QueuedTask:
    details = task.spec.details
    items = tuple(replace(item, done=item.title in ticked) for item in details.items)
    return replace(task, spec=replace(task.spec, details=replace(details, items=items)))


def _settle(task: QueuedTask, session: Session, complete: Change) -> QueuedTask:
    if task.state is not TaskState.WAITING or task.place != session.id:
        return task
    try:
        return complete(task)
    except BadInput as error:
        return replace(task, outcome=error.message)


def _take_over(task: QueuedTask, session: Session) -> QueuedTask:
    """Return a task that can be pulled, or is in hand on another day, as one in hand on this day."""
    return hand_over(task, session) if task.state in {TaskState.ACTIVE, TaskState.WAITING} else task


def _reopen(task: QueuedTask, session: Session) -> QueuedTask:
    return replace(reopen_task(task), place=session.id) if task.state is TaskState.DONE else task
