"""What a person thinks of a card that a language model had a part in."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, ConfigDict


class Rating(BaseModel):
    """``turn`` is the id of the command behind the card; ``prompts`` are those that shaped it, with their versions."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    session_id: str
    turn: str
    user_id: str
    helpful: bool
    prompts: tuple[str, ...] = ()
    at: datetime
