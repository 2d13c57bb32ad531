"""Fields of all commands to a running session."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, ConfigDict


class SessionCommandBase(BaseModel):
    """A command to a running session.

    ``command_id`` is unique to the click, submission, or message and the same for its repetitions. ``at`` is the
    aware instant at which the person acted.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    command_id: str
    user_id: str
    at: datetime
    session_id: str
