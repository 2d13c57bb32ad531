"""A day compiled for the search: items, what they share, and what has to be kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from fateforger.drafting.axis import Axis, span
from fateforger.drafting.items import Item, Pieces
from fateforger.drafting.rules import PlannedDay, Rule

Placed = list[Pieces]
"""By item, where its pieces lie in time order; nothing when it is left out."""


@dataclass(frozen=True, slots=True)
class Breather:
    """Slots wanted free behind (or before) blocks of some items, and points for each that a block of others covers."""

    members: frozenset[int]
    victims: frozenset[int]
    slots: int
    points: int
    rule: str = ""
    ahead: bool = False
    base: int = 0


@dataclass(frozen=True, slots=True)
class Cap:
    """How much of some items a day may hold, in slots and in blocks. ``taken``: by day, slots and blocks that are there
    already. Soft ones cost points; a hard one has none. ``over``: points a slot (or block) too many or too few."""

    rule: str
    members: frozenset[int]
    days: tuple[int, ...]
    taken: tuple[tuple[int, int], ...]
    most: int | None
    least: int | None
    count: int | None
    over: int | None = None
    base: int = 0


@dataclass(frozen=True, slots=True)
class Order:
    """Blocks of ``first`` come before blocks of ``then``, on each of ``days``, or points for each pair that does
    not."""

    rule: str
    first: frozenset[int]
    then: frozenset[int]
    days: tuple[int, ...]
    points: int | None = None
    groups: tuple[int, int] = (0, 0)
    """The numbers of both among the groups of the problem."""


@dataclass(slots=True)
class Problem:
    """``busy``: slots that are taken for everybody. ``rules`` are those that count here."""

    axis: Axis
    tz: str
    days: tuple[PlannedDay, ...]
    busy: int
    items: list[Item]
    rules: tuple[Rule, ...] = ()
    breathers: tuple[Breather, ...] = ()
    caps: tuple[Cap, ...] = ()
    orders: tuple[Order, ...] = ()
    shallow_percent: int | None = None
    deep_blocks: int | None = None
    early: tuple[int, ...] = ()
    """By day, the slot after which the one thing is late; empty when that does not matter."""
    in_force: frozenset[str] = frozenset()
    """The musts that are kept here, by their ids."""
    looks: int = 0
    """The measure of work done, the same on every machine: looking for a place counts as one to four, by what it takes,
    so that days of one number of looks take about equally long."""
    groups: list[frozenset[int]] = field(default_factory=list, repr=False)
    """Sets of items that something is about."""
    within: list[tuple[int, ...]] = field(default_factory=list, repr=False)
    """By item, the numbers of the groups that it belongs to."""
    victims: list[int] = field(default_factory=list, repr=False)
    """By breather, the group that it is kept free of."""
    breathes: list[tuple[tuple[int, int, bool], ...]] = field(default_factory=list, repr=False)
    """By item, the breathers that it wants: their number, their slots, and whether they are ahead of it."""
    takes: list[tuple[int, ...]] = field(default_factory=list, repr=False)
    """By item, the breathers that it must not cover."""
    tight: list[int] = field(default_factory=list, repr=False)
    """By item, the least that it costs to have too little room beside it."""
    softly: list[tuple[Order, ...]] = field(default_factory=list, repr=False)
    """By item, the orders that may be broken."""
    orders_of: list[tuple[Order, ...]] = field(default_factory=list, repr=False)
    """By item, the orders that may not."""
    late: list[int] = field(default_factory=list, repr=False)
    """By item, the starts that are late for the one thing."""
    bound: list[bool] = field(default_factory=list, repr=False)
    """By item, whether a hard order or cap is about it."""
    capped: list[bool] = field(default_factory=list, repr=False)
    """By item, whether nothing but hard caps can be about it."""
    alone: list[bool] = field(default_factory=list, repr=False)
    """By item, whether it costs the same whatever lies beside it."""
    following: list[frozenset[int]] = field(default_factory=list, repr=False)
    """By item, those that cannot be there without it, itself among them."""
    everywhere: int = 0
    """The slots at which anything may lie."""
    lost: list[int] = field(default_factory=list, repr=False)
    """By item, what leaving it out costs, in parts of a point."""
    deep: int = 0
    shallow: int = 0
    """The groups of deep and of shallow work."""
    _caps_of: list[tuple[int, ...]] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        self.victims = [self._group(b.victims) for b in self.breathers]
        self.orders = tuple(replace(o, groups=(self._group(o.first), self._group(o.then))) for o in self.orders)
        self.deep, self.shallow = self._group(_kind(self.items, deep=True)), self._group(_kind(self.items, deep=False))
        for item in self.items:
            n = item.index
            self.following.append(self._following(n))
            self.everywhere |= item.domain
            self.lost.append(item.lost())
            mine = [o for o in self.orders if n in o.first or n in o.then]
            caps = tuple(m for m, cap in enumerate(self.caps) if cap.over is None and n in cap.members)
            orders = tuple(o for o in mine if o.points is None)
            self.within.append(tuple(m for m, group in enumerate(self.groups) if n in group))
            self.breathes.append(tuple((m, b.slots, b.ahead) for m, b in enumerate(self.breathers) if n in b.members))
            self.takes.append(tuple(m for m, b in enumerate(self.breathers) if n in b.victims))
            near = [b.points + b.base for b in self.breathers if n in b.members or n in b.victims]
            self.tight.append(min(near, default=0))
            self.softly.append(tuple(o for o in mine if o.points is not None))
            self.orders_of.append(orders)
            self.late.append(self._late() if item.one and self.early else 0)
            self._caps_of.append(caps)
            self.alone.append(not (self.breathes[n] or self.takes[n] or self.softly[n] or self.late[n]))
            self.capped.append(not (orders or item.needs or item.before or item.behind))
            self.bound.append(bool(caps or orders or item.needs or item.before or item.behind))

    def _group(self, members: frozenset[int]) -> int:
        if members not in self.groups:
            self.groups.append(members)
        return self.groups.index(members)

    def _following(self, index: int) -> frozenset[int]:
        found = {index}
        if not any(i.needs for i in self.items):
            return frozenset(found)
        while more := {i.index for i in self.items if i.index not in found and found.intersection(i.needs)}:
            found |= more
        return frozenset(found)

    def _late(self) -> int:
        return sum(day.slots & ~span(0, early + 1) for day, early in zip(self.days, self.early, strict=True))

    # --- what has to be kept, beyond domains and overlaps ---

    def room_in_caps(self, placed: Placed, item: Item, start: int, length: int) -> bool:
        """Whether another piece there keeps every hard cap."""
        for number in self._caps_of[item.index]:
            cap = self.caps[number]
            day = self.day_of(start)
            if not cap.days[day] >> start & 1:
                continue
            slots, blocks = self.used(cap, placed, day)
            if cap.most is not None and slots + length > cap.most:
                return False
            if cap.count is not None and blocks + 1 > cap.count:
                return False
        return True

    def full(self, placed: Placed, item: Item, length: int) -> int:
        """The starts at which another piece breaks a hard cap."""
        over = 0
        for number in self._caps_of[item.index]:
            cap = self.caps[number]
            for day, on in enumerate(cap.days):
                if on:
                    slots, blocks = self.used(cap, placed, day)
                    if (cap.most is not None and slots + length > cap.most) or (
                        cap.count is not None and blocks + 1 > cap.count
                    ):
                        over |= on
        return over

    def hopeless(self, placed: Placed, item: Item) -> bool:
        """Whether the hard caps have no room for it, wherever it were."""
        for number in self._caps_of[item.index]:
            cap = self.caps[number]
            if cap.most is not None and all(
                on and self.used(cap, placed, day)[0] + min(n for n, _ in item.lengths) > cap.most
                for day, on in enumerate(cap.days)
            ):
                return len(self.days) == 1 or item.most_pieces == 1
        return False

    def used(self, cap: Cap, placed: Placed, day: int) -> tuple[int, int]:
        """What a cap's items and what was there already take on a day, in slots and blocks."""
        slots, blocks = cap.taken[day]
        on = cap.days[day]
        for index in cap.members:
            for start, length in placed[index]:
                if on >> start & 1:
                    slots += length
                    blocks += 1
        return slots, blocks

    def short_of(self, placed: Placed) -> tuple[str, ...]:
        """The hard rules that ask for more than is placed, or that hold less than was there already."""
        broken = []
        for cap in self.caps:
            if cap.over is None:
                used = [self.used(cap, placed, day) for day, on in enumerate(cap.days) if on]
                if any(cap.least is not None and slots < cap.least for slots, _ in used) or any(
                    (cap.most is not None and slots > cap.most) or (cap.count is not None and blocks > cap.count)
                    for slots, blocks in used
                ):
                    broken.append(cap.rule)
        return tuple(broken)

    def ordered(self, placed: Placed, item: Item, start: int, length: int) -> bool:
        """Whether a piece there comes behind what has to be before it, and before what has to be behind."""
        for need in item.needs:
            if not placed[need] or placed[need][-1][0] + placed[need][-1][1] > start:
                return False
        for other in item.before:
            pieces = placed[other]
            if pieces and pieces[-1][0] + pieces[-1][1] > start:
                return False
        for other in item.behind:
            pieces = placed[other]
            if pieces and pieces[0][0] < start + length:
                return False
        orders = self.orders_of[item.index]
        return not orders or all(self._in_order(order, placed, item, start, length) for order in orders)

    def _in_order(self, order: Order, placed: Placed, item: Item, start: int, length: int) -> bool:
        first = item.index in order.first
        on = order.days[self.day_of(start)]
        if not on >> start & 1:
            return True
        others = order.then if first else order.first
        for other in others:
            for at, slots in placed[other]:
                if on >> at & 1 and (at < start + length if first else at + slots > start):
                    return False
        return True

    def day_of(self, slot: int) -> int:
        """The number of the planned day that a slot belongs to."""
        if len(self.days) == 1:
            return 0
        return next((n for n, day in enumerate(self.days) if day.slots >> slot & 1), len(self.days) - 1)


def _kind(items: Sequence[Item], *, deep: bool) -> frozenset[int]:
    return frozenset(i.index for i in items if i.work and i.deep is deep)


def empty(items: Sequence[Item]) -> Placed:
    """Nothing placed."""
    return [()] * len(items)
