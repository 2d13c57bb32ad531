"""A day compiled for the search: items, what they share, and what a placement of all of them costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fateforger.drafting import weights
from fateforger.drafting.axis import Axis
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
    """How often a place was looked for: the measure of work done, the same on every machine."""
    beside: list[tuple[tuple[int, bool, bool], ...]] = field(default_factory=list, repr=False)
    """By item, the breathers that it has to do with: their number, whether it wants that room, whether it takes it."""
    softly: list[tuple[Order, ...]] = field(default_factory=list, repr=False)
    """By item, the orders that may be broken."""
    bound: list[bool] = field(default_factory=list, repr=False)
    """By item, whether a hard order or cap is about it."""
    _caps_of: list[tuple[int, ...]] = field(default_factory=list, repr=False)
    _orders_of: list[tuple[Order, ...]] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        for item in self.items:
            n = item.index
            caps = tuple(m for m, cap in enumerate(self.caps) if cap.over is None and n in cap.members)
            orders = tuple(o for o in self.orders if o.points is None and (n in o.first or n in o.then))
            self.softly.append(tuple(o for o in self.orders if o.points is not None and (n in o.first or n in o.then)))
            near = ((m, n in b.members, n in b.victims) for m, b in enumerate(self.breathers))
            self._caps_of.append(caps)
            self._orders_of.append(orders)
            self.beside.append(tuple(each for each in near if each[1] or each[2]))
            self.bound.append(bool(caps or orders or item.needs or item.before or item.behind))

    # --- what has to be kept, beyond domains and overlaps ---

    def room_in_caps(self, placed: Placed, item: Item, start: int, length: int) -> bool:
        """Whether another piece there keeps every hard cap."""
        for number in self._caps_of[item.index]:
            cap = self.caps[number]
            day = self.day_of(start)
            if not cap.days[day] >> start & 1:
                continue
            slots, blocks = self._used(cap, placed, day)
            if cap.most is not None and slots + length > cap.most:
                return False
            if cap.count is not None and blocks + 1 > cap.count:
                return False
        return True

    def hopeless(self, placed: Placed, item: Item) -> bool:
        """Whether the hard caps have no room for it, wherever it were."""
        for number in self._caps_of[item.index]:
            cap = self.caps[number]
            if cap.most is not None and all(
                on and self._used(cap, placed, day)[0] + min(n for n, _ in item.lengths) > cap.most
                for day, on in enumerate(cap.days)
            ):
                return len(self.days) == 1 or item.most_pieces == 1
        return False

    def _used(self, cap: Cap, placed: Placed, day: int) -> tuple[int, int]:
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
                used = [self._used(cap, placed, day) for day, on in enumerate(cap.days) if on]
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
        orders = self._orders_of[item.index]
        return not orders or all(self._in_order(order, placed, item, start, length) for order in orders)

    def out_of_order(self, placed: Placed, item: Item, start: int, length: int) -> int:
        """About what a piece there costs for coming before or behind what it should not."""
        return sum(
            order.points or 0
            for order in self.softly[item.index]
            if not self._in_order(order, placed, item, start, length)
        )

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

    # --- what a placement costs ---

    def cost(self, placed: Placed) -> int:
        """In parts of a point; the less, the better. Only for placements that keep what has to be kept."""
        total = 0
        for item, pieces in zip(self.items, placed, strict=True):
            if not pieces:
                total += item.reward * weights.SCALE
                continue
            for start, length in pieces:
                total += item.priced(length)[start]
            total += self.shape(item, pieces) * weights.SCALE
        return total + self.shared(placed) * weights.SCALE

    def shape(self, item: Item, pieces: Pieces) -> int:
        """Points for how an item is cut, and for how late its first piece begins when it is the one thing."""
        points = weights.PIECE * (len(pieces) - 1)
        if len(item.lengths) > 1:
            points += next((price for length, price in item.lengths if length == pieces[0][1]), 0)
        if item.one and self.early and pieces[0][0] > self.early[self.day_of(pieces[0][0])]:
            points += weights.ONE_THING_LATE
        return points

    def shared(self, placed: Placed) -> int:
        """Points for what no item is to blame for alone."""
        points = 0
        for breather in self.breathers:
            points += self.cramped(breather, placed)
        for cap in self.caps:
            if cap.over is not None:
                points += self.excess(cap, placed)
        for order in self.orders:
            if order.points is not None:
                points += order.points * self.swapped(order, placed)
        if self.shallow_percent is not None or self.deep_blocks is not None:
            points += self._macro(placed)
        return points

    def cramped(self, breather: Breather, placed: Placed) -> int:
        """Points for the slots of a breather that work covers."""
        wanted = 0
        if breather.ahead:
            for on in self.days:
                begins = sorted(s for m in breather.members for s, _ in placed[m] if on.slots >> s & 1)
                for start in begins[1:]:
                    wanted |= ((1 << breather.slots) - 1) << max(0, start - breather.slots)
        else:
            area = (1 << breather.slots) - 1
            for member in breather.members:
                for start, length in placed[member]:
                    wanted |= area << (start + length)
        if not wanted:
            return 0
        covered = 0
        for victim in breather.victims:
            for start, length in placed[victim]:
                covered |= ((1 << length) - 1) << start
        hit = (wanted & covered).bit_count()
        return breather.base + breather.points * hit if hit else 0

    def excess(self, cap: Cap, placed: Placed) -> int:
        """Points for what is too much or too little."""
        points = 0
        for day, on in enumerate(cap.days):
            if not on:
                continue
            slots, blocks = self._used(cap, placed, day)
            off = 0
            if cap.most is not None and slots > cap.most:
                off += slots - cap.most
            if cap.count is not None and blocks > cap.count:
                off += 3 * (blocks - cap.count)
            if cap.least is not None and slots < cap.least:
                off += cap.least - slots
            if off:
                points += cap.base + off * (cap.over or 0)
        return points

    def swapped(self, order: Order, placed: Placed) -> int:
        """Pairs that are the wrong way round."""
        wrong = 0
        for on in order.days:
            firsts = [(s + n) for m in order.first for s, n in placed[m] if on >> s & 1]
            thens = [s for m in order.then for s, _ in placed[m] if on >> s & 1]
            wrong += sum(end > start for end in firsts for start in thens)
        return wrong

    def _macro(self, placed: Placed) -> int:
        deep, shallow, blocks = [0] * len(self.days), [0] * len(self.days), [0] * len(self.days)
        for item, pieces in zip(self.items, placed, strict=True):
            if item.work:
                for start, length in pieces:
                    day = self.day_of(start)
                    if item.deep:
                        deep[day] += length
                        blocks[day] += 1
                    else:
                        shallow[day] += length
        points = 0
        for day in range(len(self.days)):
            if self.shallow_percent is not None:
                over = shallow[day] * 100 - self.shallow_percent * (deep[day] + shallow[day])
                points += weights.SHALLOW_SLOT * -(-over // 100) if over > 0 else 0
            if self.deep_blocks is not None and blocks[day] > self.deep_blocks:
                points += weights.DEEP_BLOCK * (blocks[day] - self.deep_blocks)
        return points


def empty(items: Sequence[Item]) -> Placed:
    """Nothing placed."""
    return [()] * len(items)
