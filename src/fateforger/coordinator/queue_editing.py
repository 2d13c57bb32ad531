"""Actions on the queue in App Home: each is carried out once and answered with a sentence."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime

from fateforger.coordinator.dispositor.known import read_queue
from fateforger.coordinator.executor.carried import MOST_HANDLED
from fateforger.coordinator.queue_home import build_queue_parts, build_unknown_queue
from fateforger.errors import BadInput, StoreError
from fateforger.ports import Clock, Tasks
from fateforger.session.cards import Part, plain
from fateforger.session.commands.queue import ChangeTask, HomeCommandBase, MoveTask, ReviseTask, TurnQueue
from fateforger.tasks import (
    QueuedTask,
    apply_action,
    describe_action,
    describe_move,
    move_task,
    quote_task,
    replace_spec,
)
from fateforger.values import replace

log = logging.getLogger(__name__)

LONGEST_SENTENCE = 400
GONE = "That task is not in your queue any more."


async def edit_task(tasks: Tasks, command: MoveTask | ChangeTask | ReviseTask, *, now: datetime) -> str:
    """Carry out an action and return its result, or the reason for a refusal. Raises ``StoreError``."""
    before = await tasks.get(command.user_id, command.task_id)
    if before is None:
        return GONE
    try:
        if isinstance(command, MoveTask):
            return await _move(tasks, command, before, now)
        return await _change(tasks, command, now)
    except BadInput as error:
        return error.message


async def _move(tasks: Tasks, command: MoveTask, before: QueuedTask, now: datetime) -> str:
    def change(there: tuple[QueuedTask, ...]) -> Sequence[QueuedTask]:
        if any(command.command_id in task.handled for task in there):
            return ()
        others = move_task(there, command.task_id, command.where, before=command.other)
        return [_mark_handled(task, command.command_id) if task.id == command.task_id else task for task in others]

    return describe_move(before, await tasks.rearrange(command.user_id, change, now=now))


async def _change(tasks: Tasks, command: ChangeTask | ReviseTask, now: datetime) -> str:
    def change(task: QueuedTask) -> QueuedTask:
        if command.command_id in task.handled:
            return task
        after = (
            apply_action(task, command.deed) if isinstance(command, ChangeTask) else replace_spec(task, command.spec)
        )
        return _mark_handled(after, command.command_id)

    task = await tasks.change(command.user_id, command.task_id, change, now=now)
    if task is None:
        return GONE
    if isinstance(command, ReviseTask):
        return f"{quote_task(task)} is saved."
    return describe_action(task, command.deed, await read_queue(tasks, command.user_id))


def _mark_handled(task: QueuedTask, command_id: str) -> QueuedTask:
    return replace(task, handled=(*task.handled, command_id)[-MOST_HANDLED:])


class HomeQueue:
    """The queue in App Home.

    It keeps the current page of each person, and the result of their last action until it was shown, both in memory.
    """

    def __init__(self, tasks: Tasks, clock: Clock) -> None:
        self._tasks = tasks
        self._clock = clock
        self._pages: dict[str, int] = {}
        self._said: dict[str, str] = {}

    async def carry_out(self, command: HomeCommandBase) -> None:
        """Carry out an action, once. Raises ``StoreError``."""
        if isinstance(command, TurnQueue):
            self._pages[command.user_id] = command.page
        elif isinstance(command, MoveTask | ChangeTask | ReviseTask):
            self._said[command.user_id] = await edit_task(self._tasks, command, now=self._clock.now())

    async def parts(self, user_id: str) -> tuple[Part, ...]:
        """Return the current queue as parts of a card."""
        try:
            tasks = await read_queue(self._tasks, user_id)
        except StoreError as error:
            log.warning("the queue of %s cannot be looked up: %s", user_id, error.message)
            return build_unknown_queue()
        said = self._said.pop(user_id, "")
        return build_queue_parts(tasks, page=self._pages.get(user_id, 1), said=plain(said, LONGEST_SENTENCE))
