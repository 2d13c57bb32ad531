"""Whether everything that has to be kept can be kept together: an exact answer by looking at placements in time order.

It is enough to look at placements that are pushed to the left: each block begins where a stretch that is open to it
begins, or right behind the block before it. What was found impossible from a moment on, with the same things left, is
remembered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from fateforger.drafting.items import Item
from fateforger.drafting.problem import Placed, Problem, empty

NODES = 6_000


class Verdict(StrEnum):
    """``UNKNOWN``: neither was found in the steps that were given."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class _OutOfSteps(Exception):
    pass


def feasible(problem: Problem, nodes: int = NODES) -> tuple[Verdict, Placed | None]:
    """A placement of all that is required, keeping every hard rule; other items only where a rule asks for more."""
    look = _Look(problem, nodes)
    try:
        placed = look.run()
    except _OutOfSteps:
        return Verdict.UNKNOWN, None
    return (Verdict.NO, None) if placed is None else (Verdict.YES, placed)


@dataclass
class _Look:
    problem: Problem
    nodes: int
    dead: set[tuple[int, tuple[tuple[int, int, int], ...], tuple[int, ...]]] = field(default_factory=set)

    def run(self) -> Placed | None:
        problem = self.problem
        self.asking = [cap for cap in problem.caps if cap.over is None and cap.least is not None]
        hard = [cap for cap in problem.caps if cap.over is None]
        self.holding = [cap for cap in hard if cap.most is not None or cap.count is not None]
        wanted = {i.index for i in problem.items if i.required}
        self.required = frozenset(wanted)
        for cap in self.asking:
            wanted |= cap.members
        while more := {n for i in wanted for n in problem.items[i].needs} - wanted:
            wanted |= more
        left = {i: (problem.items[i].slots, problem.items[i].most_pieces) for i in wanted}
        if any(not self._possible(problem.items[i]) for i in self.required):
            return None
        return self._from(0, left, empty(problem.items), 0)

    def _possible(self, item: Item) -> bool:
        if item.starts(item.slots):
            return True
        return item.most_pieces > 1 and bool(item.starts(item.shortest))

    def _from(self, at: int, left: dict[int, tuple[int, int]], placed: Placed, kept: int) -> Placed | None:
        """Place what is left behind ``at``; ``kept`` slots behind the last block stay free."""
        if not any(i in self.required or placed[i] for i in left) and not self.problem.short_of(placed):
            return placed
        self.nodes -= 1
        if self.nodes < 0:
            raise _OutOfSteps
        key = (at + kept, tuple(sorted((i, *rest) for i, rest in left.items())), self._state(placed))
        if key in self.dead or not self._hope(at + kept, left, placed):
            return None
        for item, start, length in self._moves(at, kept, left, placed):
            after = dict(left)
            slots, most = after.pop(item.index)
            if slots > length:
                after[item.index] = slots - length, most - 1
            then = list(placed)
            then[item.index] = (*then[item.index], (start, length))
            found = self._from(start + length, after, then, item.gap)
            if found is not None:
                return found
        self.dead.add(key)
        return None

    def _state(self, placed: Placed) -> tuple[int, ...]:
        """What else of the past matters: how much the hard caps hold on each day, and where what has an order lies when
        there are several days."""
        used: list[int] = []
        if len(self.problem.days) > 1:
            for order in self.problem.orders:
                used += [self.problem.day_of(s) for m in sorted(order.first | order.then) for s, _ in placed[m]]
        for cap in (*self.holding, *self.asking):
            for on in cap.days:
                pieces = [n for m in sorted(cap.members) for s, n in placed[m] if on >> s & 1]
                used += [sum(pieces), len(pieces)]
        return tuple(used)

    def _hope(self, at: int, left: dict[int, tuple[int, int]], placed: Placed) -> bool:
        """Whether there is enough open time for each deadline, counted together."""
        if not self._reachable(left, placed):
            return False
        ends: list[tuple[int, int, int]] = []
        for index, (slots, _) in left.items():
            if index in self.required:
                domain = self.problem.items[index].domain >> at
                if domain.bit_count() < slots:
                    return False
                ends.append((domain.bit_length(), slots, domain))
        ends.sort()
        needed = union = 0
        for end, slots, domain in ends:
            needed += slots
            union |= domain
            if (union & ((1 << end) - 1)).bit_count() < needed:
                return False
        return True

    def _reachable(self, left: dict[int, tuple[int, int]], placed: Placed) -> bool:
        """Whether what is left can still bring each rule that asks for more up to its least."""
        for cap in self.asking:
            more = sum(slots for index, (slots, _) in left.items() if index in cap.members)
            for day, on in enumerate(cap.days):
                if on:
                    there = sum(n for m in cap.members for s, n in placed[m] if on >> s & 1) + cap.taken[day][0]
                    if there + more < (cap.least or 0):
                        return False
        return True

    def _moves(
        self, at: int, kept: int, left: dict[int, tuple[int, int]], placed: Placed
    ) -> Iterator[tuple[Item, int, int]]:
        """What can come next: items by how soon they have to be done."""
        begin = at + kept
        items = [self.problem.items[i] for i in left]
        items.sort(key=lambda i: (i.index not in self.required, i.domain.bit_length(), -i.slots, i.index))
        seen: set[tuple[int, ...]] = set()
        for item in items:
            same = (item.slots, item.domain, item.gap, left[item.index][0]) if self._plain(item) else (-item.index - 1,)
            if same in seen:
                continue
            seen.add(same)
            if any(other in left and other in self.required for other in item.before):
                continue
            for length in self._lengths(item, *left[item.index]):
                for start in self._starts(item.starts(length), begin):
                    if self.problem.ordered(placed, item, start, length) and self.problem.room_in_caps(
                        placed, item, start, length
                    ):
                        yield item, start, length

    def _plain(self, item: Item) -> bool:
        """Whether it can be told from others only by its length and where it may lie."""
        member = any(item.index in cap.members for cap in self.problem.caps if cap.over is None)
        ordered = any(item.index in o.first or item.index in o.then for o in self.problem.orders if o.points is None)
        linked = item.needs or item.before or item.behind
        return not (member or ordered or linked or item.firm is not None or item.most_pieces > 1) and (
            item.index in self.required
        )

    @staticmethod
    def _lengths(item: Item, slots: int, most: int) -> Iterator[int]:
        if item.most_pieces == 1:
            yield slots
            return
        if slots >= item.shortest or slots == item.slots:
            yield slots
        if most > 1:
            for length in range(min(slots - item.shortest, item.longest), item.shortest - 1, -1):
                if slots - length <= (most - 1) * item.longest:
                    yield length

    @staticmethod
    def _starts(starts: int, begin: int) -> Iterator[int]:
        """Right at ``begin``, and where each later stretch begins."""
        if starts >> begin & 1:
            yield begin
        heads = (starts & ~(starts << 1)) >> (begin + 1)
        at = begin + 1
        while heads:
            skip = (heads & -heads).bit_length() - 1
            at += skip
            yield at
            heads >>= skip + 1
            at += 1
