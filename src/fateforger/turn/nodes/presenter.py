"""The last node: what a turn came to."""

from __future__ import annotations

from fateforger.session.gates import gate
from fateforger.session.model import Session
from fateforger.session.questions import settled
from fateforger.turn.model import DraftDay, Effect, TurnOutcome, WriteMemory


def presented(session: Session, effects: tuple[Effect, ...]) -> TurnOutcome:
    """The outcome of the turn: where the session stands, how ready its stage is, what is still to be done. What the
    turn has answered or made pointless is asked no more."""
    session = settled(session)
    drafts = [effect for effect in effects if isinstance(effect, DraftDay)]
    # What was told in several steps is drafted once, as it is in the end.
    kept = tuple(e for e in effects if not isinstance(e, DraftDay) or e is drafts[-1])
    return TurnOutcome(session=session, gate=gate(session), effects=written_once(kept))


def written_once(effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """What several commands of one message write into memory is written as one."""
    writes = [effect for effect in effects if isinstance(effect, WriteMemory)]
    if len(writes) < 2:
        return effects
    expected: dict[str, int] = {}
    for write in reversed(writes):
        expected |= write.expected
    whole = WriteMemory(versions=tuple(v for write in writes for v in write.versions), expected=expected)
    return (*(effect for effect in effects if not isinstance(effect, WriteMemory)), whole)
