"""Compilation of a day into the problem: closed slots, prices, breathers, caps, and orders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from fateforger.drafting import weights
from fateforger.drafting.axis import GRID, slot_range, window_slots
from fateforger.drafting.context import LUNCH, DraftContext, must_ids, task_of
from fateforger.drafting.instance import Between, Instance
from fateforger.drafting.items import WORK, Item, Price, collect_items
from fateforger.drafting.problem import Breather, Cap, Order, Problem
from fateforger.drafting.rules import SlotRule
from fateforger.memory.vocabulary import Necessity
from fateforger.planning.plan import ET
from fateforger.planning.timing import zone

_FULL_DAY = 288


def close_slots(ground: DraftContext, rules: Sequence[SlotRule], items: Iterable[Item]) -> None:
    """Set the domain, gap, bounds, and prices of each item."""
    closing = _Closing(ground, rules)
    for item in items:
        closing.price(item)


def soft_points(rule: SlotRule) -> tuple[int, int]:
    """Return the points for each slot, and the points charged once."""
    if rule.necessity is Necessity.SHOULD:
        return weights.SHOULD_SLOT, weights.SHOULD
    return weights.PREFER_SLOT, weights.PREFER


@dataclass(frozen=True)
class _Closing:
    ground: DraftContext
    rules: Sequence[SlotRule]
    seen: dict[tuple[Between, ...], int] = field(default_factory=dict)

    def price(self, item: Item) -> None:
        """Apply each rule to an item, as a cut of its domain or as a price."""
        prices: list[Price] = []
        for rule in self.rules:
            if rule.around:
                self._close(item, rule, self._near(rule.around) & rule.on, prices)
            if rule.applies_to(item.kind, item.task):
                self._hold(item, rule, prices)
        if item.slots < item.shortest and item.most_pieces > 1:
            item.most_pieces = 1
        task = next((t for t in self.ground.instance.tasks if t.id == item.task), None)
        everywhere = slot_range(0, self.ground.axis.slots)
        if task is not None and task.energy:
            prices.append(Price(everywhere & ~self._windows(task.energy), weights.ENERGY_SLOT, rule="energy"))
        if self.ground.instance.policy.focus and item.deep:
            prices.append(
                Price(everywhere & ~self._windows(self.ground.instance.policy.focus), weights.FOCUS_SLOT, rule="focus")
            )
        if self.ground.instance.policy.around_meetings and item.work:
            near = self._near(-(-self.ground.instance.policy.around_meetings // GRID))
            prices.append(Price(near, weights.BREAK_SLOT, rule="around_meetings"))
        item.prices = tuple(prices)
        item.clear = ~self.ground.busy & slot_range(0, self.ground.axis.slots + _FULL_DAY)

    def _hold(self, item: Item, rule: SlotRule, prices: list[Price]) -> None:
        self._close(item, rule, rule.closed_slots | self._wrong_side_of_meetings(item, rule), prices)
        if rule.must:
            item.gap = max(item.gap, rule.gap)
        if rule.whole:
            item.most_pieces = 1
        if rule.longest is not None:
            if rule.must:
                item.longest = min(item.longest, rule.longest)
            item.comfort = rule.longest if item.comfort is None else min(item.comfort, rule.longest)
        if rule.shortest is not None:
            item.shortest = max(item.shortest, rule.shortest)
            if rule.must and item.slots < rule.shortest:
                item.domain = 0

    def _close(self, item: Item, rule: SlotRule, closed: int, prices: list[Price]) -> None:
        if rule.must:
            item.domain &= ~closed
        elif closed:
            slot, base = soft_points(rule)
            prices.append(Price(closed, slot, base, rule.id))

    def _wrong_side_of_meetings(self, item: Item, rule: SlotRule) -> int:
        """Return the slots closed to an item by an order of types that includes meetings."""
        if ET.MEETING not in rule.order or item.kind not in rule.order or item.kind is ET.MEETING:
            return 0
        closed = 0
        first = rule.order.index(item.kind) < rule.order.index(ET.MEETING)
        for day in self.ground.days:
            masks = [e.mask for e in self.ground.events if e.kind is ET.MEETING and e.mask & day.slots & rule.on]
            if masks and first:
                closed |= day.slots & ~slot_range(0, min((m & -m).bit_length() - 1 for m in masks))
            elif masks:
                closed |= day.slots & slot_range(0, max(m.bit_length() for m in masks))
        return closed

    def _near(self, slots: int) -> int:
        """Return the slots within that many slots of a meeting, without the meetings."""
        near = within = 0
        for event in self.ground.events:
            if event.kind is ET.MEETING:
                within |= event.mask
                near |= event.mask << slots
                for n in range(slots + 1):
                    near |= event.mask >> n
                    near |= event.mask << n
        return near & ~within

    def _windows(self, windows: tuple[Between, ...]) -> int:
        if windows not in self.seen:
            self.seen[windows] = self._compute_windows(windows)
        return self.seen[windows]

    def _compute_windows(self, windows: tuple[Between, ...]) -> int:
        mask = 0
        for day in self.ground.days:
            for near in (-1, 0, 1):
                on = day.date + timedelta(days=near)
                for each in windows:
                    mask |= window_slots(
                        self.ground.axis, on, each.start, each.end, zone(self.ground.instance.tz), whole=True
                    )
        return mask


@dataclass(frozen=True)
class Sharing:
    """Shared constraints of a day's items, derived from its rules and policy."""

    ground: DraftContext
    rules: Sequence[SlotRule]
    items: Sequence[Item]

    def breathers(self) -> Iterator[Breather]:
        deep = frozenset(i.index for i in self.items if i.deep)
        work = frozenset(i.index for i in self.items if i.kind in WORK)
        meals = frozenset(i.index for i in self.items if i.id.startswith(f"{LUNCH}-"))
        policy = self.ground.instance.policy
        behind = ((deep, policy.after_deep, "after_deep"), (meals, policy.after_meal, "after_meal"))
        for members, minutes, name in behind:
            if members and minutes:
                yield Breather(members, work, -(-minutes // GRID), weights.BREAK_SLOT, name)
        if len(deep) > 0 and policy.before_deep:
            slots = -(-policy.before_deep // GRID)
            yield Breather(deep, work, slots, weights.BREAK_SLOT, "before_deep", ahead=True)
        everyone = frozenset(range(len(self.items)))
        for rule in self.rules:
            if rule.gap and not rule.must:
                slot, base = soft_points(rule)
                yield Breather(self._of(rule), everyone, rule.gap, slot, rule.id, base=base)

    def caps(self) -> Iterator[Cap]:
        for rule in self.rules:
            if rule.most is None and rule.least is None and rule.count is None:
                continue
            members = self._of(rule)
            if not rule.types:
                members = frozenset(i for i in members if self.items[i].kind not in {ET.REGENERATION, ET.BUFFER})
            days = tuple(day.slots & rule.on for day in self.ground.days)
            taken = tuple(self._usage_of(rule, on) for on in days)
            slot, base = soft_points(rule)
            yield Cap(
                rule.id,
                members,
                days,
                taken,
                None if rule.most is None else rule.most,
                rule.least,
                rule.count,
                None if rule.must else slot,
                base,
            )

    def orders(self) -> Iterator[Order]:
        for rule in self.rules:
            days = tuple(day.slots & rule.on for day in self.ground.days)
            points = None if rule.must else soft_points(rule)[1]
            for n, first in enumerate(rule.order):
                for then in rule.order[n + 1 :]:
                    yield Order(rule.id, self._kinds(first, rule), self._kinds(then, rule), days, points)
            if not rule.order and rule.kind is not None and rule.kind.value == "sequencing":
                for n, one in enumerate(rule.tasks):
                    for other in rule.tasks[n + 1 :]:
                        yield Order(rule.id, self._tasks(one), self._tasks(other), days, points)

    def _of(self, rule: SlotRule) -> frozenset[int]:
        return frozenset(i.index for i in self.items if rule.applies_to(i.kind, i.task))

    def _usage_of(self, rule: SlotRule, on: int) -> tuple[int, int]:
        """Return the slots and blocks that a rule's types already take."""
        masks = [e.mask for e in (*self.ground.events, *self.ground.ways) if e.kind in rule.types and not e.late]
        masks += [
            self.ground.axis.slots_touching(b.start, b.end)
            for b in self.ground.past
            if rule.applies_to(b.event.type, task_of(b.key, [t.id for t in self.ground.instance.tasks]))
        ]
        there = [mask & on for mask in masks if mask & on]
        union = 0
        for mask in there:
            union |= mask
        return union.bit_count(), len(there)

    def _kinds(self, kind: ET, rule: SlotRule) -> frozenset[int]:
        return frozenset(i.index for i in self.items if i.kind is kind and (not rule.tasks or i.task in rule.tasks))

    def _tasks(self, task: str) -> frozenset[int]:
        return frozenset(i.index for i in self.items if i.task == task)


def compile_problem(ground: DraftContext, relaxed: frozenset[str] = frozenset()) -> Problem:
    """Return the problem without the musts of those ids.

    A must is a constraint, a required task, or a pinned block.
    """
    rules = [rule for rule in ground.rules if not (rule.must and rule.id in relaxed)]
    items = collect_items(ground, relaxed)
    _connect(ground.instance, items)
    close_slots(ground, rules, items)
    sharing = Sharing(ground, rules, items)
    policy = ground.instance.policy
    return Problem(
        axis=ground.axis,
        tz=ground.instance.tz,
        days=ground.days,
        busy=ground.busy,
        items=items,
        rules=tuple(rules),
        breathers=tuple(sharing.breathers()),
        caps=tuple(sharing.caps()),
        orders=tuple(sharing.orders()),
        shallow_percent=policy.shallow_percent,
        deep_blocks=policy.deep_blocks,
        early=_middles(ground) if policy.one_thing_early else (),
        in_force=frozenset(must_ids(ground)) - relaxed,
    )


def _middles(ground: DraftContext) -> tuple[int, ...]:
    """Return the last slot of the first half of each day's frame, regardless of the current time."""
    return tuple(ground.axis.slot(day.start + (day.end - day.start) / 2) for day in ground.days)


def _connect(instance: Instance, items: Sequence[Item]) -> None:
    """Link items that come after one another.

    An item that a required one needs becomes required, too.
    """
    _follow(instance, items)
    needed = {n for item in items if item.required for n in item.needs}
    while more := {n for i in needed for n in items[i].needs} - needed:
        needed |= more
    for index in needed:
        items[index].required = True


def _follow(instance: Instance, items: Sequence[Item]) -> None:
    loose = {item.task: item for item in items if item.task is not None and not item.pinned}
    pinned: dict[str, list[Item]] = {}
    for item in items:
        if item.pinned and item.task is not None:
            pinned.setdefault(item.task, []).append(item)
    for task in instance.tasks:
        for other in task.after:
            for first in (*pinned.get(other, ()), *([loose[other]] if other in loose else ())):
                if task.id in loose:
                    _link(first, loose[task.id], needs=True)
            for then in pinned.get(task.id, ()):
                if other in loose:
                    _link(loose[other], then, needs=False)


def _link(first: Item, then: Item, *, needs: bool) -> None:
    first.behind = (*first.behind, then.index)
    then.before = (*then.before, first.index)
    if needs:
        then.needs = (*then.needs, first.index)
