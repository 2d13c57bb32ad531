"""Facts that a day is planned from: its frame, its tasks, and a model's draft."""

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
"""Most characters of a success criterion."""


class Depth(StrEnum):
    """Depth of attention that a task needs."""

    DEEP = "deep"
    SHALLOW = "shallow"


class Task(BaseModel):
    """A task of the day.

    Without ``minutes`` it gets blocks of a usual length (S106).
    """

    model_config = _FROZEN
    id: str
    title: str = Field(min_length=1, max_length=300)
    minutes: int | None = Field(None, gt=0, le=24 * 60)
    depth: Depth = Depth.DEEP
    one_thing: bool = False
    in_pieces: bool = False
    """True when it may be split although its kind and length would not be."""
    notes: str = Field("", max_length=3000)
    done_when: tuple[Annotated[str, Field(min_length=1, max_length=MOST_CRITERION)], ...] = Field(
        (), max_length=MOST_CRITERIA
    )
    """Success criteria, two or three that can be verified (S209)."""


class FrameFacts(BaseModel):
    """Frame of the day (Stage 1), in local times on the planned day.

    An end before the start is on the next day. ``usual_start`` is the usual start of days, kept while the person
    gives another one for this day.
    """

    model_config = _FROZEN
    day_start: time = time(9, 0)
    day_end: time = time(18, 0)
    lunch_start: time | None = time(12, 30)
    lunch_minutes: int = Field(45, ge=0, le=240)
    confirmed: bool = False
    usual_start: time | None = None


class OfferedInput(BaseModel):
    """A task that the person may want to do on this day as well.

    ``source`` tells its origin: the person deferred it; the plan of ``day`` had no room for it, or planned it without
    a word on the outcome; it is in the queue since that day (with its id there); or it is in TickTick, and ``day`` is
    the day it is offered for.
    """

    model_config = _FROZEN
    task: Task
    source: Literal["deferred", "unplaced", "planned", "queue", "ticktick"]
    day: Date


class CatchUp(BaseModel):
    """Missed days, caught up with in one step.

    ``things`` are their open tasks; those that are not ``brought`` are settled.
    """

    model_config = _FROZEN
    things: tuple[OfferedInput, ...]
    brought: tuple[str, ...]


class InputFacts(BaseModel):
    """Tasks of the day (Stage 2), the most important first."""

    model_config = _FROZEN
    tasks: tuple[Task, ...] = ()


class Offer(BaseModel):
    """One option for a task that found no place.

    Leave it for another day, drop it, shrink it to ``minutes``, split it, end the day at ``until``, or relax the
    constraint ``uid`` for the day.
    """

    model_config = _FROZEN
    way: Literal["defer", "drop", "shrink", "split", "extend", "set_aside"]
    minutes: int | None = None
    until: time | None = None
    uid: str | None = None


class Unplaced(BaseModel):
    """A task that found no place, with the reason and its options.

    ``task`` is the rest of it, when that is not the task of the list: a piece, or a block of the person's own.
    """

    model_config = _FROZEN
    task_id: str
    title: str
    reason: str
    offers: tuple[Offer, ...] = ()
    task: Task | None = None


class Clash(BaseModel):
    """A minimal set ``uids`` of musts that cannot all be kept; the draft relaxes ``let_go``."""

    model_config = _FROZEN
    uids: tuple[str, ...]
    let_go: tuple[str, ...]


class Sketch(BaseModel):
    """A model's draft of the day.

    ``basis`` is the fingerprint of its inputs; the draft is only valid while the session's is the same. ``mended``
    are sentences about blocks that were moved because it broke a must. Without a ``plan``, ``trouble`` is a sentence
    on why there is none.
    """

    model_config = _FROZEN
    basis: str
    plan: TBPlan | None = None
    mended: tuple[str, ...] = ()
    unplaced: tuple[Unplaced, ...] = ()
    trouble: str | None = None


class Facts(BaseModel):
    """Facts that a change of the rest of the day alters besides the plan."""

    model_config = _FROZEN
    frame: FrameFacts
    inputs: InputFacts
    deferred: tuple[Task, ...]
    unplaced: tuple[Unplaced, ...]
    settled: tuple[str, ...] = ()
    draft_basis: str | None
