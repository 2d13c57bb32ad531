"""What was changed and written, and what about it waits for the person's word."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from fateforger.plan import TBPlan
from fateforger.session.model.facts import Facts
from fateforger.sync.conflicts import Conflict

_FROZEN = ConfigDict(frozen=True, extra="forbid")
CalendarWrite = Literal["refine", "okay", "commit"]
"""When blocks reach the calendar: with each change of Stage 4, from the moment on at which the plan is Okay, or only on
Commit (K1)."""


class SyncReport(BaseModel):
    """What the last write to the calendar did, in counts and sentences."""

    model_config = _FROZEN
    status: Literal["changed", "unchanged", "partial", "failed", "undone"]
    created: int = 0
    updated: int = 0
    deleted: int = 0
    unchanged: int = 0
    unsure: bool = False
    """Something was sent of which nobody can say yet whether it arrived."""
    sentences: tuple[str, ...] = ()


class Question(BaseModel):
    """Something that both the person, on the calendar, and the plan changed (S201). While there is no ``answer`` the
    calendar keeps what it shows; an answer is carried out with the next write. ``shown`` tells that a card has asked
    it, so that the person knows both sides."""

    model_config = _FROZEN
    conflict: Conflict
    answer: Literal["calendar", "plan"] | None = None
    shown: bool = False


class RefineUpdate(BaseModel):
    """An applied change that can be taken back: the plan before it, with the facts where it changed those as well, the
    questions it answered, and the transactions that wrote it, in order. A ``local`` one has nothing to write."""

    model_config = _FROZEN
    plan_before: TBPlan
    transactions: tuple[str, ...] = ()
    sentence: str
    answered: tuple[Question, ...] = ()
    local: bool = False
    facts_before: Facts | None = None


MEETINGS = "meetings"
"""Stands for the uid of a constraint where only meetings are in the way."""


class Held(BaseModel):
    """Something that waits for one yes, because it goes against what must be followed: the constraint ``uid``, of which
    the version ``seq`` was looked at, or :data:`MEETINGS`. ``asked`` is the command that wanted it.

    Without ``writes`` it is a change of Stage 4, which is made once that constraint does not count any more, if the
    plan is still the one before it. Else it is the commit of ``plan_after``, or its way to the calendar with a change
    of Stage 4. ``also`` are the uids of further constraints that the same yes lets go for the day; ``meetings`` are the
    double bookings that it allows, as in :attr:`fateforger.session.model.Session.overrun`."""

    model_config = _FROZEN
    asked: str
    uid: str
    seq: int
    step: RefineUpdate
    plan_after: TBPlan
    writes: Literal["commit", "change"] | None = None
    also: tuple[str, ...] = ()
    meetings: tuple[str, ...] = ()


class Weighed(BaseModel):
    """What a plan was made from or mended for: constraints by uid and instant, meetings by id and times."""

    model_config = _FROZEN
    rules: tuple[str, ...] = ()
    meetings: tuple[str, ...] = ()


class Written(BaseModel):
    """What the current write group did to the calendar so far, in counts."""

    model_config = _FROZEN
    created: int = 0
    updated: int = 0
    deleted: int = 0
