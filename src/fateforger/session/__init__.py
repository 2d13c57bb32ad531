"""Where one conversation stands, and what it says."""

from fateforger.session.model import (
    Depth,
    FrameFacts,
    InputFacts,
    Notice,
    Outgoing,
    Question,
    RefineUpdate,
    Session,
    SessionStatus,
    SyncReport,
    Task,
    Unplaced,
    Written,
)

__all__ = [
    "Depth",
    "FrameFacts",
    "InputFacts",
    "Notice",
    "Outgoing",
    "Question",
    "RefineUpdate",
    "Session",
    "SessionStatus",
    "SyncReport",
    "Task",
    "Unplaced",
    "Written",
]
