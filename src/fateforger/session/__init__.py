"""Where one conversation stands, and what it says."""

from fateforger.session.model import (
    Depth,
    FrameFacts,
    InputFacts,
    Outgoing,
    Quality,
    RefineUpdate,
    Session,
    SessionStatus,
    SyncReport,
    Task,
    Unplaced,
)

__all__ = [
    "Depth",
    "FrameFacts",
    "InputFacts",
    "Outgoing",
    "Quality",
    "RefineUpdate",
    "Session",
    "SessionStatus",
    "SyncReport",
    "Task",
    "Unplaced",
]
