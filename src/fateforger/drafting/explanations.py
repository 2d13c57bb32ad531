"""Explanations: causes of the place of each block, and reasons and options for items without a place.

A cause is named only when the block would begin at another time without it, all else unmoved. So each sentence is
backed by a computation and can be tried. Most options are tried before they are offered.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from fateforger.drafting.axis import longest_run, run_starts, slot_range, slots_of, stretches
from fateforger.drafting.compilation import compile_problem
from fateforger.drafting.context import DraftContext, SlotRule, build_context, must_ids
from fateforger.drafting.instance import Instance, Task
from fateforger.drafting.model import Block, PlacementOption, Reason, UnplacedItem, explain_length
from fateforger.drafting.neighborhood_search import improve_placement
from fateforger.drafting.placement import Placement
from fateforger.drafting.problem import Cache, Item, Piece, Pieces, Placed, Problem, covered_slots
from fateforger.drafting.routines import find_routine
from fateforger.memory.vocabulary import Necessity
from fateforger.planning.block_times import LUNCH, SHUTDOWN, task_of
from fateforger.planning.grid import GRID, in_words
from fateforger.planning.plan import ET, Resolved, TBPlan, resolve
from fateforger.planning.timing import zone
from fateforger.text import format_date, join_words, quote_title
from fateforger.values import replace

_TRIAL_STEPS = 3_300
"""Steps of a search that only tests whether there is a place without slack: a few hundredths of a second."""
SHORTEST = 3
"""Shortest length, in slots, that an item is shrunk to: a quarter of an hour."""
LONGER = 36
"""Most slots by which a longer day is offered: three hours."""
ROUND_LONGER = 6
"""A longer day is longer by multiples of half an hour, in slots."""


def find_left_out(context: DraftContext, problem: Problem, placed: Placed) -> tuple[UnplacedItem, ...]:
    """Return the items without a place, in their order, and commutes that collide with an event."""
    placement = Placement(problem, placed)
    looser = _relaxed_problems(context, problem) if not all(placed) else {}
    takers = _find_slack_takers(context, problem, placed)
    found = [
        UnplacedItem(
            item.source.id,
            item.source.title,
            _explain(context, takers, placement, item),
            tuple(_choices(context, looser, takers, placement, item)),
        )
        for item in problem.items
        if not placed[item.index]
    ]
    found += [
        UnplacedItem(way.id, way.title, "another event leaves no time for it", (PlacementOption("drop", "Do without"),))
        for way in context.ways
        if way.late
    ]
    return tuple(found)


def _explain(context: DraftContext, takers: Container[int], placement: Placement, item: Item) -> str:
    problem = placement.problem
    minutes = item.slots * GRID - item.source.over
    if item.source.id.startswith(f"{LUNCH}-"):
        return f"meetings leave no {item.lengths[-1][0] * GRID} minutes free around that time"
    missing = [problem.items[n].source.title for n in item.precedence.needs if not placement.placed[n]]
    if missing:
        return f"it comes after {join_words([quote_title(t) for t in missing])}, which found no place"
    frame = sum(day.frame.bit_count() for day in context.days)
    pinned = (lies for i, lies in zip(problem.items, placement.placed, strict=True) if i.source.pinned)
    open_time = context.free & ~covered_slots(pinned)
    longest = longest_run(open_time)
    if item.slots > frame or (item.slots > longest and item.bounds.most == 1):
        return explain_length(minutes, frame * GRID, longest * GRID, 0)
    closing = _restricting_musts(context.rules_in_force(problem.in_force), item)
    if not _could_fit(item):
        if closing:
            return f"{join_words(closing)} {'leaves' if len(closing) == 1 else 'leave'} it no {in_words(minutes)}"
        return f"it needs {in_words(minutes)}, and there is not that much time {_where(context, item)}"
    if item.index in takers or _fits_into_slack(placement, item):
        return f"{context.instance.policy.slack_percent} % of the day stays free, and the rest of it is taken"
    return _explain_full_day(context, placement, item, closing)


def _explain_full_day(context: DraftContext, placement: Placement, item: Item, closing: list[str]) -> str:
    """Explain why an item that would fit into an empty day is left out; ``closing`` are the musts about it."""
    minutes = item.slots * GRID - item.source.over
    left = longest_run(item.domain & ~(placement.taken | placement.kept))
    spot = _best_cost(placement, item)
    if spot is not None and spot > item.coupling.lost:
        return _explain_price(context.rules, item)
    free = longest_run(context.free & ~placement.taken)
    if closing and (free >= item.slots or (free and not left)):
        return f"{join_words(closing)} {'rules' if len(closing) == 1 else 'rule'} out the time that is still free"
    if left >= item.slots:
        ordered = item.coupling.constrained
        return "what it has to come before or after leaves it no time" if ordered else "the time for it is taken"
    return explain_length(minutes, minutes, minutes, left * GRID)


def _fits_into_slack(placement: Placement, item: Item) -> bool:
    """Check whether there is time for an item as the plan is, but for what should stay free."""
    left = item.domain & ~(placement.taken | placement.kept)
    room = left.bit_count() if item.bounds.most > 1 else longest_run(left)
    return placement.slots_over(item.slots) > 0 and room >= item.slots


def _find_slack_takers(context: DraftContext, problem: Problem, placed: Placed) -> frozenset[int]:
    """Return the items without a place that have one on a day without slack."""
    if all(placed) or not problem.slack:
        return frozenset()
    policy = replace(context.instance.policy, slack_percent=None)
    gone = frozenset(must_ids(context)) - problem.in_force
    full = compile_problem(replace(context, instance=replace(context.instance, policy=policy)), gone)
    found, _ = improve_placement(full, Placement(full, placed), _TRIAL_STEPS)
    return frozenset(n for n, (there, was) in enumerate(zip(found, placed, strict=True)) if there and not was)


def _explain_price(rules: Iterable[SlotRule], item: Item) -> str:
    """Explain why an item is left out although there is time for it."""
    said = [
        quote_title(rule.words)
        for rule in rules
        if not rule.must and rule.applies_to(item.source.kind, item.source.task)
    ]
    if said:
        return f"the only time left for it is not what you want: {join_words(said)}"
    if item.work:
        return "the only time left for it is needed for pauses"
    return "the only time left for it is not the time of day that you named for it"


def _where(context: DraftContext, item: Item) -> str:
    if item.source.id.startswith(f"{SHUTDOWN}-"):
        return "free after the last meeting"
    task = next((t for t in context.instance.tasks if t.id == item.source.task), None)
    if task is not None and task.start is not None:
        return f"free at {task.start:%H:%M}"
    if task is not None and task.deadline is not None:
        return f"free before {task.deadline:%H:%M}"
    if task is not None and task.not_before is not None:
        return f"free after {task.not_before:%H:%M}"
    return "on that day"


def _could_fit(item: Item) -> bool:
    """Check whether an item has a place on an otherwise empty day."""
    if item.starts(item.slots):
        return True
    return item.bounds.most > 1 and sum(n for _, n in stretches(item.domain) if n >= item.bounds.shortest) >= item.slots


def _best_cost(placement: Placement, item: Item) -> int | None:
    found = placement.find_best(item, item.slots)
    return None if found is None else found[0]


def _restricting_musts(rules: Iterable[SlotRule], item: Item) -> list[str]:
    """Return the quoted musts that restrict an item's place."""
    mine = [rule for rule in rules if rule.must and rule.applies_to(item.source.kind, item.source.task)]
    cutting = [
        rule
        for rule in mine
        if rule.closed or rule.gap or rule.around or (rule.shortest or 0) > item.slots or rule.daily.most is not None
    ]
    return [quote_title(rule.words) for rule in cutting[:3]]


def _choices(
    context: DraftContext,
    looser: Mapping[str, Problem],
    takers: Container[int],
    placement: Placement,
    item: Item,
) -> Iterator[PlacementOption]:
    if item.source.task is None:
        yield PlacementOption("drop", "Do without")
        return
    yield PlacementOption("defer", "Another day")
    yield PlacementOption("drop", "Drop it")
    short = _find_shrunk_length(placement, item)
    if short is not None:
        yield PlacementOption("shrink", f"Make it {in_words(short * GRID)}", minutes=short * GRID)
    if item.bounds.most == 1 and item.slots >= 2 * item.bounds.shortest and _fits_in_pieces(placement, item):
        yield PlacementOption("split", "Do it in pieces")
    more = _find_extension(context, placement, item)
    if more is not None:
        yield PlacementOption("extend", f"Work {in_words(more)} longer", minutes=more)
    if item.index in takers:
        yield PlacementOption("fill", "Use the free time")
    for rule in context.rules_in_force(placement.problem.in_force):
        if (
            rule.id in looser
            and rule.applies_to(item.source.kind, item.source.task)
            and _fits_in(looser[rule.id], placement, item)
        ):
            yield PlacementOption("relax", f"Just today without {quote_title(rule.words)}", rule=rule.id)


def _find_shrunk_length(placement: Placement, item: Item) -> int | None:
    """Return the most slots that there is room for, if that is at least half of the item."""
    longest = longest_run(item.domain & ~(placement.taken | placement.kept))
    for length in range(min(longest, item.slots - 1), max(SHORTEST, -(-item.slots // 2)) - 1, -1):
        if placement.slots_over(length) == 0 and placement.find_best(item, length) is not None:
            return length
    return None


def _fits_in_pieces(placement: Placement, item: Item) -> bool:
    trial = Placement(placement.problem, placement.placed)
    item.bounds.most = 4
    try:
        return trial.insert(item, cut=True)
    finally:
        item.bounds.most = 1


def _find_extension(context: DraftContext, placement: Placement, item: Item) -> int | None:
    """Return the minutes, in half hours, by which the last day would have to be longer for an item."""
    end = context.axis.slot(context.days[-1].end)
    free = (item.domain | slot_range(end, end + LONGER)) & ~(placement.taken | placement.kept | context.busy)
    closed = 0
    for rule in context.rules_in_force(placement.problem.in_force):
        if rule.must and rule.applies_to(item.source.kind, item.source.task):
            closed |= rule.closed
    starts = run_starts(free & ~closed & slot_range(0, context.axis.slots), item.slots)
    late = [start for start in slots_of(starts) if start + item.slots > end and item.firm is None]
    late = [start for start in late if _can_begin(placement, item, start)]
    if not late:
        return None
    # Work ends with the shutdown, so that comes later as well.
    shutdown = -(-context.instance.policy.shutdown // GRID) if item.work else 0
    return -(-(late[0] + item.slots + shutdown - end) // ROUND_LONGER) * ROUND_LONGER * GRID


def _can_begin(placement: Placement, item: Item, start: int) -> bool:
    """Check whether orders and caps allow an item to begin there."""
    problem, placed = placement.problem, placement.placed
    return problem.is_ordered(placed, item, start, item.slots) and problem.has_room_in_caps(
        placed, item, start, item.slots
    )


def _relaxed_problems(context: DraftContext, problem: Problem) -> dict[str, Problem]:
    """Return, for each must and should that is a rule, the problem without it."""
    gone = frozenset(rule.id for rule in context.rules if rule.must) - problem.in_force
    return {
        rule.id: compile_problem(replace(context, rules=tuple(r for r in context.rules if r is not rule)), gone)
        for rule in context.rules_in_force(problem.in_force)
        if rule.necessity is not Necessity.PREFER
    }


def _fits_in(looser: Problem, placement: Placement, item: Item) -> bool:
    """Check whether an item has a place in a problem with one rule less, with all others unmoved."""
    same = next((i for i in looser.items if i.source.id == item.source.id and not i.source.pinned), None)
    if same is None or len(looser.items) != len(placement.problem.items):
        return False
    spot = Placement(looser, placement.placed).find_best(same, same.slots)
    return spot is not None and spot[0] <= same.coupling.lost


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
            return (Reason("past", "It began before now."),)
        routine = find_routine(self.context.instance, block.key)
        if routine is not None:
            words = quote_title(routine.constraint_record.words)
            return (Reason("rule", f"It is here because of your rule {words}.", cause=routine.id),)
        if any(p.key == block.key for p in self.context.instance.pinned):
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

    def _without(self, problem: Problem, item: Item, piece: Piece) -> Placement:
        """Return the placement without one piece."""
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
                tasks = tuple(
                    t.model_copy(update={name: () if name in {"energy", "after"} else None}) for t in instance.tasks
                )
                yield _Variant(name, name, self._with(replace(instance, tasks=tasks)))
        for name in _POLICIES:
            fields = _EITHER.get(name, (name,))
            if all(getattr(instance.policy, field) for field in fields):
                policy = instance.policy.model_copy(update={field: _DECLINED.get(field, 0) for field in fields})
                yield _Variant("policy", name, self._with(replace(instance, policy=policy)))
        if any(item.preferences.previous for item in self.problem.items):
            again = compile_problem(self.context, self.gone)
            for item in again.items:
                item.preferences.previous = item.preferences.previous_keys = ()
            yield _Variant("previous", "previous", again)

    def _with(self, instance: Instance) -> Problem:
        return compile_problem(replace(self.context, instance=instance), self.gone)

    def _reason(self, variant: _Variant, item: Item, slot: int | None) -> Reason:
        because = self._because(variant, item)
        if slot is None:
            return Reason(variant.kind, f"It is here because {because}.", variant.cause)
        instead = self.problem.axis.when(slot)
        text = f"It is here because {because}; otherwise it would begin at {self._clock(instead)}."
        return Reason(variant.kind, text, variant.cause, instead)

    def _because(self, variant: _Variant, item: Item) -> str:
        if variant.kind == "rule":
            rule = next(r for r in self.context.rules_in_force(self.problem.in_force) if r.id == variant.cause)
            when = "" if rule.told.said_on is None else f" on {format_date(rule.told.said_on)}"
            return f"you said {quote_title(rule.words)}{when}"
        if variant.kind == "policy":
            return _POLICIES[variant.cause]
        if variant.kind == "previous":
            return "it lay here before"
        task = next((t for t in self.context.instance.tasks if t.id == item.source.task), None)
        value = None if task is None else getattr(task, variant.kind)
        return _OF_TASKS[variant.kind].format(value) if value else "of what has to come before or after it"

    def _wish(self, alone: Placement, item: Item, piece: Piece) -> Iterator[Reason]:
        """Explain the preferred time of lunch and of the shutdown."""
        if item.preferences.start is None:
            return
        if _best_start(
            alone, replace(item, preferences=replace(item.preferences, start=None), cache=Cache()), piece[1]
        ) not in {None, piece[0]}:
            lunch = item.source.kind is ET.REGENERATION
            because = "this is about when you have lunch" if lunch else "it ends the day"
            yield Reason("policy", f"It is here because {because}.", "lunch" if lunch else "shutdown")

    def _neighbor_reasons(self, item: Item, piece: Piece) -> Iterator[Reason]:
        """Yield adjacent events and blocks whose place it would take."""
        start, end = piece[0], piece[0] + piece[1]
        near = ((1 << (end - start + 2 * _NEAR)) - 1) << max(0, start - _NEAR)
        for event in self.context.events:
            if event.mask & near:
                freed = self._without_event(event.id)
                slot = _best_start(self._without(freed, item, piece), freed.items[item.index], piece[1])
                where = "after" if event.mask.bit_length() <= start else "before"
                yield from self._neighbor_reason(
                    slot, piece, Reason("event", f"{where} {quote_title(event.title)}", event.id)
                )
        for other in self.problem.items:
            for s, n in self.placed[other.index]:
                if other is not item and (near >> s & 1 or near >> (s + n) & 1):
                    trial = self._without(self.problem, item, piece).placed
                    trial[other.index] = tuple(p for p in trial[other.index] if p != (s, n))
                    slot = _best_start(Placement(self.problem, trial), item, piece[1])
                    where = "after" if s < start else "before"
                    key, title = self.names.get(s, (other.source.key or other.source.id, other.source.title))
                    yield from self._neighbor_reason(slot, piece, Reason("block", f"{where} {quote_title(title)}", key))

    def _without_event(self, event: str) -> Problem:
        """Return the problem without an event."""
        if event not in self.events:
            instance = self.context.instance
            names = ((e.id or f"event-{n}", e) for n, e in enumerate(instance.immovables, 1))
            fewer = replace(instance, immovables=tuple(e for name, e in names if name != event))
            self.events[event] = compile_problem(build_context(fewer), self.gone)
        return self.events[event]

    def _neighbor_reason(self, slot: int | None, piece: Piece, beside: Reason) -> Iterator[Reason]:
        if slot is not None and slot != piece[0]:
            instead = self.problem.axis.when(slot)
            text = f"It comes {beside.text}; without that it would begin at {self._clock(instead)}."
            yield replace(beside, text=text, instead=instead)

    def _fallback_reason(self, alone: Placement, item: Item, piece: Piece) -> Reason:
        spots = alone.spots(item, piece[1])
        others = spots & ~(1 << piece[0])
        if not others:
            return Reason("only", "It is the only time that is free and long enough for it.")
        if spots & -spots == 1 << piece[0]:
            return Reason("earliest", "It is the earliest time that is free and long enough for it.")
        return Reason("best", "Among the times that are free for it, this one suits the day as a whole.")

    def _clock(self, when: datetime) -> str:
        return f"{when.astimezone(zone(self.context.instance.tz)):%H:%M}"


def _best_start(placement: Placement, item: Item, length: int) -> int | None:
    """Return the slot at which a piece is cheapest; an item with several lengths may be shorter."""
    if len(item.lengths) > 1:
        whole = placement.whole(item)
        return None if whole is None else whole[1][0]
    spot = placement.find_best(item, length)
    return None if spot is None else spot[1]


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
    more = tuple(Task.of_block(b) for b in blocks if b.key != lunch and task_of(b.key, ids) is None)
    context = build_context(replace(instance, tasks=(*instance.tasks, *more), pinned=()))
    problem = compile_problem(context)
    placed = _current_placement(problem, blocks, [*ids, *(task.id for task in more)])
    start = problem.axis.slot(there.start)
    if not any(piece[0] == start for pieces in placed for piece in pieces):
        return ()
    own, others = Block.of(there, task_of(key, ids)), tuple(Block.of(b, task_of(b.key, ids)) for b in blocks)
    ((_, reasons),) = reasons_of(context, problem, placed, (own,), others)
    return tuple(reason for reason in reasons if reason.kind != _FITS)


def _current_placement(problem: Problem, blocks: list[Resolved], ids: list[str]) -> Placed:
    def pieces(task: str | None, key: str | None) -> Pieces:
        mine = (b for b in blocks if b.key == key or (task is not None and task_of(b.key, ids) == task))
        masks = [mask for block in mine if (mask := problem.axis.slots_touching(block.start, block.end))]
        return tuple(sorted(((mask & -mask).bit_length() - 1, mask.bit_count()) for mask in masks))

    return [pieces(item.source.task, item.source.key) for item in problem.items]
