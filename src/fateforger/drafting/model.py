"""What a day is drafted from and what comes out. All instants are aware; everything here is a frozen value."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date as Date  # noqa: N812  the field is called ``date`` and would hide the type
from datetime import datetime

from fateforger.plan import TBPlan


@dataclass(frozen=True, slots=True)
class Work:
    """Something to do. ``minutes`` left open means a usual length for its depth. ``id`` becomes the block's key."""

    id: str
    title: str
    minutes: int | None
    deep: bool
    first: bool = False
    notes: str = ""


@dataclass(frozen=True, slots=True)
class Busy:
    """Time that is taken and does not move. An empty or reversed stretch takes nothing."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class LunchWish:
    """When lunch should start, and for how long; it gives way to meetings."""

    key: str
    start: datetime
    minutes: int


@dataclass(frozen=True, slots=True)
class Day:
    """A day to fill: ``start`` to ``end`` is the frame, ``works`` are in order of priority."""

    date: Date
    tz: str
    start: datetime
    end: datetime
    busy: tuple[Busy, ...] = ()
    lunch: LunchWish | None = None
    works: tuple[Work, ...] = ()


@dataclass(frozen=True, slots=True)
class Left:
    """What found no place, and why, as the end of a sentence about it."""

    id: str
    title: str
    reason: str


@dataclass(frozen=True, slots=True)
class Draft:
    """Blocks in time order, each with a fixed start, and what is not among them."""

    plan: TBPlan
    unplaced: tuple[Left, ...]
