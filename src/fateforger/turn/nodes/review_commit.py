"""Stage 5: the plan on the calendar, what it took, and taking it back (S51-S53, S85)."""

from __future__ import annotations

from fateforger.session.edits import BlockCommand
from fateforger.session.keys import minted
from fateforger.stages import Move
from fateforger.turn.model import StageInput, StageOutput, WriteCalendar


def run(stage: StageInput) -> StageOutput:
    """Commit on arrival and again when asked to; a correction goes to Refine within the same turn (S52)."""
    session = stage.session
    if isinstance(stage.command, BlockCommand):
        return StageOutput(session=session, move=Move.BACK, command=stage.command)
    if stage.asked in {Move.BACK, Move.UNDO_SYNC}:
        return StageOutput(session=session, move=stage.asked)
    if stage.arrived is not None or stage.asked in {Move.RETRY, Move.REDO}:
        group = session.write_group or minted("g", session.id, stage.cause)
        # Only trying again is a yes to what stopped the last write.
        brakes = session.brakes if stage.asked is Move.RETRY else ()
        session = session.model_copy(update={"write_group": group, "brakes": brakes})
        return StageOutput(session=session, effects=(WriteCalendar(group=group, commit=True),))
    return StageOutput(session=session)
