"""Commands about the day to plan, and its frame."""

from __future__ import annotations

from datetime import date as Date  # noqa: N812  the field is called ``date`` and would hide the type
from datetime import time
from typing import Literal

from fateforger.session.commands.envelope import SessionCommandBase
from fateforger.session.model import FrameFacts


class ChooseDate(SessionCommandBase):
    """Stage 0: choose another day or zone, not confirmed yet."""

    kind: Literal["choose_date"] = "choose_date"
    date: Date | None = None
    tz: str | None = None


class TimeboxingCommitDate(SessionCommandBase):
    """Stage 0: confirm the day and zone."""

    kind: Literal["commit_date"] = "commit_date"


class SetFrame(SessionCommandBase):
    """Stage 1: set the frame of the day."""

    kind: Literal["set_frame"] = "set_frame"
    frame: FrameFacts


class AdjustFrame(SessionCommandBase):
    """Stage 1: change the start or end of the day; ``None`` leaves it as it is."""

    kind: Literal["adjust_frame"] = "adjust_frame"
    day_start: time | None = None
    day_end: time | None = None
