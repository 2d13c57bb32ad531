"""Moves that a session offers now, and the tokens that tie a button to its card."""

from __future__ import annotations

from typing import assert_never

from fateforger.session.gates import gate
from fateforger.session.model import Session, SessionStatus
from fateforger.stages import Move, TimeboxingStage, target

_FAILED = frozenset({"partial", "failed"})


def offered_moves(session: Session) -> tuple[Move, ...]:
    """Return the moves that make sense now, each legal by the table; cards show buttons for them (S54)."""
    if session.status is SessionStatus.CANCELLED:
        return ()
    return tuple(m for m in Move if target(session.stage, m) is not None and _makes_sense(session, m))


def move_token(session: Session, move: Move) -> str:
    """Return the token of a move's button; it changes once the move has been carried out."""
    match move:
        case Move.UNDO_LAST_UPDATE:
            return f"{session.stage.value}.{len(session.refine_undo)}"
        case Move.UNDO_SYNC:
            return f"{session.stage.value}.{session.write_group}"
        case Move.STAY | Move.PROCEED | Move.BACK | Move.REDO | Move.CANCEL | Move.RETRY:
            return session.stage.value
        case _:
            assert_never(move)


def _makes_sense(session: Session, move: Move) -> bool:
    match move:
        case Move.STAY:
            return False
        case Move.PROCEED:
            return gate(session).ready
        case Move.UNDO_LAST_UPDATE:
            return bool(session.refine_undo)
        case Move.UNDO_SYNC:
            return session.written is not None
        case Move.RETRY:
            return session.problem is not None or _has_failed(session)
        case Move.BACK | Move.CANCEL:
            return True
        case Move.REDO:
            return session.stage is not TimeboxingStage.DATE
        case _:
            assert_never(move)


def _has_failed(session: Session) -> bool:
    at_review = session.stage is TimeboxingStage.REVIEW_COMMIT
    return at_review and session.last_sync is not None and session.last_sync.status in _FAILED
