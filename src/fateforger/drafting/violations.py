"""Violations: the rules that a set of blocks, or a plan, breaks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta
from itertools import combinations

from fateforger.drafting.context import MARGIN, DraftContext, SlotRule, build_context
from fateforger.drafting.instance import Instance
from fateforger.drafting.model import Block, Violation
from fateforger.planning.block_times import WAY
from fateforger.planning.grid import GRID
from fateforger.planning.plan import ET, Resolved
from fateforger.planning.timing import zone
from fateforger.text import format_length, join_words, ngettext, quote_title
from fateforger.text import gettext as _


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
