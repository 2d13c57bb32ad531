"""Route a message: a command, an answer, a task in the queue, or work done directly (S147-S152, S163-S166).

Pure: the decision is carried out elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, assert_never

from fateforger.coordinator.dispositor.cards import ADD, SHOW, said
from fateforger.session.cards import Card
from fateforger.session.commands import Opening
from fateforger.session.commands.queue import EnqueueTask, PullTask, QueueCommand, SettleTask, ShowTasks
from fateforger.tasks import Mode, Origin, ReviewConstraints, TaskSpec, read_task_id
from fateforger.tasks.complexity import SEVERAL_STEPS, complex_because
from fateforger.tasks.hydrated import Hydrated, Purpose, Typed

PULL, TASKS = "/pull", "/tasks"
UNKNOWN = f"I don't know that command. `{PULL}` takes what comes first in your queue, `{TASKS}` lists what there is."
NOT_A_TASK = f"I can read a task's id like this: `{PULL} ff-4k7w9c`. With just `{PULL}` I take what comes first."
NOT_TOLD = "I don't know that one."


@dataclass(frozen=True, slots=True)
class AtOnce:
    """Work that bypasses the queue."""

    spec: TaskSpec
    simple: bool = True


@dataclass(frozen=True, slots=True)
class Redirected:
    """Work that the person wants done at once, but that should go through the queue."""

    command: EnqueueTask
    because: str


Route = QueueCommand | AtOnce | Redirected | Card


def routed(wanted: Hydrated, opening: Opening) -> Route:
    """Return the route of a message that was understood."""
    about = _about(opening)
    match wanted.intent:
        case Purpose.PULL:
            return PullTask(**about, task_id=wanted.task_id)
        case Purpose.TASKS:
            return ShowTasks(**about)
        case Purpose.DONE:
            return ShowTasks(**about) if wanted.task_id is None else _done(about, wanted.task_id)
        case Purpose.RULES:
            return AtOnce(TaskSpec(title="Look through my rules", work=ReviewConstraints()))
        case Purpose.QUESTION | Purpose.CONVERSATION:
            return said(wanted.answer or NOT_TOLD, mode=Mode.DIRECT)
        case Purpose.WORK:
            return _work(wanted, about)
        case _:
            assert_never(wanted.intent)


def _work(wanted: Hydrated, about: dict[str, Any]) -> Route:
    if wanted.spec is None:
        return said(wanted.answer or NOT_TOLD, ADD, mode=Mode.DIRECT)
    because = complex_because(wanted.spec) or (None if wanted.simple else SEVERAL_STEPS)
    command = EnqueueTask(**about, spec=wanted.spec, origin=Origin(door="slack"))
    match wanted.haste:
        case "no":
            return command
        case "asks":
            return AtOnce(wanted.spec) if because is None else Redirected(command, because)
        case "insists":
            return AtOnce(wanted.spec, simple=because is None)
        case _:
            assert_never(wanted.haste)


def typed_route(typed: Typed, opening: Opening) -> Route:
    """Return the route of a command that was typed as text."""
    about = _about(opening)
    if typed.name == TASKS:
        return ShowTasks(**about)
    if typed.name != PULL:
        return said(UNKNOWN, SHOW, mode=Mode.DIRECT)
    task_id = read_task_id(typed.rest) if typed.rest else None
    if typed.rest and task_id is None:
        return said(NOT_A_TASK, SHOW, mode=Mode.DIRECT)
    return PullTask(**about, task_id=task_id)


def _done(about: dict[str, Any], task_id: str) -> SettleTask:
    return SettleTask(**about, task_id=task_id, word="done")


def _about(opening: Opening) -> dict[str, Any]:
    return {
        "command_id": opening.command_id,
        "user_id": opening.user_id,
        "at": opening.at,
        "channel": opening.channel,
        "thread_ts": opening.thread_ts,
        "tz": opening.tz,
    }
