"""Output values of a draft, and its wire form.

All are frozen values, and all instants are aware.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from datetime import date as Date  # noqa: N812  the field is called ``date`` and would hide the type
from typing import Any, Literal

from fateforger.memory.vocabulary import Necessity
from fateforger.planning.grid import clock_at
from fateforger.planning.plan import ET, Resolved, TBEvent, TBPlan
from fateforger.planning.timing import FixedStart
from fateforger.planning.wire import write_plan
from fateforger.text import format_length
from fateforger.text import gettext as _

OptionKind = Literal["drop", "defer", "shrink", "split", "extend", "relax", "fill"]
"""Option for an item that found no place."""


@dataclass(frozen=True, slots=True)
class PlacementOption:
    """An option to make an item fit, with its button label.

    ``minutes`` is the new length of the item, or the extra length of the day. ``rule`` is the constraint to be
    relaxed. Filling the day spends the time that should stay free. ``cost`` says what else it takes, such as the place
    of another task; empty if nothing.
    """

    way: OptionKind
    label: str
    minutes: int | None = None
    rule: str | None = None
    cost: str = ""


@dataclass(frozen=True, slots=True)
class UnplacedItem:
    """An item that found no place.

    ``reason`` is the end of a sentence about it.
    """

    id: str
    title: str
    reason: str
    choices: tuple[PlacementOption, ...] = ()

    @classmethod
    def of_work(cls, task: str, title: str, minutes: int, *, frame: int, longest: int, left: int) -> UnplacedItem:
        """Return work of that length, with the reason that :func:`explain_length` gives, and without options."""
        return cls(task, title, explain_length(minutes, frame, longest, left))


def explain_length(minutes: int, frame: int, longest: int, left: int) -> str:
    """Explain why work of that length found no place, in minutes.

    ``frame`` is the whole frame, ``longest`` its longest free stretch before any work was placed, ``left`` the
    longest one still free.
    """
    if minutes > frame:
        return _(
            "it needs {length}, and the whole day has {free}", length=format_length(minutes), free=format_length(frame)
        )
    if longest == 0 or (left == 0 and minutes <= longest):
        return _("the day is full")
    if minutes > longest:
        return _(
            "it needs {length}, and the longest free stretch of the day is {free}",
            length=format_length(minutes),
            free=format_length(longest),
        )
    return _(
        "it needs {length}, and the longest stretch still free is {free}",
        length=format_length(minutes),
        free=format_length(left),
    )


@dataclass(frozen=True, slots=True)
class Member:
    """A must in a conflict.

    ``words`` are the person's, ``said`` is part of a sentence, ``remedy`` tells what giving it up means.
    """

    id: str
    words: str
    said: str
    remedy: str


@dataclass(frozen=True, slots=True)
class MustConflict:
    """A minimal set of musts that cannot all be kept.

    ``relax`` is the id of the one that is easiest to give up.
    """

    members: tuple[Member, ...]
    relax: str
    sentence: str

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(member.id for member in self.members)


@dataclass(frozen=True, slots=True)
class Reason:
    """Reason for the place of a block.

    Without ``cause`` (an id, or the name of a policy) it would begin at ``instead``, or be left out when that is
    ``None``. ``text`` is a sentence.
    """

    kind: str
    text: str
    cause: str | None = None
    instead: datetime | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a draft.

    ``id`` is the id of its task, or of what else it is.
    """

    id: str
    key: str
    title: str
    type: ET
    start: datetime
    minutes: int

    @classmethod
    def of(cls, block: Resolved, task: str | None) -> Block:
        """Return a block of a plan, which belongs to that task, if to any."""
        start = block.start.astimezone(UTC)
        return cls(task or block.key, block.key, block.event.name, block.event.type, start, block.minutes)

    def to_event(self, day: Date, tz: str, notes: str) -> TBEvent:
        """Return the block as one of a plan of ``day``."""
        timing = FixedStart(start=clock_at(self.start, day, tz), duration=timedelta(minutes=self.minutes))
        return TBEvent(name=self.title, description=notes, type=self.type, timing=timing, key=self.key)


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that blocks violate, by their keys, in the person's ``words``; ``text`` is a sentence about it."""

    rule: str
    words: str
    necessity: Necessity
    keys: tuple[str, ...]
    text: str

    @property
    def must(self) -> bool:
        return self.necessity is Necessity.MUST


@dataclass(frozen=True, slots=True)
class Draft:
    """A drafted plan: blocks in time order, each with a fixed start, and the work left out.

    ``optimal`` means that no better plan exists, apart from earlier starts. ``gap`` is the largest share of the
    attainable value that can be missing. ``finished`` is false when time ran out before all steps were taken.
    ``relaxed`` are the musts that were given up.
    """

    plan: TBPlan
    unplaced: tuple[UnplacedItem, ...]
    later: tuple[TBPlan, ...] = ()
    """Plans of the days after the first, when there are several."""
    placed: tuple[Block, ...] = field(default=(), compare=False)
    conflict: MustConflict | None = None
    relaxed: tuple[str, ...] = ()
    optimal: bool = field(default=False, compare=False)
    gap: float | None = field(default=None, compare=False)
    finished: bool = field(default=True, compare=False)
    broken: tuple[Violation, ...] = field(default=(), compare=False)
    reasons: tuple[tuple[str, tuple[Reason, ...]], ...] = field(default=(), compare=False)


def write_draft(draft: Draft) -> dict[str, Any]:
    """Return ``{"plan","placed","unplaced","conflict","optimal","reasons"}`` and more, ready for ``json.dumps``."""
    document: dict[str, Any] = {
        "plan": write_plan(draft.plan),
        "placed": [
            {
                "id": block.id,
                "key": block.key,
                "title": block.title,
                "type": block.type.value,
                "start": block.start.isoformat(),
                "minutes": block.minutes,
            }
            for block in draft.placed
        ],
        "unplaced": [
            {"id": left.id, "title": left.title, "reason": left.reason, "choices": [_choice(c) for c in left.choices]}
            for left in draft.unplaced
        ],
        "conflict": None if draft.conflict is None else list(draft.conflict.ids),
        "conflict_text": None if draft.conflict is None else draft.conflict.sentence,
        "relaxed": list(draft.relaxed),
        "broken": [{"id": each.rule, "words": each.words, "text": each.text} for each in draft.broken],
        "optimal": draft.optimal,
        "gap": draft.gap,
        "finished": draft.finished,
        "reasons": {key: [_reason(reason) for reason in reasons] for key, reasons in draft.reasons},
    }
    if draft.later:
        document["plans"] = [write_plan(plan) for plan in (draft.plan, *draft.later)]
    return document


def _choice(choice: PlacementOption) -> dict[str, Any]:
    cost = choice.cost or None
    told = {"way": choice.way, "label": choice.label, "minutes": choice.minutes, "rule": choice.rule, "cost": cost}
    return {name: value for name, value in told.items() if value is not None}


def _reason(reason: Reason) -> dict[str, Any]:
    return {
        "kind": reason.kind,
        "text": reason.text,
        "cause": reason.cause,
        "instead": None if reason.instead is None else reason.instead.isoformat(),
    }
