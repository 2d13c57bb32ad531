"""Planning stages with their table of transitions, and the time limits and sizes of a turn (S98).

The limits of a language model are for one of usual speed; :attr:`fateforger.ports.model.Model.time_factor` lengthens
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from pydantic import Field

from fateforger.memory.vocabulary import STAGE_HEADINGS
from fateforger.text import gettext as _
from fateforger.values import Value

CALENDAR_WAIT = 2.0
"""Time that the first reply of Stage 1 waits for the calendar (S40)."""
WEEK_WAIT = 20.0
"""Time that a week waits for the calendar of all its days."""
REREAD_WAIT = 1.5
"""Time that a change waits for a fresh calendar reading before it uses the last one."""
MEMORY_WAIT = 1.0
"""Time that a turn waits for each request to the constraint store."""
TURN_LIMIT = 120.0
"""A turn that runs longer than this has failed."""
DECISION_LIMIT = 20.0
"""Limit for classifying a message."""
GATE_LIMIT = 35.0
"""Limit for extracting the values that a message gives for the current stage."""
PATCH_LIMIT = 60.0
"""Limit for a patch of the plan, all tries together."""
PATCH_TRIES = 5
"""Number of tries for a patch that fits (S72)."""
EXTRACT_LIMIT = 60.0
"""Limit for extracting constraints from a message."""
EXTRACT_WAIT = 4.0
"""Time that a draft or a commit waits for the constraints in the same message (K9, S119)."""
UNDERSTAND_LIMIT = 90.0
"""Limit for a whole extraction job; then it is retried."""
DRAFT_LIMIT = 120.0
"""Limit for a model's draft of the day; after that the solver's draft is shown (S120)."""
ENOUGH_CONFIDENCE = 0.6
"""Least confidence of a model in what a message is about, for handing it to the queue or to a plan (S223)."""
MOST_STEPS = 64
"""Nodes that one turn may run; a message of eight wishes through all stages needs about fifty."""
MOST_ROWS = 30
"""Blocks or tasks on one card that get a menu of their own; Slack shows at most 50 parts."""
MOST_UNDO = 20
"""Changes of Stage 4 that can be undone one by one."""
SHIFT_MINUTES = 15
"""Minutes by which the earlier and later buttons move a block."""


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
