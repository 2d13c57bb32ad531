"""Ratings of cards that a language model contributed to."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, ConfigDict


class Rating(BaseModel):
    """A rating.

    ``turn`` is the id of the command behind the card. ``prompts`` are the prompts that shaped it, with their
    versions.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    session_id: str
    turn: str
    user_id: str
    helpful: bool
    prompts: tuple[str, ...] = ()
    at: datetime
