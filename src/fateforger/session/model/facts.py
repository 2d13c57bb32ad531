"""What a day is planned from: its frame, what is to be done, and a model's draft of it."""

from __future__ import annotations

from datetime import date as Date  # noqa: N812  the field is called ``date`` and would hide the type
from datetime import time
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from fateforger.plan import TBPlan

_FROZEN = ConfigDict(frozen=True, extra="forbid")


MOST_CRITERIA = 3
MOST_CRITERION = 200
"""Characters of a criterion of success."""


class Depth(StrEnum):
    """How much undisturbed attention a task needs."""

    DEEP = "deep"
    SHALLOW = "shallow"


class Task(BaseModel):
    """Something to do. ``minutes`` may be left open; then it gets blocks of a usual length (S106)."""

    model_config = _FROZEN
    id: str
    title: str = Field(min_length=1, max_length=300)
    minutes: int | None = Field(None, gt=0, le=24 * 60)
    depth: Depth = Depth.DEEP
    one_thing: bool = False
    in_pieces: bool = False
    """It may be split where work of its kind and length would not be."""
    notes: str = Field("", max_length=3000)
    done_when: tuple[Annotated[str, Field(min_length=1, max_length=MOST_CRITERION)], ...] = Field(
        (), max_length=MOST_CRITERIA
    )
    """What makes it a success, in two or three things that can be told (S209)."""


class FrameFacts(BaseModel):
    """The frame of the day (Stage 1): local times on the planned day. An end before the start means next day.
    ``usual_start`` is when days usually start, kept while the person says that this one began at another time."""

    model_config = _FROZEN
    day_start: time = time(9, 0)
    day_end: time = time(18, 0)
    lunch_start: time | None = time(12, 30)
    lunch_minutes: int = Field(45, ge=0, le=240)
    confirmed: bool = False
    usual_start: time | None = None


class OfferedInput(BaseModel):
    """Something the person may want to do on this day as well. ``source`` says why: they left it for another day; the
    plan of ``day`` had no room for it, or had it and is over without a word about it; it stands in their queue since
    that day (the task then has the id that it has there); or in TickTick, then ``day`` is the day it is offered for."""

    model_config = _FROZEN
    task: Task
    source: Literal["deferred", "unplaced", "planned", "queue", "ticktick"]
    day: Date


class CaughtUp(BaseModel):
    """Missed days, caught up with in one step: the ``things`` that were open of them. Those that are not ``brought``
    are settled."""

    model_config = _FROZEN
    things: tuple[OfferedInput, ...]
    brought: tuple[str, ...]


class InputFacts(BaseModel):
    """What is to be done (Stage 2), the most important first."""

    model_config = _FROZEN
    tasks: tuple[Task, ...] = ()


class Offer(BaseModel):
    """One way to make room for a task that found no place: leave it for another day, drop it, give it ``minutes`` only,
    do it in pieces, end the day at ``until``, or do without the constraint ``uid`` for the day."""

    model_config = _FROZEN
    way: Literal["defer", "drop", "shrink", "split", "extend", "set_aside"]
    minutes: int | None = None
    until: time | None = None
    uid: str | None = None


class Unplaced(BaseModel):
    """A task that found no place, why, and what can be done about it. ``task`` is what is left to do of it, when that
    is not the task of the list: a piece, or a block of the person's own."""

    model_config = _FROZEN
    task_id: str
    title: str
    reason: str
    offers: tuple[Offer, ...] = ()
    task: Task | None = None


class Clash(BaseModel):
    """Constraints ``uids`` that must be kept and cannot all be, no fewer of them; the draft does without
    ``let_go``."""

    model_config = _FROZEN
    uids: tuple[str, ...]
    let_go: tuple[str, ...]


class Sketch(BaseModel):
    """A model's draft of the day. ``basis`` is the fingerprint of what it was made from: it is only good for a session
    that still has the same. ``mended`` are sentences about blocks that were moved in it, because it broke a must.
    Without a ``plan``, ``trouble`` says why there is none, as a sentence."""

    model_config = _FROZEN
    basis: str
    plan: TBPlan | None = None
    mended: tuple[str, ...] = ()
    unplaced: tuple[Unplaced, ...] = ()
    trouble: str | None = None


class Facts(BaseModel):
    """What else a change of the rest of the day alters, besides the plan."""

    model_config = _FROZEN
    frame: FrameFacts
    inputs: InputFacts
    deferred: tuple[Task, ...]
    unplaced: tuple[Unplaced, ...]
    settled: tuple[str, ...] = ()
    draft_basis: str | None
