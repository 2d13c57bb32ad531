"""Route a message: a command, an answer, a task in the queue, or work done directly (S147-S152, S163-S166).

Pure: the decision is carried out elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, assert_never

from fateforger.coordinator.dispositor.cards import ADD, SHOW, build_reply
from fateforger.session.cards import Card
from fateforger.session.commands import Opening
from fateforger.session.commands.queue import EnqueueTask, PullTask, QueueCommand, SettleTask, ShowTasks
from fateforger.tasks import Mode, Origin, ReviewConstraints, TaskSpec, read_task_id
from fateforger.tasks.complexity import SEVERAL_STEPS, reason_for_queue
from fateforger.tasks.hydrated import HydratedMessage, Purpose, TypedCommand

PULL, TASKS = "/pull", "/tasks"
UNKNOWN = f"I don't know that command. `{PULL}` takes what comes first in your queue, `{TASKS}` lists what there is."
NOT_A_TASK = f"I can read a task's id like this: `{PULL} ff-4k7w9c`. With just `{PULL}` I take what comes first."
NOT_TOLD = "I don't know that one."


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


def route_request(wanted: HydratedMessage, opening: Opening) -> Route:
    """Return the route of a message that was understood."""
    about = _build_envelope(opening)
    match wanted.intent:
        case Purpose.PULL:
            return PullTask(**about, task_id=wanted.task_id)
        case Purpose.TASKS:
            return ShowTasks(**about)
        case Purpose.DONE:
            return ShowTasks(**about) if wanted.task_id is None else _settle_done(about, wanted.task_id)
        case Purpose.RULES:
            return DirectWork(TaskSpec(title="Look through my rules", work=ReviewConstraints()))
        case Purpose.QUESTION | Purpose.CONVERSATION:
            return build_reply(wanted.answer or NOT_TOLD, mode=Mode.DIRECT)
        case Purpose.WORK:
            return _route_work(wanted, about)
        case _:
            assert_never(wanted.intent)


def _route_work(wanted: HydratedMessage, about: dict[str, Any]) -> Route:
    if wanted.spec is None:
        return build_reply(wanted.answer or NOT_TOLD, ADD, mode=Mode.DIRECT)
    because = reason_for_queue(wanted.spec) or (None if wanted.simple else SEVERAL_STEPS)
    command = EnqueueTask(**about, spec=wanted.spec, origin=Origin(door="slack"))
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
    about = _build_envelope(opening)
    if typed.name == TASKS:
        return ShowTasks(**about)
    if typed.name != PULL:
        return build_reply(UNKNOWN, SHOW, mode=Mode.DIRECT)
    task_id = read_task_id(typed.rest) if typed.rest else None
    if typed.rest and task_id is None:
        return build_reply(NOT_A_TASK, SHOW, mode=Mode.DIRECT)
    return PullTask(**about, task_id=task_id)


def _settle_done(about: dict[str, Any], task_id: str) -> SettleTask:
    return SettleTask(**about, task_id=task_id, word="done")


def _build_envelope(opening: Opening) -> dict[str, Any]:
    return {
        "command_id": opening.command_id,
        "user_id": opening.user_id,
        "at": opening.at,
        "channel": opening.channel,
        "thread_ts": opening.thread_ts,
        "tz": opening.tz,
    }
