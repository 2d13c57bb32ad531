"""Stage 1: fixed events and the frame of the day (S40-S42)."""

from __future__ import annotations

from fateforger.session.commands import ChooseDate
from fateforger.stages import Move
from fateforger.turn.model import ReadCalendar, StageInput, StageOutput
from fateforger.turn.nodes.date import choose_date
from fateforger.turn.nodes.facts import apply_day_facts
from fateforger.values import replace


def run(stage: StageInput) -> StageOutput:
    """Apply what the person says about the day, or move on. On entry, read the calendar."""
    session = stage.session
    after = apply_day_facts(session, stage.command)
    if after is not None:
        return StageOutput(session=after)
    if isinstance(stage.command, ChooseDate):
        session = choose_date(session, stage.command)
        return StageOutput(session=session, effects=(ReadCalendar(day=session.date, tz=session.tz, wait=True),))
    if stage.asked is Move.PROCEED:
        frame = replace(session.frame, confirmed=True)
        return StageOutput(session=replace(session, frame=frame), move=Move.PROCEED)
    if stage.asked is Move.BACK:
        return StageOutput(session=session, move=Move.BACK)
    look = ReadCalendar(day=session.date, tz=session.tz, wait=True, fresh=stage.asked is Move.REDO)
    return StageOutput(session=session, effects=(look,))
