"""Changes and writes, and those that wait for the person's approval."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from fateforger.plan import TBPlan
from fateforger.session.model.facts import Facts
from fateforger.sync.conflicts import Conflict

_FROZEN = ConfigDict(frozen=True, extra="forbid")
CalendarWrite = Literal["refine", "okay", "commit"]
"""Time at which blocks reach the calendar.

They are written with each change of Stage 4, once the plan is Okay, or only on Commit (K1).
"""


class SyncReport(BaseModel):
    """Result of the last write to the calendar, in counts and sentences."""

    model_config = _FROZEN
    status: Literal["changed", "unchanged", "partial", "failed", "undone"]
    created: int = 0
    updated: int = 0
    deleted: int = 0
    unchanged: int = 0
    unsure: bool = False
    """True when it is unknown whether a sent operation arrived."""
    sentences: tuple[str, ...] = ()


class Question(BaseModel):
    """A difference between the calendar and the plan that both sides changed (S201).

    Without an ``answer`` the calendar keeps its state; an answer is carried out with the next write. ``shown`` means
    that a card has asked it, so that the person knows both sides.
    """

    model_config = _FROZEN
    conflict: Conflict
    answer: Literal["calendar", "plan"] | None = None
    shown: bool = False


class RefineUpdate(BaseModel):
    """An applied change that can be undone.

    It holds the plan before it (and the facts, if it changed those), the questions it answered, and the transactions
    that wrote it, in order. A ``local`` change has nothing to write.
    """

    model_config = _FROZEN
    plan_before: TBPlan
    transactions: tuple[str, ...] = ()
    sentence: str
    answered: tuple[Question, ...] = ()
    local: bool = False
    facts_before: Facts | None = None


MEETINGS = "meetings"
"""Placeholder for the uid of a constraint where only meetings are in the way."""


class HeldChange(BaseModel):
    """A change or write that needs one approval, because it violates a rule or hits meetings.

    ``uid`` is the constraint, in the version ``seq`` that was checked, or :data:`MEETINGS`. ``asked`` is the command
    that requested it.

    Without ``writes`` it is a change of Stage 4, made once that constraint does not count any more, if the plan is
    still the one before it. Otherwise it is the commit of ``plan_after``, or its write with a change of Stage 4.
    ``also`` are the uids of further constraints that the same approval relaxes for the day. ``meetings`` are the
    double bookings that it allows, as in :attr:`fateforger.session.model.Session.overrun`.
    """

    model_config = _FROZEN
    asked: str
    uid: str
    seq: int
    step: RefineUpdate
    plan_after: TBPlan
    writes: Literal["commit", "change"] | None = None
    also: tuple[str, ...] = ()
    meetings: tuple[str, ...] = ()


class CheckedInputs(BaseModel):
    """Rules and meetings that a plan was checked against: constraints by uid and instant, meetings by id and times."""

    model_config = _FROZEN
    rules: tuple[str, ...] = ()
    meetings: tuple[str, ...] = ()


class WriteCounts(BaseModel):
    """Effects of the current write group on the calendar so far, in counts."""

    model_config = _FROZEN
    created: int = 0
    updated: int = 0
    deleted: int = 0
