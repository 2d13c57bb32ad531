"""Context that a turn needs in addition to its session."""

from __future__ import annotations

from typing import assert_never

from fateforger.constraints.credentials import LEFT_OUT
from fateforger.coordinator.looking import Look
from fateforger.coordinator.mirroring import build_reading
from fateforger.session import commands
from fateforger.session.commands import SessionCommand
from fateforger.session.model import Session
from fateforger.stages import Move, TimeboxingStage
from fateforger.turn.model import TurnInput, TurnOutcome
from fateforger.values import replace


def needs_day(session: Session, command: SessionCommand, *, words: bool = False) -> bool:
    """Check whether a command should be carried out with a fresh read of the calendar (S84, S202).

    With ``words`` a message may mean any of the other commands.
    """
    match command:
        case commands.TimeboxingUserReply():
            return words and session.stage not in {TimeboxingStage.DATE, TimeboxingStage.COLLECT_CONSTRAINTS}
        case commands.StageAction(move=move):
            match session.stage:
                case TimeboxingStage.DATE | TimeboxingStage.COLLECT_CONSTRAINTS:
                    return False
                case TimeboxingStage.CAPTURE_INPUTS:
                    return move is Move.PROCEED
                case TimeboxingStage.SKELETON:
                    return move in {Move.PROCEED, Move.REDO}
                case TimeboxingStage.REFINE | TimeboxingStage.REVIEW_COMMIT:
                    return move in {Move.PROCEED, Move.REDO, Move.RETRY, Move.BACK}
                case _:
                    assert_never(session.stage)
        case commands.AddTasks(proceed=proceed):
            return proceed and session.stage is TimeboxingStage.CAPTURE_INPUTS
        case (
            commands.AddBlock()
            | commands.EditBlock()
            | commands.RemoveBlock()
            | commands.ShiftBlock()
            | commands.SwapBlock()
            | commands.ApplyPatch()
            | commands.ApplyFix()
            | commands.ResolveConflict()
            | commands.RemoveTask()
            | commands.ResizeTask()
            | commands.AdjustFrame()
            | commands.DeferTask()
            | commands.SplitTask()
            | commands.Replan()
        ):
            return session.stage in {TimeboxingStage.REFINE, TimeboxingStage.REVIEW_COMMIT}
        case _:
            return False


def explain_withheld(command: SessionCommand) -> tuple[str, ...]:
    """Return the reply to a message from which a secret was removed; empty for any other command."""
    return (LEFT_OUT,) if isinstance(command, commands.TimeboxingUserReply) and command.withheld else ()


def find_contradicted_turn(turn: TurnInput, look: Look, outcome: TurnOutcome) -> TurnInput | None:
    """Return the turn to run again if a command from a message contradicts the person's own change in the calendar.

    The person is then asked, as after a click (S201). Returns ``None`` if the outcome holds.
    """
    for command in outcome.heard:
        with_it = build_reading(turn.session, look, command)
        if with_it != turn.reading:
            first, *rest = outcome.heard
            return replace(
                turn,
                command=first,
                rest=tuple(rest),
                lines=outcome.lines,
                reading=with_it,
                last_words=outcome.session.last_words,
            )
    return None
