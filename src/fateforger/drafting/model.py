"""What a day is drafted from and what comes out. All instants are aware; everything here is a frozen value."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date as Date  # noqa: N812  the field is called ``date`` and would hide the type
from datetime import datetime, time
from enum import StrEnum

from fateforger.plan import ET, TBPlan


@dataclass(frozen=True, slots=True)
class Work:
    """Something to do. ``minutes`` left open means a usual length for its depth. ``id`` becomes the block's key.
    ``pieces``: it may come in pieces, whatever its depth and length."""

    id: str
    title: str
    minutes: int | None
    deep: bool
    first: bool = False
    notes: str = ""
    pieces: bool = False


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
    """A day to fill: ``start`` to ``end`` is the frame, ``works`` are in order of priority. ``next_start``: when the
    day after begins, where that is not as early as this one."""

    date: Date
    tz: str
    start: datetime
    end: datetime
    busy: tuple[Busy, ...] = ()
    lunch: LunchWish | None = None
    works: tuple[Work, ...] = ()
    next_start: time | None = None


class Way(StrEnum):
    """What can be done about something that found no place."""

    DROP = "drop"
    DEFER = "defer"
    SHRINK = "shrink"
    SPLIT = "split"
    EXTEND = "extend"
    RELAX = "relax"


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to make it fit, with what a button would say. ``minutes``: what it shrinks to, or how much longer the day
    gets. ``rule``: the constraint that would be let go."""

    way: Way
    label: str
    minutes: int | None = None
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class Left:
    """What found no place, and why, as the end of a sentence about it."""

    id: str
    title: str
    reason: str
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True, slots=True)
class Member:
    """One of the musts in a conflict: in the person's words, as part of a sentence, and what giving it up means."""

    id: str
    words: str
    said: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Musts that cannot all be kept, no fewer of them; ``relax`` is the one that is given up most easily."""

    members: tuple[Member, ...]
    relax: str
    sentence: str

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(member.id for member in self.members)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a block lies where it lies: without ``cause`` (an id, or the name of a policy) it would begin at ``instead``,
    or be left out when that is ``None``. ``text`` is a sentence."""

    kind: str
    text: str
    cause: str | None = None
    instead: datetime | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a draft. ``id``: the task it is for, or what else it is."""

    id: str
    key: str
    title: str
    type: ET
    start: datetime
    minutes: int


@dataclass(frozen=True, slots=True)
class Broken:
    """A should or a wish that the draft does not keep, named with the person's words."""

    id: str
    words: str
    text: str


@dataclass(frozen=True, slots=True)
class Draft:
    """Blocks in time order, each with a fixed start, and what is not among them.

    ``optimal``: nothing better is possible, earlier starts aside. ``gap``: at most this share of what could be
    reached is missing. ``finished`` is false when time was up before all steps were taken. ``relaxed``: musts that
    were let go.
    """

    plan: TBPlan
    unplaced: tuple[Left, ...]
    later: tuple[TBPlan, ...] = ()
    """The plans of the days after the first, when there are several."""
    placed: tuple[Block, ...] = field(default=(), compare=False)
    conflict: Conflict | None = None
    relaxed: tuple[str, ...] = ()
    optimal: bool = field(default=False, compare=False)
    gap: float | None = field(default=None, compare=False)
    finished: bool = field(default=True, compare=False)
    broken: tuple[Broken, ...] = field(default=(), compare=False)
    reasons: tuple[tuple[str, tuple[Reason, ...]], ...] = field(default=(), compare=False)
