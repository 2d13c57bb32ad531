"""Explain the place of each block.

A cause is named only when the block would begin at another time without it, all else unmoved. So each sentence is
backed by a computation and can be tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from fateforger.constraints.wording import format_day, quote_name
from fateforger.drafting.compile import compile_problem
from fateforger.drafting.ground import DraftContext, build_context
from fateforger.drafting.instance import Instance
from fateforger.drafting.items import Item, Piece
from fateforger.drafting.layout import Layout
from fateforger.drafting.model import Block, Reason
from fateforger.drafting.naming import must_ids
from fateforger.drafting.problem import Placed, Problem
from fateforger.plan import ET, zone
from fateforger.values import replace

_NEAR = 6
"""Slots within which an entry is a neighbor."""
_POLICIES = {
    "one_thing_early": "it is the one thing that matters, so it comes early",
    "focus": "this is your time for focus",
    "after_deep": "deep work is followed by a break",
    "before_deep": "there is a break before the next deep work",
    "after_meal": "lunch is followed by a break",
    "around_meetings": "there is some air around meetings",
    "between_deep": "there is a break between two blocks of deep work",
}
_EITHER = {"between_deep": ("after_deep", "before_deep")}
"""Causes that are several parts of the policy, each of which alone would have the same effect."""
_DECLINED: dict[str, object] = {"one_thing_early": False, "focus": ()}
_OF_TASKS = {
    "deadline": "it has to be done by {:%H:%M}",
    "not_before": "it cannot begin before {:%H:%M}",
    "start": "you gave it this start",
    "energy": "this is the time of day that you named for it",
    "after": "of what has to come before or after it",
}
Reasons = tuple[tuple[str, tuple[Reason, ...]], ...]


@dataclass(frozen=True, slots=True)
class _Variant:
    """The same day without one cause."""

    kind: str
    cause: str
    problem: Problem


def reasons_of(
    ground: DraftContext, problem: Problem, placed: Placed, blocks: tuple[Block, ...], others: tuple[Block, ...] = ()
) -> Reasons:
    """Return the reasons by block key, the strongest kind first.

    The kinds are rules, requirements of the task, policy, and neighbors. ``others`` only supply names.
    """
    look = _Why(ground, problem, placed, (*others, *blocks))
    return tuple((block.key, look.of(block)) for block in blocks)


class _Why:
    def __init__(self, ground: DraftContext, problem: Problem, placed: Placed, blocks: tuple[Block, ...]) -> None:
        self.ground = ground
        self.problem = problem
        self.placed = placed
        self.names = {problem.axis.slot(block.start): (block.key, block.title) for block in blocks}
        self.events: dict[str, Problem] = {}
        self.gone = frozenset(must_ids(ground)) - problem.in_force
        self.variants = [v for v in self._variants() if len(v.problem.items) == len(problem.items)]

    def of(self, block: Block) -> tuple[Reason, ...]:
        if any(b.key == block.key for b in self.ground.past):
            return (Reason("past", "It began before now."),)
        if any(p.key == block.key for p in self.ground.instance.pinned):
            return (Reason("pinned", "You pinned it, so it stays.", cause=block.key),)
        if block.type is ET.COMMUTE and block.key.startswith("way-"):
            return (Reason("way", "It is as long as the way takes, right beside the event."),)
        start = self.problem.axis.slot(block.start)
        item = next(i for i in self.problem.items if any(p[0] == start for p in self.placed[i.index]))
        piece = next(p for p in self.placed[item.index] if p[0] == start)
        return self._moves(item, piece)

    def _moves(self, item: Item, piece: Piece) -> tuple[Reason, ...]:
        alone = self._without(self.problem, item, piece)
        found: list[Reason] = []
        if _best_start(alone, item, piece[1]) == piece[0]:
            for variant in self.variants:
                other = variant.problem.items[item.index]
                instead = _best_start(self._without(variant.problem, item, piece), other, piece[1])
                known = any(reason.cause in _EITHER.get(variant.cause, ()) for reason in found)
                if instead != piece[0] and not known:
                    found.append(self._reason(variant, item, instead))
            found += self._wish(alone, item, piece)
            found += self._neighbor_reasons(item, piece)
        return tuple(found) or (self._fallback_reason(alone, item, piece),)

    def _without(self, problem: Problem, item: Item, piece: Piece) -> Layout:
        """Return the layout without one piece."""
        placed = list(self.placed)
        placed[item.index] = tuple(p for p in placed[item.index] if p != piece)
        return Layout(problem, placed)

    # --- causes ---

    def _variants(self) -> Iterator[_Variant]:
        for rule in self.problem.rules:
            less = replace(self.ground, rules=tuple(r for r in self.ground.rules if r.id != rule.id))
            yield _Variant("rule", rule.id, compile_problem(less, self.gone))
        instance = self.ground.instance
        for name in _OF_TASKS:
            if any(getattr(task, name) for task in instance.tasks):
                tasks = tuple(
                    t.model_copy(update={name: () if name in {"energy", "after"} else None}) for t in instance.tasks
                )
                yield _Variant(name, name, self._with(replace(instance, tasks=tasks)))
        for name in _POLICIES:
            fields = _EITHER.get(name, (name,))
            if all(getattr(instance.policy, field) for field in fields):
                policy = instance.policy.model_copy(update={field: _DECLINED.get(field, 0) for field in fields})
                yield _Variant("policy", name, self._with(replace(instance, policy=policy)))
        if any(item.previous for item in self.problem.items):
            again = compile_problem(self.ground, self.gone)
            for item in again.items:
                item.previous = item.previous_keys = ()
            yield _Variant("previous", "previous", again)

    def _with(self, instance: Instance) -> Problem:
        return compile_problem(replace(self.ground, instance=instance), self.gone)

    def _reason(self, variant: _Variant, item: Item, slot: int | None) -> Reason:
        because = self._because(variant, item)
        if slot is None:
            return Reason(variant.kind, f"It is here because {because}.", variant.cause)
        instead = self.problem.axis.when(slot)
        text = f"It is here because {because}; otherwise it would begin at {self._clock(instead)}."
        return Reason(variant.kind, text, variant.cause, instead)

    def _because(self, variant: _Variant, item: Item) -> str:
        if variant.kind == "rule":
            rule = next(r for r in self.problem.rules if r.id == variant.cause)
            when = "" if rule.said_on is None else f" on {format_day(rule.said_on)}"
            return f"you said {quote_name(rule.words)}{when}"
        if variant.kind == "policy":
            return _POLICIES[variant.cause]
        if variant.kind == "previous":
            return "it lay here before"
        task = next((t for t in self.ground.instance.tasks if t.id == item.task), None)
        value = None if task is None else getattr(task, variant.kind)
        return _OF_TASKS[variant.kind].format(value) if value else "of what has to come before or after it"

    def _wish(self, alone: Layout, item: Item, piece: Piece) -> Iterator[Reason]:
        """Explain the preferred time of lunch and of the shutdown."""
        if item.wish is None:
            return
        if _best_start(alone, replace(item, wish=None, _tables={}), piece[1]) not in {None, piece[0]}:
            lunch = item.kind is ET.REGENERATION
            because = "this is about when you have lunch" if lunch else "it ends the day"
            yield Reason("policy", f"It is here because {because}.", "lunch" if lunch else "shutdown")

    def _neighbor_reasons(self, item: Item, piece: Piece) -> Iterator[Reason]:
        """Yield adjacent events and blocks whose place it would take."""
        start, end = piece[0], piece[0] + piece[1]
        near = ((1 << (end - start + 2 * _NEAR)) - 1) << max(0, start - _NEAR)
        for event in self.ground.events:
            if event.mask & near:
                freed = self._without_event(event.id)
                slot = _best_start(self._without(freed, item, piece), freed.items[item.index], piece[1])
                where = "after" if event.mask.bit_length() <= start else "before"
                yield from self._neighbor_reason(
                    slot, piece, Reason("event", f"{where} {quote_name(event.title)}", event.id)
                )
        for other in self.problem.items:
            for s, n in self.placed[other.index]:
                if other is not item and (near >> s & 1 or near >> (s + n) & 1):
                    trial = self._without(self.problem, item, piece).placed
                    trial[other.index] = tuple(p for p in trial[other.index] if p != (s, n))
                    slot = _best_start(Layout(self.problem, trial), item, piece[1])
                    where = "after" if s < start else "before"
                    key, title = self.names.get(s, (other.key or other.id, other.title))
                    yield from self._neighbor_reason(slot, piece, Reason("block", f"{where} {quote_name(title)}", key))

    def _without_event(self, event: str) -> Problem:
        """Return the problem without an event."""
        if event not in self.events:
            instance = self.ground.instance
            names = ((e.id or f"event-{n}", e) for n, e in enumerate(instance.immovables, 1))
            fewer = replace(instance, immovables=tuple(e for name, e in names if name != event))
            self.events[event] = compile_problem(build_context(fewer), self.gone)
        return self.events[event]

    def _neighbor_reason(self, slot: int | None, piece: Piece, beside: Reason) -> Iterator[Reason]:
        if slot is not None and slot != piece[0]:
            instead = self.problem.axis.when(slot)
            text = f"It comes {beside.text}; without that it would begin at {self._clock(instead)}."
            yield replace(beside, text=text, instead=instead)

    def _fallback_reason(self, alone: Layout, item: Item, piece: Piece) -> Reason:
        spots = alone.spots(item, piece[1])
        others = spots & ~(1 << piece[0])
        if not others:
            return Reason("only", "It is the only time that is free and long enough for it.")
        if spots & -spots == 1 << piece[0]:
            return Reason("earliest", "It is the earliest time that is free and long enough for it.")
        return Reason("best", "Among the times that are free for it, this one suits the day as a whole.")

    def _clock(self, when: datetime) -> str:
        return f"{when.astimezone(zone(self.ground.instance.tz)):%H:%M}"


def _best_start(layout: Layout, item: Item, length: int) -> int | None:
    """Return the slot at which a piece is cheapest; an item with several lengths may be shorter."""
    if len(item.lengths) > 1:
        whole = layout.whole(item)
        return None if whole is None else whole[1][0]
    spot = layout.find_best(item, length)
    return None if spot is None else spot[1]
