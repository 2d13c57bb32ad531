"""Stage 1: what is fixed already, and the frame of the day (S40-S42)."""

from __future__ import annotations

from fateforger.session.commands import AdjustFrame, SetFrame
from fateforger.session.model import FrameFacts
from fateforger.stages import Move
from fateforger.turn.model import ReadCalendar, StageInput, StageOutput


def run(stage: StageInput) -> StageOutput:
    """Take the frame as it is given; whether it makes sense is for the gate to say, so that nothing is lost while the
    person changes one end after the other."""
    session = stage.session
    match stage.command:
        case SetFrame(frame=frame):
            return StageOutput(session=session.model_copy(update={"frame": _unconfirmed(frame)}))
        case AdjustFrame(day_start=start, day_end=end):
            changes = {n: v for n, v in (("day_start", start), ("day_end", end)) if v is not None}
            return StageOutput(session=session.model_copy(update={"frame": session.frame.model_copy(update=changes)}))
        case _:
            pass
    if stage.asked is Move.PROCEED:
        frame = session.frame.model_copy(update={"confirmed": True})
        return StageOutput(session=session.model_copy(update={"frame": frame}), move=Move.PROCEED)
    if stage.asked is Move.BACK:
        return StageOutput(session=session, move=Move.BACK)
    look = ReadCalendar(day=session.date, tz=session.tz, wait=True, fresh=stage.asked is Move.REDO)
    return StageOutput(session=session, effects=(look,))


def _unconfirmed(frame: FrameFacts) -> FrameFacts:
    return frame.model_copy(update={"confirmed": False})
