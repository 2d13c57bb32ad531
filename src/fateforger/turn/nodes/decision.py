"""Map commands to stages and moves.

Words are read by a language model or not at all (K4): without one, a message is no move and changes nothing (S124).
"""

from __future__ import annotations

from fateforger.session import commands
from fateforger.session.commands import SessionCommand
from fateforger.session.commands.envelope import SessionCommandBase
from fateforger.stages import Move, TimeboxingStage

NO_MODEL = (
    "There is no language model connected, so I cannot read messages here;"
    " the buttons and forms on this card do everything."
)

_HOME: dict[type[SessionCommandBase], TimeboxingStage] = {
    commands.ChooseDate: TimeboxingStage.DATE,
    commands.TimeboxingCommitDate: TimeboxingStage.DATE,
    commands.SetFrame: TimeboxingStage.COLLECT_CONSTRAINTS,
    commands.AdjustFrame: TimeboxingStage.COLLECT_CONSTRAINTS,
    commands.AddTasks: TimeboxingStage.CAPTURE_INPUTS,
    commands.UpdateTask: TimeboxingStage.CAPTURE_INPUTS,
    commands.ResizeTask: TimeboxingStage.CAPTURE_INPUTS,
    commands.RemoveTask: TimeboxingStage.CAPTURE_INPUTS,
    commands.DeferTask: TimeboxingStage.CAPTURE_INPUTS,
    commands.BringAlong: TimeboxingStage.CAPTURE_INPUTS,
    commands.UndoCatchUp: TimeboxingStage.CAPTURE_INPUTS,
    commands.SplitTask: TimeboxingStage.CAPTURE_INPUTS,
    commands.MarkOneThing: TimeboxingStage.CAPTURE_INPUTS,
    commands.AddBlock: TimeboxingStage.REFINE,
    commands.EditBlock: TimeboxingStage.REFINE,
    commands.RemoveBlock: TimeboxingStage.REFINE,
    commands.ShiftBlock: TimeboxingStage.REFINE,
    commands.SwapBlock: TimeboxingStage.REFINE,
    commands.ApplyPatch: TimeboxingStage.REFINE,
    commands.ApplyFix: TimeboxingStage.REFINE,
    commands.Replan: TimeboxingStage.REFINE,
    commands.ResolveConflict: TimeboxingStage.REFINE,
}


def get_home_stage(command: SessionCommand) -> TimeboxingStage | None:
    """Return the stage that a command belongs to, or ``None`` if it fits any stage."""
    return _HOME.get(type(command))


def get_requested_move(command: SessionCommand) -> Move:
    """Return the move that a command asks for; ``STAY`` if the stage itself handles it."""
    match command:
        case commands.StageAction(move=move):
            return move
        case commands.TimeboxingCommitDate():
            return Move.PROCEED
        case _:
            return Move.STAY
