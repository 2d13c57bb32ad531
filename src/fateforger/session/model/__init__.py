"""State of one conversation: a frozen value that can be saved, restored, and compared (S62)."""

from fateforger.session.model.changes import (
    MEETINGS,
    CalendarWrite,
    Held,
    Question,
    RefineUpdate,
    SyncReport,
    Weighed,
    Written,
)
from fateforger.session.model.facts import (
    CaughtUp,
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
    "CaughtUp",
    "Clash",
    "Depth",
    "Facts",
    "FrameFacts",
    "Held",
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
    "Weighed",
    "Written",
]
