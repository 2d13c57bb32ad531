"""Planning stages, the moves a person can make, and the table of transitions between them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from pydantic import Field

from fateforger.memory.vocabulary import STAGE_HEADINGS
from fateforger.text import gettext as _
from fateforger.values import Value


class TimeboxingStage(StrEnum):
    """Stage of a planning session."""

    DATE = "date"
    COLLECT_CONSTRAINTS = "collect_constraints"
    CAPTURE_INPUTS = "capture_inputs"
    SKELETON = "skeleton"
    REFINE = "refine"
    REVIEW_COMMIT = "review_commit"

    @property
    def number(self) -> int:
        """Position of the stage, from 0 to 5."""
        return list(TimeboxingStage).index(self)

    @property
    def heading(self) -> str:
        """Name of the stage as shown to people."""
        return _(_HEADINGS[self])


_HEADINGS = dict(zip(TimeboxingStage, STAGE_HEADINGS.values(), strict=True))


class Move(StrEnum):
    """Move that a person can request in a stage. Each has one meaning and one action id (K7)."""

    STAY = "stay"
    PROCEED = "proceed"
    BACK = "back"
    REDO = "redo"
    CANCEL = "cancel"
    UNDO_LAST_UPDATE = "undo_last_update"
    UNDO_SYNC = "undo_sync"
    RETRY = "retry"


class StageGateOutput(Value):
    """Result of a stage at the end of a turn (S61).

    ``facts`` are the states of the workflow that hold then, by their names in its file.
    """

    stage: TimeboxingStage
    ready: bool
    summary: tuple[str, ...] = Field(min_length=1, max_length=4)
    missing: tuple[str, ...] = ()
    question: str | None = None
    facts: tuple[str, ...] = ()


TRANSITIONS: Mapping[TimeboxingStage, Mapping[Move, TimeboxingStage]] = {
    TimeboxingStage.DATE: {Move.PROCEED: TimeboxingStage.COLLECT_CONSTRAINTS},
    TimeboxingStage.COLLECT_CONSTRAINTS: {
        Move.PROCEED: TimeboxingStage.CAPTURE_INPUTS,
        Move.BACK: TimeboxingStage.DATE,
    },
    TimeboxingStage.CAPTURE_INPUTS: {
        Move.PROCEED: TimeboxingStage.SKELETON,
        Move.BACK: TimeboxingStage.COLLECT_CONSTRAINTS,
    },
    TimeboxingStage.SKELETON: {Move.PROCEED: TimeboxingStage.REFINE, Move.BACK: TimeboxingStage.CAPTURE_INPUTS},
    TimeboxingStage.REFINE: {
        Move.PROCEED: TimeboxingStage.REVIEW_COMMIT,
        Move.BACK: TimeboxingStage.SKELETON,
        Move.UNDO_LAST_UPDATE: TimeboxingStage.REFINE,
        Move.UNDO_SYNC: TimeboxingStage.REFINE,
        Move.RETRY: TimeboxingStage.REFINE,
    },
    TimeboxingStage.REVIEW_COMMIT: {
        Move.BACK: TimeboxingStage.REFINE,
        Move.UNDO_SYNC: TimeboxingStage.REFINE,
        Move.RETRY: TimeboxingStage.REVIEW_COMMIT,
    },
}
"""Not listed: ``STAY`` and ``REDO`` keep the stage; ``CANCEL`` ends the session from any stage."""


def target(stage: TimeboxingStage, move: Move) -> TimeboxingStage | None:
    """Return the stage that ``move`` leads to from ``stage``, or ``None`` if the move is not legal there."""
    if move in {Move.STAY, Move.REDO, Move.CANCEL}:
        return stage
    return TRANSITIONS[stage].get(move)
