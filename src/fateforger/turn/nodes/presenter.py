"""Last node: build the outcome of a turn."""

from __future__ import annotations

from fateforger.session.gates import gate
from fateforger.session.model import Session
from fateforger.session.questions import settle_questions
from fateforger.turn.model import DraftDay, Effect, TurnOutcome, WriteMemory


def present_outcome(session: Session, effects: tuple[Effect, ...]) -> TurnOutcome:
    """Return the outcome of the turn: session, readiness of its stage, and effects.

    Questions that the turn has answered or made obsolete are dropped.
    """
    session = settle_questions(session)
    drafts = [effect for effect in effects if isinstance(effect, DraftDay)]
    # A turn of several steps is drafted only once, in its final state.
    kept = tuple(e for e in effects if not isinstance(e, DraftDay) or e is drafts[-1])
    return TurnOutcome(session=session, gate=gate(session), effects=merge_memory_writes(kept))


def merge_memory_writes(effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """Merge the memory writes of several commands of one message into one."""
    writes = [effect for effect in effects if isinstance(effect, WriteMemory)]
    if len(writes) < 2:
        return effects
    expected: dict[str, int] = {}
    for write in reversed(writes):
        expected |= write.expected
    whole = WriteMemory(versions=tuple(v for write in writes for v in write.versions), expected=expected)
    return (*(effect for effect in effects if not isinstance(effect, WriteMemory)), whole)
