"""Constraints that items share: breathers, caps per day, and orders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fateforger.drafting import weights
from fateforger.drafting.closing import soft_points
from fateforger.drafting.ground import DraftContext
from fateforger.drafting.items import WORK, Item
from fateforger.drafting.minutes import GRID
from fateforger.drafting.naming import LUNCH, task_of
from fateforger.drafting.problem import Breather, Cap, Order
from fateforger.drafting.rules import SlotRule
from fateforger.plan import ET


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
