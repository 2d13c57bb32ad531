"""Read controls of the queue as commands (K7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fateforger.coordinator.clicks import UNKNOWN
from fateforger.errors import BadInput
from fateforger.session.commands import Click, queue
from fateforger.session.commands.queue import QueueCommand, TaskReply
from fateforger.tasks import QueuePlace, TaskAction


def read_queue_click(click: Click) -> QueueCommand | None:
    """Return the command of a control; ``None`` if it does not belong to the queue.

    Raises :class:`BadInput` for a control that cannot be read.
    """
    executor = OF_QUEUE.get(click.action)
    about = {"command_id": click.command_id, "user_id": click.user_id, "at": click.at}
    try:
        return None if executor is None else executor(about, click.target)
    except ValueError:
        raise BadInput(UNKNOWN, where=click.action) from None


def _settle_task(word: TaskReply) -> Callable[[dict[str, Any], str], QueueCommand]:
    return lambda about, target: queue.SettleTask(**about, task_id=target, word=word)


def _move_task(where: QueuePlace) -> Callable[[dict[str, Any], str], QueueCommand]:
    return lambda about, target: queue.MoveTask(**about, task_id=target, where=where)


def _change_task(deed: TaskAction) -> Callable[[dict[str, Any], str], QueueCommand]:
    return lambda about, target: queue.ChangeTask(**about, task_id=target, deed=deed)


OF_QUEUE: Mapping[str, Callable[[dict[str, Any], str], QueueCommand]] = {
    "queue.pull": lambda about, target: queue.PullTask(**about, task_id=target or None),
    "queue.show": lambda about, _: queue.ShowTasks(**about),
    "queue.now": lambda about, target: queue.DoTaskNow(**about, task_id=target),
    "queue.anyway": lambda about, target: queue.DoTaskNow(**about, task_id=target, insists=True),
    "queue.done": _settle_task("done"),
    "queue.back": _settle_task("put_back"),
    "queue.approve": _settle_task("approve"),
    "queue.retry": _settle_task("retry"),
    "queue.open": _settle_task("open"),
    "queue.up": _move_task(QueuePlace.UP),
    "queue.down": _move_task(QueuePlace.DOWN),
    "queue.page": lambda about, target: queue.TurnQueue(**about, page=int(target)),
    **{f"queue.do.{deed.value}": _change_task(deed) for deed in TaskAction},
}
"""The controls of the queue, which belong to no session."""
