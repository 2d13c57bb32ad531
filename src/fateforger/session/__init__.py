"""State of one conversation, and its messages."""

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
    WriteCounts,
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
    "WriteCounts",
]
