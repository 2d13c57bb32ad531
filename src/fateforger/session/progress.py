"""What a turn that takes a moment is doing just now: a value for whoever shows it."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class Doing(StrEnum):
    LOOKING = "looking"
    """At the calendar."""
    READING = "reading"
    """What the person wrote."""
    DRAFTING = "drafting"
    """A first plan of the day."""
    CHANGING = "changing"
    """Working out a change of the plan."""
    WRITING = "writing"
    """To the calendar: from here on the turn ends whole."""


class Progress(BaseModel):
    """``done`` of ``of`` events are written, where that can be counted; the rest ``waits`` so many seconds."""

    model_config = ConfigDict(frozen=True)
    doing: Doing
    done: int = 0
    of: int = 0
    waits: int = 0


Tell = Callable[[Progress], None]
"""Takes a turn's progress as it goes on; it must not wait and must not fail."""


def untold(progress: Progress) -> None:
    """For a turn that nobody watches."""
    del progress
