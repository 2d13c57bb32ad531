"""Stage 5: the committed plan, its cost, and its undo (S51-S53, S85)."""

from __future__ import annotations

from fateforger.session.commands import Replan, ResolveConflict
from fateforger.session.edits import BlockCommand
from fateforger.session.gates import is_committed
from fateforger.session.keys import mint_key
from fateforger.session.model import Session
from fateforger.session.refitting import OptionCommand
from fateforger.stages import Move
from fateforger.turn.model import StageInput, StageOutput, WriteCalendar
from fateforger.turn.nodes.conflict import resolve_conflict
from fateforger.turn.nodes.refine import SEEN_FIRST, add_lines, ask_first, follow_arrivals
from fateforger.values import replace


def run(stage: StageInput) -> StageOutput:
    """Commit on arrival and on request; send a correction to Refine within the same turn (S52)."""
    session = stage.session
    if isinstance(stage.command, BlockCommand | Replan | OptionCommand):
        return StageOutput(session=session, move=Move.BACK, command=stage.command)
    if isinstance(stage.command, ResolveConflict):
        # An open question belongs to the commit; its answer completes it.
        answered = resolve_conflict(session, stage.command, at_once=True)
        return _write(stage, answered.session) if answered.to_write else StageOutput(session=answered.session)
    if stage.asked in {Move.BACK, Move.UNDO_SYNC}:
        return StageOutput(session=session, move=stage.asked)
    if stage.arrived is not None or stage.asked in {Move.RETRY, Move.REDO}:
        return _write(stage, session)
    return StageOutput(session=session)


def _write(stage: StageInput, session: Session) -> StageOutput:
    """Commit the plan.

    Goes back to Refine if the plan had to change for something that arrived, or needs the person's consent (K9). A
    committed plan that is only refreshed stays as it is.
    """
    if stage.asked is not Move.REDO or not is_committed(session):
        followed = follow_arrivals(session, stage.now)
        if followed.plan != session.plan:
            return StageOutput(session=add_lines(followed, SEEN_FIRST), move=Move.BACK)
        session = followed
    asking = ask_first(stage, session, "commit")
    if asking is not None:
        return StageOutput(session=asking, move=Move.BACK)
    group = session.write_group or mint_key("g", session.id, stage.cause)
    # Only trying again confirms what the safety checks stopped.
    brakes = session.brakes if stage.asked is Move.RETRY else ()
    session = replace(session, write_group=group, brakes=brakes)
    return StageOutput(session=session, effects=(WriteCalendar(group=group, commit=True),))
