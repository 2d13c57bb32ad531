"""Transition table: the stage that each move leads to (S59). The turn graph is built from it."""

from __future__ import annotations

from collections.abc import Mapping

from fateforger.stages.model import Move
from fateforger.stages.model import TimeboxingStage as S

TRANSITIONS: Mapping[S, Mapping[Move, S]] = {
    S.DATE: {Move.PROCEED: S.COLLECT_CONSTRAINTS},
    S.COLLECT_CONSTRAINTS: {Move.PROCEED: S.CAPTURE_INPUTS, Move.BACK: S.DATE},
    S.CAPTURE_INPUTS: {Move.PROCEED: S.SKELETON, Move.BACK: S.COLLECT_CONSTRAINTS},
    S.SKELETON: {Move.PROCEED: S.REFINE, Move.BACK: S.CAPTURE_INPUTS},
    S.REFINE: {
        Move.PROCEED: S.REVIEW_COMMIT,
        Move.BACK: S.SKELETON,
        Move.UNDO_LAST_UPDATE: S.REFINE,
        Move.UNDO_SYNC: S.REFINE,
        Move.RETRY: S.REFINE,
    },
    S.REVIEW_COMMIT: {
        Move.BACK: S.REFINE,
        Move.UNDO_SYNC: S.REFINE,
        Move.RETRY: S.REVIEW_COMMIT,
    },
}
"""Not listed: ``STAY`` and ``REDO`` keep the stage; ``CANCEL`` ends the session from any stage."""


def target(stage: S, move: Move) -> S | None:
    """Return the stage that ``move`` leads to from ``stage``, or ``None`` if the move is not legal there."""
    if move in {Move.STAY, Move.REDO, Move.CANCEL}:
        return stage
    return TRANSITIONS[stage].get(move)
