"""First node: clear the last notice and apply the fresh readings."""

from __future__ import annotations

from datetime import datetime

from fateforger.session.frame import frame_mistake
from fateforger.session.memory import RecalledConstraints, unstored_versions
from fateforger.session.model import Notice, Session
from fateforger.session.recall import recall
from fateforger.session.skeleton import grade_session
from fateforger.turn.model import DayReading, MemoryReading, TurnInput
from fateforger.values import replace


def begin_turn(turn: TurnInput) -> Session:
    """Return the session without its last notice, with the fresh readings applied."""
    session = with_memory(replace(turn.session, notice=None, now=turn.now), turn.memory, turn.now)
    aged = tuple(replace(write, fresh=False) for write in session.memory_writes)
    session = replace(session, memory_writes=aged)
    if turn.offered is not None:
        session = replace(session, offered=turn.offered, offer_trouble=turn.offer_trouble)
    return session if turn.reading is None else apply_reading(session, turn.reading)


def with_memory(session: Session, reading: MemoryReading | None, now: datetime) -> Session:
    """Apply a reading of the constraint store to the session.

    Constraints that the store shows need not be kept in the session any more. A failed reading keeps the last recalled
    constraints and its reason.
    """
    if reading is None:
        return session
    recalled, own = reading.recalled, reading.said
    if recalled is None and reading.error is None:
        recalled, own = recall(session, reading.versions, now), unstored_versions(session.said, reading.versions)
    recalled = recalled or session.recalled or RecalledConstraints(day=session.date, stage=session.stage, at=now)
    known = replace(recalled, trouble=reading.error)
    return replace(session, recalled=known, said=session.said if own is None else own)


def apply_reading(session: Session, reading: DayReading) -> Session:
    """Apply a calendar reading to the session.

    A failed reading keeps the last good one, and records why it failed.
    """
    if reading.snapshot is None:
        return replace(session, snapshot_error=reading.error)
    changes: dict[str, object] = {"snapshot": reading.snapshot, "snapshot_error": None}
    if reading.plan is not None and reading.plan != session.plan:
        changes["plan"] = reading.plan
    if reading.questions is not None:
        changes["questions"] = reading.questions
    if reading.noticed:
        changes["notice"] = Notice(lines=reading.noticed)
    known = session.model_copy(update=changes)
    return known if frame_mistake(known) is not None else grade_session(known)
