"""Stage 2: tasks, and the one that matters most (S43)."""

from __future__ import annotations

from fateforger.session.commands import AddTasks
from fateforger.session.gates import gate
from fateforger.stages import Move
from fateforger.turn.model import ReadCalendar, StageInput, StageOutput
from fateforger.turn.nodes.facts import apply_day_facts


def run(stage: StageInput) -> StageOutput:
    """Change the list or move on. Tasks that come with the wish to draft right away do both."""
    session = stage.session
    after = apply_day_facts(session, stage.command)
    if after is not None:
        on = isinstance(stage.command, AddTasks) and stage.command.proceed and gate(after).ready
        return StageOutput(session=after, move=Move.PROCEED if on else Move.STAY)
    if stage.asked in {Move.PROCEED, Move.BACK}:
        return StageOutput(session=session, move=stage.asked)
    if stage.asked is Move.REDO:
        look = ReadCalendar(day=session.date, tz=session.tz, wait=True, fresh=True)
        return StageOutput(session=session, effects=(look,))
    return StageOutput(session=session)
