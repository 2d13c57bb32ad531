"""Default policy of a day (S206-S208).

Each part can be declined with ``null`` or 0.
"""

from __future__ import annotations

from datetime import time
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from fateforger.constraints.record import Clock

_FROZEN = ConfigDict(frozen=True, extra="forbid")
Minutes = Annotated[int, Field(ge=0, le=24 * 60)]


class Between(BaseModel):
    """A stretch of each day, local time; an end that is not after the start means the next day."""

    model_config = _FROZEN
    start: Clock
    end: Clock


class Lunch(BaseModel):
    """Starts near ``start``; it may move by ``drift`` minutes and shrink to ``shortest`` where meetings leave no
    more."""

    model_config = _FROZEN
    start: Clock = time(12, 30)
    minutes: Annotated[int, Field(ge=5, le=240)] = 45
    shortest: Annotated[int, Field(ge=5, le=240)] = 20
    drift: Minutes = 120


class Policy(BaseModel):
    """All of it is soft: it gives way to what a person has to do and to what they said. Times in minutes."""

    model_config = _FROZEN
    lunch: Lunch | None = Lunch()
    commute: bool = True
    around_meetings: Minutes = 0
    after_deep: Minutes = 10
    before_deep: Minutes = 10
    after_meal: Minutes = 10
    shutdown: Minutes = 30
    shallow_percent: Annotated[int, Field(ge=0, le=100)] | None = 30
    one_thing_early: bool = True
    focus: tuple[Between, ...] = ()
    longest_focus: Annotated[int, Field(ge=30, le=24 * 60)] | None = 120
    deep_blocks: Annotated[int, Field(ge=1, le=24)] | None = 3
    block: Annotated[int, Field(ge=5, le=240)] = 30
