"""Compiled problem of a day: items, shared constraints, and hard rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from fateforger.drafting import weights
from fateforger.drafting.axis import Axis, run_starts, slot_range, slots_of
from fateforger.drafting.context import PlannedDay, SlotRule
from fateforger.planning.plan import ET
from fateforger.values import replace

Piece = tuple[int, int]
"""First slot and number of slots."""
Pieces = tuple[Piece, ...]
Mark = tuple[int, int, tuple[tuple[int, int], ...]]
"""Slots covered by pieces of an item, slots kept free after them, and slots wanted free by breather."""
WORK = frozenset({ET.DEEP_WORK, ET.SHALLOW_WORK})


@dataclass(frozen=True, slots=True)
class Price:
    """A price for covering slots.

    A block costs ``slot`` points for each slot of ``where`` that it covers, and ``base`` once for covering any.
    ``rule`` is the cause.
    """

    where: int
    slot: int
    base: int = 0
    rule: str = ""


@dataclass(slots=True, eq=False)
class Item:
    """An item to be placed.

    ``lengths`` are the slots that it may take in one piece, each with its points; the first is the full length.
    ``domain`` are the slots where it may lie. ``firm`` are the only slots at which a pinned or fixed item may begin.
    """

    index: int
    id: str
    task: str | None
    title: str
    kind: ET
    lengths: tuple[tuple[int, int], ...]
    reward: int
    rank: int
    domain: int
    prices: tuple[Price, ...] = ()
    wish: tuple[int, int] | None = None
    """Preferred start, with the points for each slot away from it."""
    firm: int | None = None
    most_pieces: int = 1
    shortest: int = 1
    longest: int = 288
    comfort: int | None = None
    """Length above which a piece costs points for each slot more."""
    gap: int = 0
    """Slots after it that must stay free."""
    clear: int = -1
    """Slots that may follow it within its gap: all but busy ones."""
    required: bool = False
    pinned: bool = False
    one: bool = False
    needs: tuple[int, ...] = ()
    before: tuple[int, ...] = ()
    """Items that, where placed, must end before it begins."""
    behind: tuple[int, ...] = ()
    previous: Pieces = ()
    previous_keys: tuple[str, ...] = ()
    moved: tuple[int, int] = (weights.MOVED, weights.MOVED_SLOT)
    """Points for a piece that moved, and for each slot that it moved."""
    far: int = weights.MOVED_FAR
    """Number of slots beyond which a longer move costs no more."""
    horizon: int = 0
    """Slot after all days."""
    over: int = 0
    """Minutes by which its slots exceed its length."""
    key: str | None = None
    notes: str = ""
    costs: dict[Pieces, int] = field(default_factory=dict, repr=False)
    """Cache of the cost of its pieces."""
    marks: dict[Pieces, Mark] = field(default_factory=dict, repr=False)
    """Cache of the slots that its pieces take."""
    _tables: dict[int, tuple[dict[int, int], list[tuple[int, int]]]] = field(default_factory=dict, repr=False)

    @property
    def slots(self) -> int:
        return self.lengths[0][0]

    @property
    def smallest(self) -> tuple[int, int]:
        """Fewest slots that it takes in total, and in a row."""
        least = self.lengths[-1][0]
        return least, least if self.most_pieces == 1 else min(least, self.shortest)

    @property
    def deep(self) -> bool:
        return self.kind is ET.DEEP_WORK

    @property
    def work(self) -> bool:
        return self.kind in WORK

    def starts(self, length: int) -> int:
        """Return the slots at which a piece of that length may begin on an otherwise empty day."""
        if length > self.longest:
            return 0
        at = run_starts(self.domain, length)
        if self.gap:
            at &= run_starts(self.clear, self.gap) >> length
        return at if self.firm is None else at & self.firm

    def prices_at(self, length: int) -> dict[int, int]:
        """Return the cost of a piece of that length at each start, in fractions of a point."""
        return self._table(length)[0]

    def levels(self, length: int) -> list[tuple[int, int]]:
        """Return the costs of a piece in whole points with their starts, the cheapest first."""
        return self._table(length)[1]

    def _table(self, length: int) -> tuple[dict[int, int], list[tuple[int, int]]]:
        table = self._tables.get(length)
        if table is None:
            prices: dict[int, int] = {}
            levels: dict[int, int] = {}
            for start in slots_of(self.starts(length)):
                points = self.points(start, length)
                prices[start] = points * weights.SCALE + start * length * self.rank
                levels[points] = levels.get(points, 0) | 1 << start
            table = self._tables[length] = prices, sorted(levels.items())
        return table

    def points(self, start: int, length: int) -> int:
        """Return the cost of a piece in whole points, without the price of a later start."""
        covered = ((1 << length) - 1) << start
        points = 0
        for price in self.prices:
            hit = (covered & price.where).bit_count()
            if hit:
                points += price.base + hit * price.slot
        if self.wish is not None:
            points += abs(start - self.wish[0]) * self.wish[1]
        if self.comfort is not None and length > self.comfort:
            points += (length - self.comfort) * weights.LONG_SLOT
        if self.previous:
            points += self._move_cost(start, length)
        return points

    def _move_cost(self, start: int, length: int) -> int:
        if (start, length) in self.previous:
            return 0
        away = min(abs(start - was) for was, _ in self.previous)
        return self.moved[0] + min(away, self.far) * self.moved[1]

    def cost_of_omission(self) -> int:
        """Return the cost of leaving it out.

        It is priced as if it lay after everything, so the first of equal items stays.
        """
        return self.reward * weights.SCALE + self.horizon * self.slots * self.rank


def covered_slots(placed: Iterable[Pieces]) -> int:
    """Return the slots that these pieces cover."""
    covered = 0
    for pieces in placed:
        for start, length in pieces:
            covered |= ((1 << length) - 1) << start
    return covered


Placed = list[Pieces]
"""Pieces of each item in time order; empty for an item left out."""


@dataclass(frozen=True, slots=True)
class Breather:
    """Slots wanted free after (or before) some items.

    ``points`` are charged for each such slot that a victim covers.
    """

    members: frozenset[int]
    victims: frozenset[int]
    slots: int
    points: int
    rule: str = ""
    ahead: bool = False
    base: int = 0


@dataclass(frozen=True, slots=True)
class Cap:
    """Limits on some items per day, in slots and in blocks.

    ``taken`` holds the slots and blocks that are there already, by day. ``over`` is the price of a slot (or block)
    too many or too few; it is ``None`` for a hard cap.
    """

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
    """Order of items: blocks of ``first`` come before blocks of ``then``, on each of ``days``.

    ``points`` is the price of each pair that does not; ``None`` makes the order hard.
    """

    rule: str
    first: frozenset[int]
    then: frozenset[int]
    days: tuple[int, ...]
    points: int | None = None
    groups: tuple[int, int] = (0, 0)
    """Numbers of both groups among the groups of the problem."""


@dataclass(slots=True)
class Problem:
    """A compiled day.

    ``busy`` are the slots closed to every item. ``rules`` are the rules in force.
    """

    axis: Axis
    tz: str
    days: tuple[PlannedDay, ...]
    busy: int
    items: list[Item]
    rules: tuple[SlotRule, ...] = ()
    breathers: tuple[Breather, ...] = ()
    caps: tuple[Cap, ...] = ()
    orders: tuple[Order, ...] = ()
    shallow_percent: int | None = None
    deep_blocks: int | None = None
    early: tuple[int, ...] = ()
    """Slot of each day after which the one thing is late; empty when that does not matter."""
    in_force: frozenset[str] = frozenset()
    """Ids of the musts that are kept."""
    looks: int = 0
    """Amount of search done, the same on every machine.

    Looking for a place counts as one to four by its effort, so days with the same number of looks take about equally
    long.
    """
    groups: list[frozenset[int]] = field(default_factory=list, repr=False)
    """Sets of items that caps, orders, or breathers refer to."""
    within: list[tuple[int, ...]] = field(default_factory=list, repr=False)
    """By item: the numbers of its groups."""
    victims: list[int] = field(default_factory=list, repr=False)
    """By breather: the group it is kept free of."""
    breathes: list[tuple[tuple[int, int, bool], ...]] = field(default_factory=list, repr=False)
    """By item: the breathers it wants, as number, slots, and whether they lie ahead of it."""
    takes: list[tuple[int, ...]] = field(default_factory=list, repr=False)
    """By item: the breathers that it must not cover."""
    tight: list[int] = field(default_factory=list, repr=False)
    """By item: the least cost of too little room around it."""
    softly: list[tuple[Order, ...]] = field(default_factory=list, repr=False)
    """By item: its soft orders."""
    orders_of: list[tuple[Order, ...]] = field(default_factory=list, repr=False)
    """By item: its hard orders."""
    late: list[int] = field(default_factory=list, repr=False)
    """By item: the starts that are late for the one thing."""
    bound: list[bool] = field(default_factory=list, repr=False)
    """By item: true when a hard order or cap applies to it."""
    capped: list[bool] = field(default_factory=list, repr=False)
    """By item: true when no hard order applies to it, so only hard caps can."""
    alone: list[bool] = field(default_factory=list, repr=False)
    """By item: true when its cost does not depend on other items."""
    following: list[frozenset[int]] = field(default_factory=list, repr=False)
    """By item: the items that need it, itself included."""
    everywhere: int = 0
    """Slots at which any item may lie."""
    lost: list[int] = field(default_factory=list, repr=False)
    """By item: the cost of leaving it out, in fractions of a point."""
    deep: int = 0
    shallow: int = 0
    """Numbers of the groups of deep and of shallow work."""
    _caps_of: list[tuple[int, ...]] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        self.victims = [self._group(b.victims) for b in self.breathers]
        self.orders = tuple(replace(o, groups=(self._group(o.first), self._group(o.then))) for o in self.orders)
        self.deep, self.shallow = self._group(_kind(self.items, deep=True)), self._group(_kind(self.items, deep=False))
        for item in self.items:
            n = item.index
            self.following.append(self._dependents(n))
            self.everywhere |= item.domain
            self.lost.append(item.cost_of_omission())
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

    def _dependents(self, index: int) -> frozenset[int]:
        found = {index}
        if not any(i.needs for i in self.items):
            return frozenset(found)
        while more := {i.index for i in self.items if i.index not in found and found.intersection(i.needs)}:
            found |= more
        return frozenset(found)

    def _late(self) -> int:
        return sum(day.slots & ~slot_range(0, early + 1) for day, early in zip(self.days, self.early, strict=True))

    # --- hard rules beyond domains and overlaps ---

    def has_room_in_caps(self, placed: Placed, item: Item, start: int, length: int) -> bool:
        """Check whether another piece there satisfies every hard cap."""
        for number in self._caps_of[item.index]:
            cap = self.caps[number]
            day = self.day_of(start)
            if not cap.days[day] >> start & 1:
                continue
            slots, blocks = self.usage(cap, placed, day)
            if cap.most is not None and slots + length > cap.most:
                return False
            if cap.count is not None and blocks + 1 > cap.count:
                return False
        return True

    def full_starts(self, placed: Placed, item: Item, length: int) -> int:
        """Return the starts at which another piece breaks a hard cap."""
        over = 0
        for number in self._caps_of[item.index]:
            cap = self.caps[number]
            for day, on in enumerate(cap.days):
                if on:
                    slots, blocks = self.usage(cap, placed, day)
                    if (cap.most is not None and slots + length > cap.most) or (
                        cap.count is not None and blocks + 1 > cap.count
                    ):
                        over |= on
        return over

    def is_hopeless(self, placed: Placed, item: Item) -> bool:
        """Check whether the hard caps rule out an item everywhere."""
        for number in self._caps_of[item.index]:
            cap = self.caps[number]
            if cap.most is not None and all(
                on and self.usage(cap, placed, day)[0] + min(n for n, _ in item.lengths) > cap.most
                for day, on in enumerate(cap.days)
            ):
                return len(self.days) == 1 or item.most_pieces == 1
        return False

    def usage(self, cap: Cap, placed: Placed, day: int) -> tuple[int, int]:
        """Return the slots and blocks that a cap's items and earlier entries take on a day."""
        slots, blocks = cap.taken[day]
        on = cap.days[day]
        for index in cap.members:
            for start, length in placed[index]:
                if on >> start & 1:
                    slots += length
                    blocks += 1
        return slots, blocks

    def violated_caps(self, placed: Placed) -> tuple[str, ...]:
        """Return the hard rules whose minimum is not reached or whose maximum is exceeded."""
        broken = []
        for cap in self.caps:
            if cap.over is None:
                used = [self.usage(cap, placed, day) for day, on in enumerate(cap.days) if on]
                if any(cap.least is not None and slots < cap.least for slots, _ in used) or any(
                    (cap.most is not None and slots > cap.most) or (cap.count is not None and blocks > cap.count)
                    for slots, blocks in used
                ):
                    broken.append(cap.rule)
        return tuple(broken)

    def is_ordered(self, placed: Placed, item: Item, start: int, length: int) -> bool:
        """Check whether a piece there comes after its predecessors and before its successors."""
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
        """Return the number of the planned day that a slot belongs to."""
        if len(self.days) == 1:
            return 0
        return next((n for n, day in enumerate(self.days) if day.slots >> slot & 1), len(self.days) - 1)


def _kind(items: Sequence[Item], *, deep: bool) -> frozenset[int]:
    return frozenset(i.index for i in items if i.work and i.deep is deep)


def empty_placement(items: Sequence[Item]) -> Placed:
    """Return a placement without any pieces."""
    return [()] * len(items)
