"""Check whether a command is allowed in the current stage (S56)."""

from __future__ import annotations

from typing import assert_never

from fateforger.session import commands
from fateforger.session.commands import SessionCommand
from fateforger.session.model import Notice, Session
from fateforger.session.moves import move_token, offered_moves
from fateforger.session.refitting import OptionCommand
from fateforger.stages import Move, TimeboxingStage, target
from fateforger.turn.nodes.decision import NO_MODEL, get_home_stage

_TOLD = frozenset({TimeboxingStage.COLLECT_CONSTRAINTS, TimeboxingStage.CAPTURE_INPUTS})
OUT_OF_DATE = "That card was out of date, so I did nothing. This is where we are."


def find_objection(session: Session, command: SessionCommand, asked: Move) -> Notice | None:
    """Return the refusal of a command, or ``None`` if its stage accepts it."""
    if isinstance(command, commands.TimeboxingUserReply):
        return Notice(lines=(NO_MODEL,))
    if isinstance(command, commands.StageAction) and command.seen not in {None, move_token(session, asked)}:
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
    if isinstance(command, commands.ChooseDate) and stage is TimeboxingStage.COLLECT_CONSTRAINTS:
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
            if session.written is None:
                return "Nothing of this plan is on your calendar, so there is nothing to undo."
            return "Undo works in Refine and on the committed plan; go on to Refine first."
        case Move.RETRY:
            return "Nothing failed here, so there is nothing to try again."
        case Move.STAY | Move.REDO | Move.CANCEL:
            return "That is not possible here."
        case _:
            assert_never(move)
