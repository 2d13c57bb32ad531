"""Actions on the queue in App Home: each is carried out once and answered with a sentence."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime

from fateforger.coordinator.dispositor.known import known
from fateforger.coordinator.executor.carried import MOST_HANDLED
from fateforger.coordinator.queue_home import queue_parts, queue_unknown
from fateforger.errors import BadInput, StoreError
from fateforger.ports import Clock, Tasks
from fateforger.session.cards import Part, plain
from fateforger.session.commands.queue import AtHome, ChangeTask, MoveTask, ReviseTask, TurnQueue
from fateforger.tasks import QueuedTask, deed_words, done_to, moved, moved_words, quoted, respecified

log = logging.getLogger(__name__)

LONGEST_SENTENCE = 400
GONE = "That task is not in your queue any more."


async def edited(tasks: Tasks, command: MoveTask | ChangeTask | ReviseTask, *, now: datetime) -> str:
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
        others = moved(there, command.task_id, command.where, before=command.other)
        return [_marked(task, command.command_id) if task.id == command.task_id else task for task in others]

    return moved_words(before, await tasks.rearrange(command.user_id, change, now=now))


async def _change(tasks: Tasks, command: ChangeTask | ReviseTask, now: datetime) -> str:
    def change(task: QueuedTask) -> QueuedTask:
        if command.command_id in task.handled:
            return task
        after = done_to(task, command.deed) if isinstance(command, ChangeTask) else respecified(task, command.spec)
        return _marked(after, command.command_id)

    task = await tasks.change(command.user_id, command.task_id, change, now=now)
    if task is None:
        return GONE
    if isinstance(command, ReviseTask):
        return f"{quoted(task)} is saved."
    return deed_words(task, command.deed, await known(tasks, command.user_id))


def _marked(task: QueuedTask, command_id: str) -> QueuedTask:
    return task.model_copy(update={"handled": (*task.handled, command_id)[-MOST_HANDLED:]})


class HomeDesk:
    """The queue in App Home.

    It keeps the current page of each person, and the result of their last action until it was shown, both in memory.
    """

    def __init__(self, tasks: Tasks, clock: Clock) -> None:
        self._tasks = tasks
        self._clock = clock
        self._pages: dict[str, int] = {}
        self._said: dict[str, str] = {}

    async def carry_out(self, command: AtHome) -> None:
        """Carry out an action, once. Raises ``StoreError``."""
        if isinstance(command, TurnQueue):
            self._pages[command.user_id] = command.page
        elif isinstance(command, MoveTask | ChangeTask | ReviseTask):
            self._said[command.user_id] = await edited(self._tasks, command, now=self._clock.now())

    async def parts(self, user_id: str) -> tuple[Part, ...]:
        """Return the current queue as parts of a card."""
        try:
            tasks = await known(self._tasks, user_id)
        except StoreError as error:
            log.warning("the queue of %s cannot be looked up: %s", user_id, error.message)
            return queue_unknown()
        said = self._said.pop(user_id, "")
        return queue_parts(tasks, page=self._pages.get(user_id, 1), said=plain(said, LONGEST_SENTENCE))
