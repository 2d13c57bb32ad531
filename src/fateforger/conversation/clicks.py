"""Commands of clicked controls: each action has one meaning and one executor (K7, S214)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, time
from typing import Any, get_args

from pydantic import ValidationError

from fateforger.errors import BadInput
from fateforger.session import queue_commands as queue
from fateforger.session.commands import (
    AdjustFrame,
    ApplyFix,
    BringAlong,
    ChooseDate,
    Click,
    ConstraintVerdict,
    DeferTask,
    ExplainBlock,
    HideHistory,
    HideMemory,
    HidePreview,
    JudgeConstraint,
    LeaveAsIs,
    MarkOneThing,
    RedoWrite,
    RemoveBlock,
    RemoveTask,
    Replan,
    ResizeTask,
    ResolveConflict,
    SessionCommand,
    SetCalendarWrite,
    SettleConstraints,
    ShiftBlock,
    ShowHistory,
    ShowMemory,
    ShowPreview,
    Side,
    SplitTask,
    StageAction,
    SwapBlock,
    TimeboxingCommitDate,
    UndoCatchUp,
    UndoMemory,
    UndoWrite,
)
from fateforger.session.conflicts import parse_question_target
from fateforger.session.constants import SHIFT_MINUTES
from fateforger.session.queue_commands import QueueCommand, TaskReply
from fateforger.session.stages import Move
from fateforger.tasks.queue import QueuePlace
from fateforger.tasks.transitions import TaskAction
from fateforger.ui.rule_cards import parse_settled
from fateforger.ui.rule_forms import parse_rule_target

UNKNOWN = "I don't know that button any more; please use the newest card in this thread."

Fields = Mapping[str, Any]
Read = Callable[[Click], Fields]
"""Returns the fields of a command from a control's target and chosen value."""


def read_click(click: Click) -> SessionCommand:
    """Return the command of a control. Raises :class:`BadInput` for an unknown control."""
    control = EXECUTORS.get(click.action)
    if control is None:
        raise BadInput(UNKNOWN, where=click.action)
    kind, read = control
    envelope = {
        "command_id": click.command_id,
        "user_id": click.user_id,
        "at": click.at,
        "session_id": click.session_id,
    }
    try:
        return kind(**envelope, **read(click))
    except ValidationError:
        raise BadInput(UNKNOWN, where=click.action) from None


def _give(**fields: Any) -> Read:
    """Read nothing; the control always means the same."""
    return lambda _click: fields


def _target(name: str, **fields: Any) -> Read:
    """Read the target as the field ``name``."""
    return lambda click: {name: click.target, **fields}


def _value(name: str) -> Read:
    """Read the chosen value as the field ``name``."""
    return lambda click: {name: click.value}


def _choice(name: str, kind: type[date | time]) -> Read:
    """Read a chosen date or time as the field ``name``."""

    def read(click: Click) -> Fields:
        try:
            return {name: click.value if isinstance(click.value, kind) else kind.fromisoformat(str(click.value))}
        except ValueError:
            raise BadInput("I could not read what you chose there; please choose once more.") from None

    return read


def _parse_row(click: Click) -> Fields:
    """Read the write that a history row is about, and the newest write when the row was listed."""
    transaction, _, newest = click.target.partition(" ")
    return {"transaction": transaction, "newest": newest}


def _parse_size(click: Click) -> Fields:
    minutes, _, task_id = click.target.partition(" ")
    return {"task_id": task_id, "minutes": minutes}


def _keep(side: Side) -> Read:
    return lambda click: {"keep": side, **parse_question_target(click.target)}


def _judge(verdict: ConstraintVerdict) -> Read:
    def read(click: Click) -> Fields:
        seen, uid = parse_rule_target(click.target)
        return {"uid": uid, "verdict": verdict, "seen": seen}

    return read


def _move(move: Move) -> Read:
    return lambda click: {"move": move, "seen": click.target or None}


EXECUTORS: Mapping[str, tuple[Callable[..., SessionCommand], Read]] = {
    "commit_date": (TimeboxingCommitDate, _give()),
    "choose_date": (ChooseDate, _choice("date", date)),
    "plan_day": (ChooseDate, _target("date")),
    "set_day_start": (AdjustFrame, _choice("day_start", time)),
    "set_day_end": (AdjustFrame, _choice("day_end", time)),
    "task.one_thing": (MarkOneThing, _target("task_id")),
    "task.remove": (RemoveTask, _target("task_id")),
    "task.bring": (BringAlong, lambda click: {"task_ids": tuple(click.target.split())}),
    "task.undo_catch_up": (UndoCatchUp, _give()),
    "task.defer": (DeferTask, _target("task_id")),
    "task.resize": (ResizeTask, _parse_size),
    "task.split": (SplitTask, _target("task_id")),
    "frame.until": (AdjustFrame, _target("day_end")),
    "block.earlier": (ShiftBlock, _target("key", minutes=-SHIFT_MINUTES)),
    "block.later": (ShiftBlock, _target("key", minutes=SHIFT_MINUTES)),
    "block.swap_up": (SwapBlock, _target("key", direction=-1)),
    "block.swap_down": (SwapBlock, _target("key", direction=1)),
    "block.remove": (RemoveBlock, _target("key")),
    "block.why": (ExplainBlock, _value("key")),
    "plan.fix": (ApplyFix, _target("fix")),
    "leave_as_is": (LeaveAsIs, _target("about")),
    "replan.late": (Replan, _value("late")),
    "replan.done": (Replan, lambda click: {"done": (click.value,)}),
    "replan.not_today": (Replan, lambda click: {"not_today": (click.value,)}),
    "replan.refit": (Replan, _give()),
    "show_history": (ShowHistory, _give()),
    "show_older_history": (ShowHistory, _give(older=True)),
    "hide_history": (HideHistory, _give()),
    "undo_write": (UndoWrite, _parse_row),
    "redo_write": (RedoWrite, _parse_row),
    "show_preview": (ShowPreview, _give()),
    "hide_preview": (HidePreview, _give()),
    "set_calendar_write": (SetCalendarWrite, _value("when")),
    "show_memory": (ShowMemory, _give()),
    "hide_memory": (HideMemory, _give()),
    "undo_memory": (UndoMemory, _target("write")),
    "memory.keep": (SettleConstraints, lambda click: parse_settled(click.target)),
    **{f"memory.{verdict}": (JudgeConstraint, _judge(verdict)) for verdict in get_args(ConstraintVerdict)},
    "conflict.keep_calendar": (ResolveConflict, _keep("calendar")),
    "conflict.keep_plan": (ResolveConflict, _keep("plan")),
    **{move.value: (StageAction, _move(move)) for move in Move if move is not Move.STAY},
}
"""The command of every action of a card, except ``form.*``, which opens a form, and ``start``."""


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
