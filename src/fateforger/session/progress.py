"""Progress of a turn that takes a moment, as a value for the display."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class Activity(StrEnum):
    LOOKING = "looking"
    """Reading the calendar."""
    READING = "reading"
    """Reading the person's message."""
    DRAFTING = "drafting"
    """Drafting a first plan of the day."""
    CHANGING = "changing"
    """Working out a change of the plan."""
    WRITING = "writing"
    """Writing to the calendar: from here on the turn runs to its end."""


class Progress(BaseModel):
    """Progress of a turn.

    ``done`` of ``of`` events are written, where that can be counted; the rest ``waits`` that many seconds.
    """

    model_config = ConfigDict(frozen=True)
    doing: Activity
    done: int = 0
    of: int = 0
    waits: int = 0


ProgressCallback = Callable[[Progress], None]
"""Callback for the progress of a turn; it must not block and must not raise."""


def ignore_progress(progress: Progress) -> None:
    """Ignore the progress."""
    del progress
