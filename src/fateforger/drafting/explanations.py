"""Explanations: causes of the place of each block.

A cause is named only when the block would begin at another time without it, all else unmoved. So each sentence is
backed by a computation and can be tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from datetime import time as time_of_day

from fateforger.drafting.compilation import compile_problem
from fateforger.drafting.context import DraftContext, build_context, must_ids
from fateforger.drafting.instance import Instance, Task
from fateforger.drafting.model import Block, Reason
from fateforger.drafting.placement import Placement, cost
from fateforger.drafting.problem import Cache, Item, Piece, Pieces, Placed, Problem, Source
from fateforger.drafting.routines import find_routine
from fateforger.planning.plan import ET, Resolved, TBPlan, resolve
from fateforger.planning.task_details import WAY, WAY_FROM, WAY_TO, is_shutdown, task_of
from fateforger.planning.timing import GRID, zone
from fateforger.text import format_date, mark_message, quote_title
from fateforger.text import gettext as _
from fateforger.values import replace, replace_named

_NEAR = 6
"""Slots within which an entry is a neighbor."""
_POLICIES = {
    "one_thing_early": mark_message("it is the one thing that matters, so it comes early"),
    "focus": mark_message("this is your time for focus"),
    "after_deep": mark_message("deep work is followed by a break"),
    "before_deep": mark_message("there is a break before the next deep work"),
    "after_meal": mark_message("lunch is followed by a break"),
    "around_meetings": mark_message("there is some air around meetings"),
    "between_deep": mark_message("there is a break between two blocks of deep work"),
}
_EITHER = {"between_deep": ("after_deep", "before_deep")}
"""Causes that are several parts of the policy, each of which alone would have the same effect."""
_DECLINED: dict[str, object] = {"one_thing_early": False, "focus": ()}
ONE_FIRST = mark_message("the one thing that matters comes first")
DEEP_FIRST = mark_message("deep work comes before shallow work")
ORDER = mark_message("there is something that has to come before or after it")
_OF_TASKS = {
    "deadline": mark_message("it has to be done by {time}"),
    "not_before": mark_message("it cannot begin before {time}"),
    "start": mark_message("you gave it this start"),
    "energy": mark_message("this is the time of day that you named for it"),
    "after": ORDER,
}
Reasons = tuple[tuple[str, tuple[Reason, ...]], ...]


@dataclass(frozen=True, slots=True)
class _Variant:
    """The same day without one cause."""

    kind: str
    cause: str
    problem: Problem


def reasons_of(
    context: DraftContext, problem: Problem, placed: Placed, blocks: tuple[Block, ...], others: tuple[Block, ...] = ()
) -> Reasons:
    """Return the reasons by block key, the strongest kind first.

    The kinds are rules, requirements of the task, policy, and neighbors. ``others`` only supply names.
    """
    look = _Why(context, problem, placed, (*others, *blocks))
    return tuple((block.key, look.of(block)) for block in blocks)


class _Why:
    def __init__(self, context: DraftContext, problem: Problem, placed: Placed, blocks: tuple[Block, ...]) -> None:
        self.context = context
        self.problem = problem
        self.placed = placed
        self.names = {problem.axis.slot(block.start): (block.key, block.title) for block in blocks}
        self.events: dict[str, Problem] = {}
        self.gone = frozenset(must_ids(context)) - problem.in_force
        self.variants = [v for v in self._variants() if len(v.problem.items) == len(problem.items)]

    def of(self, block: Block) -> tuple[Reason, ...]:
        if any(b.key == block.key for b in self.context.past):
            return (Reason("past", _("It began before now.")),)
        routine = find_routine(self.context.instance, block.key)
        if routine is not None:
            words = quote_title(routine.constraint_record.words)
            return (Reason("rule", _("It is here because of your rule {rule}.", rule=words), cause=routine.id),)
        if any(p.key == block.key for p in self.context.instance.pinned):
            return (Reason("pinned", _("You pinned it, so it stays."), cause=block.key),)
        if block.type is ET.COMMUTE and block.key.startswith(WAY):
            return (Reason("way", _("It is as long as the way takes, right before or after what it leads to.")),)
        start = self.problem.axis.slot(block.start)
        item, piece = next(
            (item, piece)
            for item in self.problem.items
            for piece in self.placed[item.index]
            if piece[0] + item.source.way == start
        )
        return self._moves(item, piece)

    def _moves(self, item: Item, piece: Piece) -> tuple[Reason, ...]:
        alone = self._without(self.problem, item, piece)
        found: list[Reason] = []
        if _best_start(alone, item, piece[1]) == piece[0]:
            for variant in self.variants:
                other = variant.problem.items[item.index]
                instead = _start_instead(self._without(variant.problem, item, piece), other, piece)
                known = any(reason.cause in _EITHER.get(variant.cause, ()) for reason in found)
                if instead != piece[0] and not known:
                    found.append(self._reason(variant, item, piece, instead))
            found += self._wish(alone, item, piece)
            found += self._neighbor_reasons(item, piece)
        return tuple(found) or (self._fallback_reason(alone, item, piece),)

    def _without(self, problem: Problem, item: Item, piece: Piece) -> Placement:
        placed = list(self.placed)
        placed[item.index] = tuple(p for p in placed[item.index] if p != piece)
        return Placement(problem, placed)

    # --- causes ---

    def _variants(self) -> Iterator[_Variant]:
        for rule in self.context.rules_in_force(self.problem.in_force):
            less = replace(self.context, rules=tuple(r for r in self.context.rules if r.id != rule.id))
            yield _Variant("rule", rule.id, compile_problem(less, self.gone))
        instance = self.context.instance
        for name in _OF_TASKS:
            if any(getattr(task, name) for task in instance.tasks):
                none = () if name in {"energy", "after"} else None
                tasks = tuple(replace_named(task, {name: none}) for task in instance.tasks)
                yield _Variant(name, name, self._with(replace(instance, tasks=tasks)))
        for name in _POLICIES:
            fields = _EITHER.get(name, (name,))
            if all(getattr(instance.policy, field) for field in fields):
                policy = replace_named(instance.policy, {field: _DECLINED.get(field, 0) for field in fields})
                yield _Variant("policy", name, self._with(replace(instance, policy=policy)))
        if any(item.preferences.previous for item in self.problem.items):
            again = compile_problem(self.context, self.gone)
            for item in again.items:
                item.preferences.previous = item.preferences.previous_keys = ()
            yield _Variant("previous", "previous", again)

    def _with(self, instance: Instance) -> Problem:
        return compile_problem(replace(self.context, instance=instance), self.gone)

    def _reason(self, variant: _Variant, item: Item, piece: Piece, slot: int | None) -> Reason:
        because = self._because(variant, item, earlier=slot is not None and slot < piece[0])
        if slot is None:
            return Reason(variant.kind, _("It is here because {because}.", because=because), variant.cause)
        instead = self.problem.axis.when(slot + item.source.way)
        text = _(
            "It is here because {because}; otherwise it would begin at {time}.",
            because=because,
            time=self._clock(instead),
        )
        return Reason(variant.kind, text, variant.cause, instead)

    def _because(self, variant: _Variant, item: Item, *, earlier: bool) -> str:
        """Return the cause in words; ``earlier`` says that the block would begin earlier without it."""
        if variant.kind == "rule":
            rule = next(r for r in self.context.rules_in_force(self.problem.in_force) if r.id == variant.cause)
            words = quote_title(rule.words)
            if rule.told.said_on is None:
                return _("you said {rule}", rule=words)
            return _("you said {rule} on {day}", rule=words, day=format_date(rule.told.said_on))
        if variant.cause == "one_thing_early" and not item.source.one:
            return _(ONE_FIRST) if item.deep and earlier else _(DEEP_FIRST)
        if variant.kind == "policy":
            return _(_POLICIES[variant.cause])
        if variant.kind == "previous":
            return _("it lay here before")
        task = next((t for t in self.context.instance.tasks if t.id == item.source.task), None)
        value = None if task is None else getattr(task, variant.kind)
        if not value:
            return _(ORDER)
        time = self._clock(self.context.instant(value)) if isinstance(value, datetime | time_of_day) else ""
        return _(_OF_TASKS[variant.kind], time=time)

    def _wish(self, alone: Placement, item: Item, piece: Piece) -> Iterator[Reason]:
        """Explain the preferred time of lunch and of the shutdown."""
        if item.preferences.start is None:
            return
        if _best_start(
            alone, replace(item, preferences=replace(item.preferences, start=None), cache=Cache()), piece[1]
        ) not in {None, piece[0]}:
            lunch = item.source.kind is ET.REGENERATION
            because = _("this is about when you have lunch") if lunch else _("it ends the day")
            text = _("It is here because {because}.", because=because)
            yield Reason("policy", text, "lunch" if lunch else "shutdown")

    def _neighbor_reasons(self, item: Item, piece: Piece) -> Iterator[Reason]:
        """Yield adjacent events and blocks whose place it would take."""
        start, end = piece[0], piece[0] + piece[1]
        near = ((1 << (end - start + 2 * _NEAR)) - 1) << max(0, start - _NEAR)
        for event in self.context.events:
            if event.mask & near:
                freed = self._without_event(event.id)
                slot = _start_instead(self._without(freed, item, piece), freed.items[item.index], piece)
                after = event.mask.bit_length() <= start
                neighbor = Reason("event", quote_title(event.title), event.id)
                yield from self._neighbor_reason(item, slot, piece, neighbor, after=after)
        for other in self.problem.items:
            for s, n in () if is_shutdown(other.source.id) else self.placed[other.index]:
                if other is not item and (near >> s & 1 or near >> (s + n) & 1):
                    trial = self._without(self.problem, item, piece).placed
                    trial[other.index] = tuple(p for p in trial[other.index] if p != (s, n))
                    slot = _start_instead(Placement(self.problem, trial), item, piece)
                    name = (other.source.key or other.source.id, other.source.title)
                    key, title = self.names.get(s + other.source.way, name)
                    neighbor = Reason("block", quote_title(title), key)
                    yield from self._neighbor_reason(item, slot, piece, neighbor, after=s < start)

    def _without_event(self, event: str) -> Problem:
        if event not in self.events:
            instance = self.context.instance
            names = ((e.id or f"event-{n}", e) for n, e in enumerate(instance.immovables, 1))
            fewer = replace(instance, immovables=tuple(e for name, e in names if name != event))
            self.events[event] = compile_problem(build_context(fewer), self.gone)
        return self.events[event]

    def _neighbor_reason(
        self, item: Item, slot: int | None, piece: Piece, neighbor: Reason, *, after: bool
    ) -> Iterator[Reason]:
        """Yield a neighbor if it keeps the piece from an earlier place (``after``), or from a later one."""
        if slot is not None and (slot < piece[0] if after else slot > piece[0]):
            instead = self.problem.axis.when(slot + item.source.way)
            title, time = neighbor.text, self._clock(instead)
            if after:
                text = _("It comes after {title}; without that it would begin at {time}.", title=title, time=time)
            else:
                text = _("It comes before {title}; without that it would begin at {time}.", title=title, time=time)
            yield replace(neighbor, text=text, instead=instead)

    def _fallback_reason(self, alone: Placement, item: Item, piece: Piece) -> Reason:
        spots = alone.spots(item, piece[1])
        others = spots & ~(1 << piece[0])
        if not others:
            return Reason("only", _("It is the only time that is free and long enough for it."))
        if spots & -spots == 1 << piece[0]:
            return Reason("earliest", _("It is the earliest time that is free and long enough for it."))
        return Reason("best", _("Among the times that are free for it, this one suits the day as a whole."))

    def _clock(self, when: datetime) -> str:
        return f"{when.astimezone(zone(self.context.instance.tz)):%H:%M}"


def _best_start(placement: Placement, item: Item, length: int) -> int | None:
    """Return the slot at which a piece is cheapest; an item with several lengths may be shorter."""
    if len(item.lengths) > 1:
        whole = placement.whole(item)
        return None if whole is None else whole[1][0]
    spot = placement.find_best(item, length)
    return None if spot is None else spot[1]


def _start_instead(placement: Placement, item: Item, piece: Piece) -> int | None:
    """Return the slot at which a piece is cheapest without it; its own if no other is cheaper.

    The search for the cheapest slot estimates some costs that items share, so the two are compared exactly.
    """
    start, length = piece
    instead = _best_start(placement, item, length)
    if instead is None or instead == start or len(item.lengths) > 1:
        return instead
    costs = []
    for at in (instead, start):
        trial = placement.copy()
        trial.take(item, tuple(sorted((*trial.placed[item.index], (at, length)))))
        costs.append(cost(trial))
    return instead if costs[0] < costs[1] else start


_FITS = "best"


def explain_place(plan: TBPlan, instance: Instance, key: str) -> tuple[Reason, ...]:
    """Return the causes of a block's place, with all others unmoved.

    Only proved causes are returned, so a block that could as well be elsewhere has none. Raises ``PlanInvalid`` when
    the plan cannot be resolved to instants.
    """
    blocks = [block for block in resolve(plan) if block.event.type is not ET.BACKGROUND]
    there = next((block for block in blocks if block.key == key), None)
    if there is None:
        return ()
    ids = [task.id for task in instance.tasks]
    lunch = f"lunch-{plan.date.isoformat()}"
    own_ways = {f"{end}{task.id}" for task in instance.tasks if task.travel for end in (WAY_TO, WAY_FROM)}
    known = {lunch, *own_ways}
    more = tuple(Task.of_block(b) for b in blocks if b.key not in known and task_of(b.key, ids) is None)
    context = build_context(replace(instance, tasks=(*instance.tasks, *more), pinned=()))
    problem = compile_problem(context)
    placed = _current_placement(problem, blocks, [*ids, *(task.id for task in more)])
    start = problem.axis.slot(there.start)
    starts = (
        piece[0] + item.source.way for item, pieces in zip(problem.items, placed, strict=True) for piece in pieces
    )
    if key not in own_ways and start not in starts:
        return ()
    own, others = Block.of(there, task_of(key, ids)), tuple(Block.of(b, task_of(b.key, ids)) for b in blocks)
    ((_, reasons),) = reasons_of(context, problem, placed, (own,), others)
    return tuple(reason for reason in reasons if reason.kind != _FITS)


def _current_placement(problem: Problem, blocks: list[Resolved], ids: list[str]) -> Placed:
    def pieces(source: Source) -> Pieces:
        task, way = source.task, timedelta(minutes=source.way * GRID)
        mine = (b for b in blocks if b.key == source.key or (task is not None and task_of(b.key, ids) == task))
        masks = [mask for block in mine if (mask := problem.axis.slots_touching(block.start - way, block.end + way))]
        return tuple(sorted(((mask & -mask).bit_length() - 1, mask.bit_count()) for mask in masks))

    return [pieces(item.source) for item in problem.items]
