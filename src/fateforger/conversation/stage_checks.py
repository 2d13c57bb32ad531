"""Checks of a command and of its result against the current stage and the rules of the session (S56, S139)."""

from __future__ import annotations

from typing import assert_never

from fateforger.conversation.turn_values import (
    Effect,
    GoBack,
    StageInput,
    StageOutput,
    UndoGroup,
    UndoUpdate,
    WriteCalendar,
)
from fateforger.errors import PlanInvalid
from fateforger.session.checks import broken_musts, double_bookings
from fateforger.session.commands import (
    AddBlock,
    AddTasks,
    AdjustFrame,
    ApplyFix,
    ApplyPatch,
    BringAlong,
    ChooseDate,
    DeferTask,
    EditBlock,
    MarkOneThing,
    RemoveBlock,
    RemoveTask,
    Replan,
    ResizeTask,
    ResolveConflict,
    SessionCommand,
    SessionCommandBase,
    SetFrame,
    ShiftBlock,
    SplitTask,
    StageAction,
    SwapBlock,
    TimeboxingCommitDate,
    TimeboxingUserReply,
    UndoCatchUp,
    UpdateTask,
)
from fateforger.session.gates import (
    FORWARD,
    broken_rules,
    gate,
    make_step,
    move_token,
    objections,
    offered_moves,
    record_steps,
    refusal,
    rules_about,
)
from fateforger.session.model import Notice, Session
from fateforger.session.replanning import OptionCommand
from fateforger.session.stages import Move, TimeboxingStage, target
from fateforger.values import replace

NO_MODEL = (
    "There is no language model connected, so I cannot read messages here;"
    " the buttons and forms on this card do everything."
)

_HOME: dict[type[SessionCommandBase], TimeboxingStage] = {
    ChooseDate: TimeboxingStage.DATE,
    TimeboxingCommitDate: TimeboxingStage.DATE,
    SetFrame: TimeboxingStage.COLLECT_CONSTRAINTS,
    AdjustFrame: TimeboxingStage.COLLECT_CONSTRAINTS,
    AddTasks: TimeboxingStage.CAPTURE_INPUTS,
    UpdateTask: TimeboxingStage.CAPTURE_INPUTS,
    ResizeTask: TimeboxingStage.CAPTURE_INPUTS,
    RemoveTask: TimeboxingStage.CAPTURE_INPUTS,
    DeferTask: TimeboxingStage.CAPTURE_INPUTS,
    BringAlong: TimeboxingStage.CAPTURE_INPUTS,
    UndoCatchUp: TimeboxingStage.CAPTURE_INPUTS,
    SplitTask: TimeboxingStage.CAPTURE_INPUTS,
    MarkOneThing: TimeboxingStage.CAPTURE_INPUTS,
    AddBlock: TimeboxingStage.REFINE,
    EditBlock: TimeboxingStage.REFINE,
    RemoveBlock: TimeboxingStage.REFINE,
    ShiftBlock: TimeboxingStage.REFINE,
    SwapBlock: TimeboxingStage.REFINE,
    ApplyPatch: TimeboxingStage.REFINE,
    ApplyFix: TimeboxingStage.REFINE,
    Replan: TimeboxingStage.REFINE,
    ResolveConflict: TimeboxingStage.REFINE,
}


def get_home_stage(command: SessionCommand) -> TimeboxingStage | None:
    """Return the stage that a command belongs to, or ``None`` if it fits any stage."""
    return _HOME.get(type(command))


def get_requested_move(command: SessionCommand) -> Move:
    """Return the move that a command asks for; ``STAY`` if the stage itself handles it."""
    match command:
        case StageAction(move=move):
            return move
        case TimeboxingCommitDate():
            return Move.PROCEED
        case _:
            return Move.STAY


_TOLD = frozenset({TimeboxingStage.COLLECT_CONSTRAINTS, TimeboxingStage.CAPTURE_INPUTS})
OUT_OF_DATE = "That card was out of date, so I did nothing. This is where we are."


def find_objection(session: Session, command: SessionCommand, asked: Move) -> Notice | None:
    """Return the refusal of a command, or ``None`` if its stage accepts it."""
    if isinstance(command, TimeboxingUserReply):
        return Notice(lines=(NO_MODEL,))
    if isinstance(command, StageAction) and command.seen not in {None, move_token(session, asked)}:
        return Notice(lines=(OUT_OF_DATE,))
    home = get_home_stage(command)
    if home is not None and home is not session.stage and not _reaches(session.stage, home, command):
        return Notice(lines=(_describe_elsewhere(session.stage, home),), refused=True)
    if asked in {Move.STAY, Move.PROCEED, Move.REDO, Move.CANCEL} and target(session.stage, asked) is not None:
        return None
    if asked in offered_moves(session):
        return None
    return Notice(lines=(_describe_refusal(session, asked),), refused=True)


def _reaches(stage: TimeboxingStage, home: TimeboxingStage, command: SessionCommand) -> bool:
    """Check whether a stage accepts a command of another stage.

    An option for a task without room works from Refine on. A correction of the committed plan is carried out in Refine
    within the same turn (S52). Inputs of the day are accepted until the plan is refined. Another day can be chosen
    while its frame is shown.
    """
    if isinstance(command, OptionCommand) and stage.number >= TimeboxingStage.REFINE.number:
        return True
    if isinstance(command, ChooseDate) and stage is TimeboxingStage.COLLECT_CONSTRAINTS:
        return True
    if home in _TOLD:
        return stage.number < TimeboxingStage.REFINE.number
    return stage is TimeboxingStage.REVIEW_COMMIT and home is TimeboxingStage.REFINE


def _describe_elsewhere(stage: TimeboxingStage, home: TimeboxingStage) -> str:
    if home.number < stage.number:
        return f"That belongs to the step “{home.heading}”, which we have left; Back leads there."
    return f"That belongs to the step “{home.heading}”, which comes later."


def _describe_refusal(session: Session, move: Move) -> str:
    match move:
        case Move.PROCEED:
            return "This plan is on its way already; there is no further step. Back returns to Refine."
        case Move.BACK:
            return "This is the first step, so there is nothing to go back to."
        case Move.UNDO_LAST_UPDATE:
            return "There is no change to take back here."
        case Move.UNDO_SYNC:
            if session.sync.written is None:
                return "Nothing of this plan is on your calendar, so there is nothing to undo."
            return "Undo works in Refine and on the committed plan; go on to Refine first."
        case Move.RETRY:
            return "Nothing failed here, so there is nothing to try again."
        case Move.STAY | Move.REDO | Move.CANCEL:
            return "That is not possible here."
        case _:
            assert_never(move)


_ASKED = {Move.UNDO_LAST_UPDATE: "undo_change", Move.UNDO_SYNC: "undo_all", Move.RETRY: "try_again"}


def refuse_forbidden_move(stage: StageInput) -> StageOutput | None:
    """Return the refusal of a move that a rule forbids, with its name and remedy; ``None`` for any other move."""
    asked = _get_requested_action(stage)
    no = () if asked is None else objections(stage.session, asked)
    if not no:
        return None
    standing = gate(stage.session) if stage.asked is Move.PROCEED else None
    question = () if standing is None or standing.question is None else (standing.question,)
    return _refuse(stage.session, *refusal(no, *(() if standing is None else standing.missing), *question))


def guard_output(stage: StageInput, output: StageOutput) -> StageOutput:
    """Record the output's actions in the session's trace.

    If a rule forbids them, return the session as it was before, and the reason.
    """
    if output.session.thread.notice is not None and output.session.thread.notice.refused:
        return output
    asked = _get_requested_action(stage)
    actions = _actions(stage, output)
    steps = [make_step(stage.session, asked)] if asked is not None else []
    if actions:
        kept = ("musts_kept",) if "write" in actions and _keeps_musts(output.session) else ()
        steps.append(make_step(output.session, *actions, also=("one_message_per_turn", *kept)))
        no = broken_rules(stage.session, steps, rules_about(frozenset(actions)))
        if no:
            return _refuse(stage.session, *refusal(no))
    if not steps:
        return output
    return replace(output, session=record_steps(output.session, *steps))


def _keeps_musts(session: Session) -> bool:
    """Check whether the plan breaks no must and double-books no meeting without the person's consent.

    A plan without times is left to another rule.
    """
    try:
        return not broken_musts(session) and not double_bookings(session)
    except PlanInvalid:
        return True


def _get_requested_action(stage: StageInput) -> str | None:
    """Return the action of the move that the person asked for."""
    return FORWARD.get(stage.session.stage) if stage.asked is Move.PROCEED else _ASKED.get(stage.asked)


def _actions(stage: StageInput, output: StageOutput) -> tuple[str, ...]:
    """Return the actions beyond the move that was asked for."""
    asked = _get_requested_action(stage)
    onward = FORWARD.get(stage.session.stage) if output.move is Move.PROCEED is not stage.asked else None
    return tuple(name for name in (onward, *map(_action, output.effects)) if name not in {None, asked})


def _action(effect: Effect) -> str | None:
    match effect:
        case WriteCalendar():
            return "write"
        case UndoUpdate():
            return "undo_change"
        case UndoGroup():
            return "undo_all"
        case GoBack(redo=redo):
            return "redo_write" if redo else "undo_write"
        case _:
            return None


def _refuse(session: Session, *lines: str) -> StageOutput:
    return StageOutput(session=session.with_thread(notice=Notice(lines=lines, refused=True)))
