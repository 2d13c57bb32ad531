"""State of one conversation: a frozen value that can be saved, restored, and compared (S62)."""

from fateforger.session.model.changes import (
    MEETINGS,
    CalendarWrite,
    CheckedInputs,
    HeldChange,
    Question,
    RefineUpdate,
    SyncReport,
    WriteCounts,
)
from fateforger.session.model.facts import (
    CatchUp,
    Clash,
    Depth,
    Facts,
    FrameFacts,
    InputFacts,
    Offer,
    OfferedInput,
    Sketch,
    Task,
    Unplaced,
)
from fateforger.session.model.session import LastWords, Notice, Outgoing, Session, SessionStatus

__all__ = [
    "MEETINGS",
    "CalendarWrite",
    "CatchUp",
    "CheckedInputs",
    "Clash",
    "Depth",
    "Facts",
    "FrameFacts",
    "HeldChange",
    "InputFacts",
    "LastWords",
    "Notice",
    "Offer",
    "OfferedInput",
    "Outgoing",
    "Question",
    "RefineUpdate",
    "Session",
    "SessionStatus",
    "Sketch",
    "SyncReport",
    "Task",
    "Unplaced",
    "WriteCounts",
]
