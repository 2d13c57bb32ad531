"""Orders of items: those of rules, and those of a good day."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import combinations, permutations
from operator import or_

from fateforger.drafting import weights
from fateforger.drafting.axis import PlannedDay, slot_range, stretches
from fateforger.drafting.context import DraftContext, SlotRule
from fateforger.drafting.problem import SITTING, Item, Order
from fateforger.memory.vocabulary import Necessity
from fateforger.planning.block_times import SHUTDOWN
from fateforger.planning.grid import GRID

_NUMBER = re.compile(r" \((\d+)/\d+\)$")
"""Number of a piece at the end of its title."""


def soft_points(rule: SlotRule) -> tuple[int, int]:
    """Return the points for each slot, and the points charged once."""
    if rule.necessity is Necessity.SHOULD:
        return weights.SHOULD_SLOT, weights.SHOULD
    return weights.PREFER_SLOT, weights.PREFER


def build_orders(context: DraftContext, rules: Sequence[SlotRule], items: Sequence[Item]) -> Iterator[Order]:
    """Yield the orders that rules ask for, and those of a good day."""
    yield from _policy_orders(context, items)
    if context.mending:
        yield from _orders_of_pieces(context, items)
    for rule in rules:
        days = tuple(day.slots & rule.on for day in context.days)
        points = None if rule.must else soft_points(rule)[1]
        of_kind = {
            kind: frozenset(i for i in members_of(rule, items) if items[i].source.kind is kind) for kind in rule.order
        }
        of_task = {task: frozenset(i.index for i in items if i.source.task == task) for task in rule.task_order}
        for first, then in combinations(rule.order, 2):
            yield Order(rule.id, of_kind[first], of_kind[then], days, points)
        for task, later in combinations(rule.task_order, 2):
            yield Order(rule.id, of_task[task], of_task[later], (sum(days),), points)


def _policy_orders(context: DraftContext, items: Sequence[Item]) -> Iterator[Order]:
    """Yield the orders of a good day: the one thing, other deep work, shallow work, and the end of work.

    Where time is too short for a sitting, or deep work waits for its best hours, shallow work keeps it from nothing;
    nor does other deep work, while the one thing waits for its own.
    """
    policy = context.instance.policy
    short = reduce(or_, (slot_range(at, at + n) for at, n in stretches(context.free) if n < SITTING), 0)
    one = frozenset(i.index for i in items if i.source.one)
    needed = {n for i in one for n in items[i].precedence.needs}
    deep = frozenset(i.index for i in items if i.deep and not i.source.one)
    shallow = frozenset(i.index for i in items if i.work and not i.deep and not i.source.one)
    end = frozenset(i.index for i in items if i.source.id.startswith(f"{SHUTDOWN}-"))
    frames = tuple(day.frame for day in context.days)  # what the person put after hours does not end the day
    starts = reduce(or_, (items[i].firm or 0 for i in end), 0)
    before_end = frozenset(i for i in one | deep | shallow if not _takes_end(context, items[i], starts))
    orders = [("shutdown", before_end, end, weights.WORK_END, frames)]
    if policy.one_thing_early:
        movable = frozenset(i for i in one if items[i].firm is None or items[i].source.pinned)
        hours = reduce(or_, (context.best_hours(each) for each in context.instance.tasks if each.one_thing), 0)
        from_best = tuple(_slots_from(hours, day) for day in context.days)
        for task, members in _by_task(deep - needed, items).items():
            points = min(weights.ONE_FIRST, _worth(context, task) // (1 + _sittings(context, movable, items)))
            orders.append(("one_thing_early", movable, members, points, from_best))
        hours = context.windows(context.instance.policy.focus)
        long = tuple(_slots_from(hours, day) & ~short for day in context.days)
        orders.append(("deep_first", one | deep, shallow, weights.DEEP_FIRST, long))
    for name, first, then, points, on in orders:
        if first and then:
            yield Order(name, first, then, on, points)


def _orders_of_pieces(context: DraftContext, items: Sequence[Item]) -> Iterator[Order]:
    """Yield the orders of the numbered pieces of each task, but for those that the person wanted otherwise."""
    pieces: dict[str, list[tuple[int, Item]]] = {}
    for item in items:
        numbered = _NUMBER.search(item.source.title)
        if numbered is not None and not item.source.pinned:
            pieces.setdefault(item.source.title[: numbered.start()], []).append((int(numbered[1]), item))
    on = (sum(day.slots for day in context.days),)
    for (one, first), (two, then) in (pair for same in pieces.values() for pair in permutations(same, 2)):
        was = (first.preferences.previous, then.preferences.previous)
        if one < two and not (all(was) and was[0] > was[1]):
            yield Order("pieces", frozenset({first.index}), frozenset({then.index}), on, weights.PIECES)


def _takes_end(context: DraftContext, item: Item, starts: int) -> bool:
    """Check whether work at a given time leaves no time to shut down after it, as a late meeting does."""
    given = item.given_slots
    on = next((day.slots for day in context.days if given & day.slots), 0)
    return bool(on) and not (starts & on) >> given.bit_length()


def _slots_from(best: int, day: PlannedDay) -> int:
    """Return the slots of a day from the first of these in its frame; all if there is none."""
    best &= day.frame
    return day.slots & -(best & -best) if best else day.slots


def _by_task(members: Iterable[int], items: Sequence[Item]) -> dict[str | None, frozenset[int]]:
    found: dict[str | None, frozenset[int]] = {}
    for i in sorted(members):
        task = items[i].source.task
        found[task] = found.get(task, frozenset()) | {i}
    return found


def _worth(context: DraftContext, task: str | None) -> int:
    """Return the points of a task's place; those of a block of the person's own are more than its order costs."""
    found = next((each for each in context.instance.tasks if each.id == task), None)
    if found is None:
        return weights.ONE_THING
    slots = -(-found.length(context.instance.policy) // GRID)
    return weights.PLACED + weights.PLACED_SLOT[found.priority] * slots


def _sittings(context: DraftContext, one: Iterable[int], items: Sequence[Item]) -> int:
    """Return the number of pieces of the one thing if each is as long as the person holds."""
    policy = context.instance.policy
    tasks = {items[i].source.task for i in one}
    lengths = [task.length(policy) for task in context.instance.tasks if task.id in tasks]
    return sum(-(-minutes // (policy.longest_focus or minutes)) for minutes in lengths)


def members_of(rule: SlotRule, items: Sequence[Item]) -> frozenset[int]:
    """Return the indices of the items that a rule is about."""
    return frozenset(i.index for i in items if rule.applies_to(i.source.kind, i.source.task))
