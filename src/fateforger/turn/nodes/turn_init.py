"""The session as a turn begins: what was said is forgotten, what the calendar shows now is known."""

from __future__ import annotations

from fateforger.session.frame import frame_mistake
from fateforger.session.model import Notice, Session
from fateforger.session.skeleton import graded
from fateforger.turn.model import DayReading, TurnInput


def begun(turn: TurnInput) -> Session:
    """The session with the last notice gone and the fresh reading, if there is one, taken in."""
    session = turn.session.model_copy(update={"notice": None})
    return session if turn.reading is None else taken_in(session, turn.reading)


def taken_in(session: Session, reading: DayReading) -> Session:
    """A look at the calendar put into the session. A failed look keeps the last good one, and says why it failed."""
    if reading.snapshot is None:
        return session.model_copy(update={"snapshot_error": reading.error})
    changes: dict[str, object] = {"snapshot": reading.snapshot, "snapshot_error": None}
    if reading.plan is not None and reading.plan != session.plan:
        changes["plan"] = reading.plan
    if reading.questions is not None:
        changes["questions"] = reading.questions
    if reading.noticed:
        changes["notice"] = Notice(lines=reading.noticed)
    known = session.model_copy(update=changes)
    return known if frame_mistake(known) is not None else graded(known)
