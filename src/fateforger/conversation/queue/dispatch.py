"""The dispositor: understands requests, puts work into the queue, and answers. It cannot carry work out (S145)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, assert_never, get_args

from fateforger import text as names
from fateforger.conversation.queue.cards import ADD, SHOW, build_reply
from fateforger.errors import BadInput, InternalError
from fateforger.session.cards import Card
from fateforger.session.commands.thread import Opening
from fateforger.session.queue_commands import (
    CardCommand,
    EnqueueTask,
    PlanWeek,
    PullTask,
    QueueCommand,
    RefineTasks,
    RemindTask,
    ReviewWeek,
    ShowTasks,
    WeekSpan,
)
from fateforger.tasks.queue import NewTask
from fateforger.tasks.task import Do, Origin, QueuedTask, ReviewConstraints, TaskSpec, read_task_id
from fateforger.tasks.transitions import HydratedMessage, Purpose, TypedCommand
from fateforger.tasks.workflows import SEVERAL_STEPS, reason_for_queue
from fateforger.text import gettext as _
from fateforger.text import mark_message, name_commands
from fateforger.values import replace


class TaskAccess(Protocol):
    """The part of :class:`~fateforger.tasks.ports.Tasks` for the dispositor: it cannot carry out a task (S145)."""

    async def add(
        self, user_id: str, tasks: Sequence[NewTask], *, cause: str, now: datetime
    ) -> tuple[QueuedTask, ...]: ...

    async def of(self, user_id: str, *, ended: bool = False) -> tuple[QueuedTask, ...]: ...

    async def get(self, user_id: str, task_id: str) -> QueuedTask | None: ...


async def read_queue(tasks: TaskAccess, user_id: str) -> tuple[QueuedTask, ...]:
    """Return the tasks that have not ended, in order, followed by the ended tasks that they wait for.

    The latter are included because a stopped task still blocks. Raises ``StoreError``.
    """
    queue = await tasks.of(user_id)
    there = {task.id for task in queue}
    missing = dict.fromkeys(name for task in queue for name in task.blocked_by if name not in there)
    others = [await tasks.get(user_id, name) for name in missing]
    return (*queue, *(task for task in others if task is not None))


async def enqueue(tasks: TaskAccess, command: EnqueueTask) -> QueuedTask:
    """Add the task of a command to the queue, once, and return it (S154). Raises ``StoreError``."""
    new = NewTask(command.spec, command.origin)
    (task,) = await tasks.add(command.user_id, (new,), cause=command.command_id, now=command.at)
    return task


UNKNOWN = mark_message(
    "I don't know that command. `{timebox}` plans a day, `{pull}` takes what comes first in your queue, `{tasks}` lists"
    " what there is, `{refine}` goes through it with you, and `{week}` plans your week."
)
NOT_A_WEEK = mark_message(
    "`{week}` plans the next five working days, `{week} this` the rest of this week, `{week} next` the next one."
    " `{week} review` looks back on this one."
)
NOT_A_TASK = mark_message(
    "I can read a task's id like this: `{pull} ff-4k7w9c`. "
    "With just `{pull}` I take what comes first; `{tasks}` lists what there is."
)
NOT_TOLD = mark_message("I don't know that one.")


@dataclass(frozen=True, slots=True)
class DirectWork:
    """Work that bypasses the queue."""

    spec: TaskSpec
    simple: bool = True


@dataclass(frozen=True, slots=True)
class RedirectedWork:
    """Work that the person wants done at once, but that should go through the queue."""

    command: EnqueueTask
    because: str


Route = QueueCommand | DirectWork | RedirectedWork | Card


def add_place(command: QueueCommand, opening: Opening) -> QueueCommand:
    """Return the command of a message with the place of its answer."""
    about = _build_envelope(opening)
    return replace(command, channel=about["channel"], thread_ts=about["thread_ts"], tz=about["tz"])


def route_request(wanted: HydratedMessage, opening: Opening) -> Route:
    """Return the route of a message that was understood."""
    about = _build_envelope(opening)
    match wanted.intent:
        case Purpose.PULL:
            return PullTask(**about, task_id=wanted.task_id)
        case Purpose.TASKS:
            return ShowTasks(**about)
        case Purpose.REFINE:
            return RefineTasks(**about)
        case Purpose.WEEK | Purpose.NEXT_WEEK:
            return PlanWeek(**about, span="next" if wanted.intent is Purpose.NEXT_WEEK else "coming")
        case Purpose.UNREMIND:
            return ShowTasks(**about) if wanted.task_id is None else RemindTask(**about, task_id=wanted.task_id)
        case Purpose.RULES:
            return DirectWork(TaskSpec(title=_("Look through my rules"), work=ReviewConstraints()))
        case Purpose.QUESTION | Purpose.CONVERSATION:
            return build_reply(wanted.answer or _(NOT_TOLD), mode="direct")
        case Purpose.MEMORY:
            raise InternalError("Rules are not kept in the queue.")
        case Purpose.WORK:
            return _route_work(wanted, about)
        case _:
            raise InternalError(f"A message that wants “{wanted.intent}” is read as its command.")


def _route_work(wanted: HydratedMessage, about: dict[str, Any]) -> Route:
    if wanted.spec is None:
        return build_reply(wanted.answer or _(NOT_TOLD), ADD.localize(), mode="direct")
    yours = isinstance(wanted.spec.work, Do)
    because = None if yours else reason_for_queue(wanted.spec) or (None if wanted.simple else _(SEVERAL_STEPS))
    command = EnqueueTask(**about, spec=wanted.spec, origin=Origin(door="slack"), reminds=wanted.reminds)
    if wanted.reminds:
        return command
    match wanted.haste:
        case "no":
            return command
        case "asks":
            return DirectWork(wanted.spec) if because is None else RedirectedWork(command, because)
        case "insists":
            return DirectWork(wanted.spec, simple=because is None)
        case _:
            assert_never(wanted.haste)


def route_typed(typed: TypedCommand, opening: Opening) -> Route:
    """Return the route of a command that was typed as text."""
    try:
        return read_typed(typed, _build_envelope(opening))
    except BadInput as error:
        return build_reply(error.message, SHOW.localize(), mode="direct")


def read_typed(typed: TypedCommand, about: Mapping[str, Any]) -> CardCommand:
    """Return the command of the queue that was typed, with the fields ``about`` it.

    Raises ``BadInput`` for a command that is not known, or for words after it that it cannot read.
    """
    match typed.name:
        case names.PULL:
            task_id = read_task_id(typed.rest) if typed.rest else None
            if typed.rest and task_id is None:
                raise BadInput(name_commands(NOT_A_TASK))
            return PullTask(**about, task_id=task_id)
        case names.TASKS:
            return ShowTasks(**about)
        case names.REFINE:
            return RefineTasks(**about)
        case names.WEEK if typed.rest == "review":
            return ReviewWeek(**about)
        case names.WEEK:
            span = typed.rest or "coming"
            if span not in get_args(WeekSpan):
                raise BadInput(name_commands(NOT_A_WEEK))
            return PlanWeek.model_validate({**about, "span": span})
        case _:
            raise BadInput(name_commands(UNKNOWN))


def _build_envelope(opening: Opening) -> dict[str, Any]:
    return {
        "command_id": opening.command_id,
        "user_id": opening.user_id,
        "at": opening.at,
        "channel": opening.channel,
        "thread_ts": opening.thread_ts,
        "tz": opening.tz,
    }
