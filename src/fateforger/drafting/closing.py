"""Translate rules and task requirements into closed slots and prices of items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from fateforger.constraints.kinds import Necessity
from fateforger.drafting import weights
from fateforger.drafting.axis import slot_range, window_slots
from fateforger.drafting.ground import DraftContext
from fateforger.drafting.items import Item, Price
from fateforger.drafting.minutes import GRID
from fateforger.drafting.policy import Between
from fateforger.drafting.rules import SlotRule
from fateforger.plan import ET, zone

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
