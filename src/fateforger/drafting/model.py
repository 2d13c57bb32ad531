"""Output values of a draft, its wire form, and the rules that a set of blocks breaks.

All are frozen values, and all instants are aware.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from datetime import date as Date  # noqa: N812  the field is called ``date`` and would hide the type
from itertools import combinations
from typing import Any, Literal

from fateforger.drafting.context import MARGIN, DraftContext, SlotRule, build_context
from fateforger.drafting.instance import Instance
from fateforger.memory.vocabulary import Necessity
from fateforger.planning.plan import ET, Resolved, TBEvent, TBPlan
from fateforger.planning.task_details import WAY
from fateforger.planning.timing import GRID, FixedStart, clock_at, zone
from fateforger.planning.wire import write_plan
from fateforger.text import format_length, join_words, ngettext, quote_title
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


def find_violations(day: Instance | DraftContext, resolved: Iterable[Resolved]) -> tuple[Violation, ...]:
    """Return every constraint of the day that a plan's blocks violate; background blocks do not count.

    For several plans of one day, its context need be computed only once.
    """
    context = day if isinstance(day, DraftContext) else build_context(day)
    blocks = [block for block in resolved if block.event.type is not ET.BACKGROUND]
    context = _extend_axis(context, blocks)
    return check_blocks(context, [Block.of(block, _task_of(block.key)) for block in blocks])


def _extend_axis(context: DraftContext, blocks: Sequence[Resolved]) -> DraftContext:
    """Return the context with an axis that reaches all blocks: what a person moves may lie far outside of the frame."""
    axis = context.axis
    beyond = max((max(-axis.slot(b.start), axis.slot(b.end) + 1 - axis.slots) for b in blocks), default=0)
    return build_context(context.instance, MARGIN + beyond) if beyond > 0 else context


def check_blocks(context: DraftContext, blocks: Sequence[Block]) -> tuple[Violation, ...]:
    """Return every rule of the day that the blocks violate, in the order of the rules."""
    look = _Check(context, sorted(blocks, key=lambda b: (b.start.timestamp(), b.key)))
    return tuple(breach for rule in context.rules if not rule.stricter for breach in look.of(rule))


@dataclass(frozen=True)
class _Check:
    context: DraftContext
    blocks: list[Block]

    def of(self, rule: SlotRule) -> Iterator[Violation]:
        mine = [
            b for b in self.blocks if rule.applies_to(b.type, b.id) and self._mask(b) & rule.on and not self._fact(b)
        ]
        hit = [b for b in mine if self._mask(b) & rule.closed]
        if hit:
            lie = ngettext(
                "{titles} lies in the time that this is about",
                "{titles} lie in the time that this is about",
                len(hit),
                titles=self._names_and_times(hit),
            )
            yield self._violation(rule, hit, lie)
        yield from self._lengths(rule, mine)
        yield from self._room(rule, mine)
        yield from self._counts(rule, mine)
        yield from self._order(rule, mine)

    def _fact(self, block: Block) -> bool:
        """Check whether the block follows from the calendar alone, such as travel to a meeting."""
        return block.type is ET.COMMUTE and block.key.startswith(WAY)

    def _mask(self, block: Block) -> int:
        return self.context.axis.slots_touching(block.start, block.start + timedelta(minutes=block.minutes))

    def _lengths(self, rule: SlotRule, mine: Sequence[Block]) -> Iterator[Violation]:
        long = [b for b in mine if rule.longest is not None and b.minutes > rule.longest * GRID]
        short = [b for b in mine if rule.shortest is not None and -(-b.minutes // GRID) < rule.shortest]
        if long:
            yield self._violation(
                rule,
                long,
                ngettext(
                    "{titles} is longer than that", "{titles} are longer than that", len(long), titles=self._names(long)
                ),
            )
        if short:
            yield self._violation(
                rule,
                short,
                ngettext(
                    "{titles} is shorter than that",
                    "{titles} are shorter than that",
                    len(short),
                    titles=self._names(short),
                ),
            )
        if rule.whole:
            cut = [b for b in mine if sum(o.id == b.id for o in mine) > 1]
            if cut:
                yield self._violation(rule, cut, _("{title} is done in pieces", title=self._names(cut[:1])))

    def _room(self, rule: SlotRule, mine: Sequence[Block]) -> Iterator[Violation]:
        """Report missing room once, even when a pause applies both after blocks and around meetings."""
        beside = [
            b for b in self.blocks if self._mask(b) & rule.slots_near_meetings(self.context, b.id) and not self._fact(b)
        ]
        close = [b for b in mine if self._is_followed(rule, b)] if rule.gap else []
        if beside or close:
            both = [b for b in self.blocks if b in beside or b in close]
            titles = self._names(both)
            around = _("there is less time than that around {titles}", titles=titles)
            after = _("there is less time than that after {titles}", titles=titles)
            yield self._violation(rule, both, around if beside else after)

    def _is_followed(self, rule: SlotRule, block: Block) -> bool:
        """Check whether anything lies in the time that must stay free after a block."""
        area = ((1 << rule.gap) - 1) << self._mask(block).bit_length()
        others = [self._mask(b) for b in self.blocks if b is not block]
        return any(area & mask for mask in others) or any(area & event.mask for event in self.context.events)

    def _counts(self, rule: SlotRule, mine: Sequence[Block]) -> Iterator[Violation]:
        if not rule.types:
            mine = [b for b in mine if b.type not in {ET.REGENERATION, ET.BUFFER}]
        for day in self.context.days:
            on = day.slots & rule.on
            if not on:
                continue
            here = [b for b in mine if self._mask(b) & -self._mask(b) & on]
            masks = [e.mask & on for e in self.context.events if e.kind in rule.types and e.mask & on]
            there = 0
            for mask in masks:
                there |= mask
            slots = sum(-(-b.minutes // GRID) for b in here) + there.bit_count()
            most = None if rule.daily.most is None else max(rule.daily.most, there.bit_count())
            if most is not None and slots > most and here:
                yield self._violation(rule, here, _("it is {length} on that day", length=format_length(slots * GRID)))
            if rule.daily.least is not None and slots < rule.daily.least:
                yield self._violation(
                    rule, here, _("it is only {length} on that day", length=format_length(slots * GRID))
                )
            if rule.daily.count is not None and len(here) + len(masks) > max(rule.daily.count, len(masks)):
                yield self._violation(
                    rule, here, _("there are {count} of them on that day", count=len(here) + len(masks))
                )

    def _order(self, rule: SlotRule, mine: Sequence[Block]) -> Iterator[Violation]:
        wrong: list[Block] = []
        places: Sequence[object] = rule.order or rule.task_order
        if len(places) < 2:
            return
        for one, two in combinations(mine, 2):
            same_day = bool(rule.task_order) or any(
                self._mask(one) & d.slots and self._mask(two) & d.slots for d in self.context.days
            )
            named = [block.type if rule.order else block.id for block in (one, two)]
            if same_day and all(n in places for n in named) and places.index(named[0]) > places.index(named[1]):
                wrong += [one, two]
        for block in mine:
            wrong += [block] if self._wrong_side_of_meetings(rule, block) else []
        if wrong:
            unique = list(dict.fromkeys(wrong))
            yield self._violation(rule, unique, _("{titles} are the other way round", titles=self._names(unique)))

    def _wrong_side_of_meetings(self, rule: SlotRule, block: Block) -> bool:
        if ET.MEETING not in rule.order or block.type not in rule.order or block.type is ET.MEETING:
            return False
        first = rule.order.index(block.type) < rule.order.index(ET.MEETING)
        start, end = block.start.astimezone(UTC), block.start.astimezone(UTC) + timedelta(minutes=block.minutes)
        for day in self.context.days:
            here = [e for e in self.context.events if e.kind is ET.MEETING and e.mask & day.slots & rule.on]
            if self._mask(block) & day.slots and any(end > e.start if first else start < e.end for e in here):
                return True
        return False

    def _violation(self, rule: SlotRule, blocks: Sequence[Block], what: str) -> Violation:
        keys = tuple(b.key for b in blocks)
        sentence = _("You said {rule}, and {what}.", rule=quote_title(rule.words), what=what)
        return Violation(rule.id, rule.words, rule.necessity, keys, sentence)

    def _names(self, blocks: Sequence[Block]) -> str:
        return join_words([quote_title(b.title) for b in blocks])

    def _names_and_times(self, blocks: Sequence[Block]) -> str:
        local = zone(self.context.instance.tz)
        said = [f"{quote_title(b.title)} ({b.start.astimezone(local):%H:%M})" for b in blocks]
        return join_words(said)


def _task_of(key: str) -> str | None:
    """Return the task of a piece, whose key is that of the task and a number."""
    stem, _, number = key.rpartition("-")
    return stem if stem and number.isdigit() else None
