"""The stages of planning a day, what each may do next, and what a stage says when it is done with a turn."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class TimeboxingStage(StrEnum):
    """Where a session stands."""

    DATE = "date"
    COLLECT_CONSTRAINTS = "collect_constraints"
    CAPTURE_INPUTS = "capture_inputs"
    SKELETON = "skeleton"
    REFINE = "refine"
    REVIEW_COMMIT = "review_commit"

    @property
    def number(self) -> int:
        """0 to 5, as people count them."""
        return list(TimeboxingStage).index(self)

    @property
    def heading(self) -> str:
        """The stage as people read it."""
        return _HEADINGS[self]


_HEADINGS = {
    TimeboxingStage.DATE: "Date",
    TimeboxingStage.COLLECT_CONSTRAINTS: "Your day's frame",
    TimeboxingStage.CAPTURE_INPUTS: "What to do",
    TimeboxingStage.SKELETON: "Skeleton",
    TimeboxingStage.REFINE: "Refine",
    TimeboxingStage.REVIEW_COMMIT: "Committed",
}


class Move(StrEnum):
    """What can be asked of a stage. Each is one meaning with one action id (K7)."""

    STAY = "stay"
    PROCEED = "proceed"
    BACK = "back"
    REDO = "redo"
    CANCEL = "cancel"
    UNDO_LAST_UPDATE = "undo_last_update"
    UNDO_SYNC = "undo_sync"
    RETRY = "retry"


class StageGateOutput(BaseModel):
    """What a stage says at the end of a turn (S61)."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    stage: TimeboxingStage
    ready: bool
    summary: tuple[str, ...] = Field(min_length=1, max_length=4)
    missing: tuple[str, ...] = ()
    question: str | None = None
