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
    SessionCommandBase,
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

Executor = Callable[[dict[str, Any], Click], SessionCommand]


def read_click(click: Click) -> SessionCommand:
    """Return the command of a control. Raises :class:`BadInput` for an unknown control."""
    executor = EXECUTORS.get(click.action)
    if executor is None:
        raise BadInput(UNKNOWN, where=click.action)
    envelope = {
        "command_id": click.command_id,
        "user_id": click.user_id,
        "at": click.at,
        "session_id": click.session_id,
    }
    try:
        return executor(envelope, click)
    except ValidationError:
        raise BadInput(UNKNOWN, where=click.action) from None


def _move_stage(move: Move) -> Executor:
    return lambda envelope, click: StageAction(**envelope, move=move, seen=click.target or None)


def _shift_block(minutes: int) -> Executor:
    return lambda envelope, click: ShiftBlock(**envelope, key=click.target, minutes=minutes)


def _commit_date(envelope: dict[str, Any], _click: Click) -> SessionCommand:
    return TimeboxingCommitDate(**envelope)


def _choose_date(envelope: dict[str, Any], click: Click) -> SessionCommand:
    return ChooseDate(**envelope, date=_read_choice(click, date))


def _plan_day(envelope: dict[str, Any], click: Click) -> SessionCommand:
    return ChooseDate(**envelope, date=click.target)


def _set_day_start(envelope: dict[str, Any], click: Click) -> SessionCommand:
    return AdjustFrame(**envelope, day_start=_read_choice(click, time))


def _set_day_end(envelope: dict[str, Any], click: Click) -> SessionCommand:
    return AdjustFrame(**envelope, day_end=_read_choice(click, time))


def _mark_one_thing(envelope: dict[str, Any], click: Click) -> SessionCommand:
    return MarkOneThing(**envelope, task_id=click.target)


def _remove_task(envelope: dict[str, Any], click: Click) -> SessionCommand:
    return RemoveTask(**envelope, task_id=click.target)


def _defer_task(envelope: dict[str, Any], click: Click) -> SessionCommand:
    return DeferTask(**envelope, task_id=click.target)


def _bring_along(envelope: dict[str, Any], click: Click) -> SessionCommand:
    return BringAlong(**envelope, task_ids=tuple(click.target.split()))


def _split_task(envelope: dict[str, Any], click: Click) -> SessionCommand:
    return SplitTask(**envelope, task_id=click.target)


def _report_late(envelope: dict[str, Any], click: Click) -> SessionCommand:
    return Replan(**envelope, late=click.value)


def _mark_done(envelope: dict[str, Any], click: Click) -> SessionCommand:
    return Replan(**envelope, done=(click.value,))


def _skip_today(envelope: dict[str, Any], click: Click) -> SessionCommand:
    return Replan(**envelope, not_today=(click.value,))


def _resize_task(envelope: dict[str, Any], click: Click) -> SessionCommand:
    minutes, _, task_id = click.target.partition(" ")
    return ResizeTask(**envelope, task_id=task_id, minutes=minutes)


def _extend_day(envelope: dict[str, Any], click: Click) -> SessionCommand:
    return AdjustFrame(**envelope, day_end=click.target)


def _swap_up(envelope: dict[str, Any], click: Click) -> SessionCommand:
    return SwapBlock(**envelope, key=click.target, direction=-1)


def _swap_down(envelope: dict[str, Any], click: Click) -> SessionCommand:
    return SwapBlock(**envelope, key=click.target, direction=1)


def _remove_block(envelope: dict[str, Any], click: Click) -> SessionCommand:
    return RemoveBlock(**envelope, key=click.target)


def _apply_fix(envelope: dict[str, Any], click: Click) -> SessionCommand:
    return ApplyFix(**envelope, fix=click.target)


def _explain_block(envelope: dict[str, Any], click: Click) -> SessionCommand:
    return ExplainBlock(**envelope, key=click.value)


def _undo_write(envelope: dict[str, Any], click: Click) -> SessionCommand:
    return UndoWrite(**envelope, **_parse_row(click))


def _redo_write(envelope: dict[str, Any], click: Click) -> SessionCommand:
    return RedoWrite(**envelope, **_parse_row(click))


def _parse_row(click: Click) -> dict[str, str]:
    """Return the write that a history row is about, and the newest write when the row was listed."""
    transaction, _, newest = click.target.partition(" ")
    return {"transaction": transaction, "newest": newest}


def _leave_as_is(envelope: dict[str, Any], click: Click) -> SessionCommand:
    return LeaveAsIs(**envelope, about=click.target)


def _build(kind: type[SessionCommandBase], **values: Any) -> Executor:
    return lambda envelope, _click: kind(**envelope, **values)  # type: ignore[return-value]  # kinds of SessionCommand only


def _calendar_write(envelope: dict[str, Any], click: Click) -> SessionCommand:
    return SetCalendarWrite(**envelope, when=click.value)


def _keep(side: Side) -> Executor:
    return lambda envelope, click: ResolveConflict(**envelope, keep=side, **parse_question_target(click.target))


def _undo_memory(envelope: dict[str, Any], click: Click) -> SessionCommand:
    return UndoMemory(**envelope, write=click.target)


def _judge(verdict: ConstraintVerdict) -> Executor:
    def judge(envelope: dict[str, Any], click: Click) -> SessionCommand:
        seen, uid = parse_rule_target(click.target)
        return JudgeConstraint(**envelope, uid=uid, verdict=verdict, seen=seen)

    return judge


def _keep_rule(envelope: dict[str, Any], click: Click) -> SessionCommand:
    return SettleConstraints(**envelope, **parse_settled(click.target))


def _read_choice(click: Click, kind: type[date | time]) -> Any:
    if isinstance(click.value, kind):
        return click.value
    try:
        return kind.fromisoformat(str(click.value))
    except ValueError:
        raise BadInput("I could not read what you chose there; please choose once more.") from None


EXECUTORS: Mapping[str, Executor] = {
    "commit_date": _commit_date,
    "choose_date": _choose_date,
    "plan_day": _plan_day,
    "set_day_start": _set_day_start,
    "set_day_end": _set_day_end,
    "task.one_thing": _mark_one_thing,
    "task.remove": _remove_task,
    "task.bring": _bring_along,
    "task.undo_catch_up": _build(UndoCatchUp),
    "task.defer": _defer_task,
    "task.resize": _resize_task,
    "task.split": _split_task,
    "frame.until": _extend_day,
    "block.earlier": _shift_block(-SHIFT_MINUTES),
    "block.later": _shift_block(SHIFT_MINUTES),
    "block.swap_up": _swap_up,
    "block.swap_down": _swap_down,
    "block.remove": _remove_block,
    "block.why": _explain_block,
    "plan.fix": _apply_fix,
    "leave_as_is": _leave_as_is,
    "replan.late": _report_late,
    "replan.done": _mark_done,
    "replan.not_today": _skip_today,
    "replan.refit": _build(Replan),
    "show_history": _build(ShowHistory),
    "show_older_history": _build(ShowHistory, older=True),
    "hide_history": _build(HideHistory),
    "undo_write": _undo_write,
    "redo_write": _redo_write,
    "show_preview": _build(ShowPreview),
    "hide_preview": _build(HidePreview),
    "set_calendar_write": _calendar_write,
    "show_memory": _build(ShowMemory),
    "hide_memory": _build(HideMemory),
    "undo_memory": _undo_memory,
    "memory.keep": _keep_rule,
    **{f"memory.{verdict}": _judge(verdict) for verdict in get_args(ConstraintVerdict)},
    "conflict.keep_calendar": _keep("calendar"),
    "conflict.keep_plan": _keep("plan"),
    **{move.value: _move_stage(move) for move in Move if move is not Move.STAY},
}
"""Every action of a card except ``form.*``, which opens a form, and ``start``, which the Slack side carries out."""


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
