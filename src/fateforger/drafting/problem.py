"""Compiled problem of a day: items, shared constraints, and hard rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, field

from fateforger.drafting import weights
from fateforger.drafting.axis import Axis, PlannedDay, run_starts, slots_of, spread
from fateforger.drafting.instance import Policy
from fateforger.planning.plan import ET, WORK
from fateforger.planning.timing import GRID
from fateforger.values import replace

Piece = tuple[int, int]
"""First slot and number of slots."""
Pieces = tuple[Piece, ...]
Masks = tuple[int, int, tuple[tuple[int, int], ...]]
"""Slots covered by pieces of an item, slots kept free after them, and slots wanted free by soft gap."""
REST = frozenset({ET.REGENERATION, ET.HABIT, ET.BUFFER, ET.COMMUTE, ET.BACKGROUND})
"""Kinds during which a person breathes: a pause between two runs of focus."""
SHORT_DAY = 24
"""Free slots up to which a day is too short to keep some of them free: two hours."""
SITTING = 9
"""Slots below which a piece of deep work hardly gets anywhere: three quarters of an hour."""
PAUSE = 2
"""Slots that make a pause."""


@dataclass(frozen=True, slots=True)
class Price:
    """A price for covering slots.

    A block costs ``slot`` points for each slot of ``where`` that it covers, and ``base`` once for covering any.
    """

    where: int
    slot: int
    base: int = 0


@dataclass(frozen=True, slots=True)
class Source:
    """Purpose of an item: a task, a pinned block, the person's own block, lunch, or the shutdown.

    ``over`` are the minutes by which its slots exceed its length. ``one`` marks the one thing. ``way`` are the
    slots of the way there, and of the way back, which the item takes as well.
    """

    id: str
    task: str | None
    title: str
    kind: ET
    key: str | None = None
    notes: str = ""
    over: int = 0
    one: bool = False
    pinned: bool = False
    way: int = 0


@dataclass(slots=True)
class PieceBounds:
    """Bounds on the pieces of an item: their number, and their lengths in slots.

    Above ``comfort`` slots, a piece costs points for each slot more.
    """

    most: int = 1
    shortest: int = 1
    longest: int = 288
    comfort: int | None = None


@dataclass(slots=True)
class Preferences:
    """Costs of the places of an item, in points.

    ``start`` is the preferred start, with the points for each slot away from it. A piece that is not where it was in
    the previous plan costs ``moved``: points, and points for each slot that it moved, up to ``far`` slots.
    """

    prices: tuple[Price, ...] = ()
    start: tuple[int, int] | None = None
    previous: Pieces = ()
    previous_keys: tuple[str, ...] = ()
    moved: tuple[int, int] = (weights.MOVED, weights.MOVED_SLOT)
    far: int = weights.MOVED_FAR

    def cost(self, start: int, length: int) -> int:
        """Return the points of a piece at that place."""
        covered = ((1 << length) - 1) << start
        points = 0
        for price in self.prices:
            hit = (covered & price.where).bit_count()
            if hit:
                points += price.base + hit * price.slot
        if self.start is not None:
            points += abs(start - self.start[0]) * self.start[1]
        if self.previous and (start, length) not in self.previous:
            away = min(abs(start - was) for was, _ in self.previous)
            points += self.moved[0] + min(away, self.far) * self.moved[1]
        return points


@dataclass(slots=True)
class Precedence:
    """Items that, where placed, must end before an item begins, or begin after it ends.

    ``needs`` are the predecessors without which it is not placed.
    """

    needs: tuple[int, ...] = ()
    predecessors: tuple[int, ...] = ()
    successors: tuple[int, ...] = ()


@dataclass(slots=True)
class Cache:
    """Results for an item that recur in a search: by its pieces, and by the length of a piece."""

    costs: dict[Pieces, int] = field(default_factory=dict)
    masks: dict[Pieces, Masks] = field(default_factory=dict)
    tables: dict[int, tuple[dict[int, int], list[tuple[int, int]]]] = field(default_factory=dict)


@dataclass(slots=True)
class Coupling:
    """Shared constraints of a problem that concern one item, by their numbers where they are not values.

    ``soft_gaps`` are those that it wants, as number, slots, and whether they lie ahead of it; ``avoided`` those that it
    should not cover; ``tight`` is the least cost of too little room around it. ``late`` are the starts that are late
    for the one thing. ``dependents`` are the items that need it, itself included. ``lost`` is the cost of leaving it
    out, in fractions of a point. A hard order applies to an ``ordered`` item, a hard order or cap to a ``constrained``
    one. The cost of one that is ``alone`` does not depend on other items.
    """

    groups: tuple[int, ...] = ()
    soft_gaps: tuple[tuple[int, int, bool], ...] = ()
    avoided: tuple[int, ...] = ()
    tight: int = 0
    soft_orders: tuple[Order, ...] = ()
    hard_orders: tuple[Order, ...] = ()
    hard_caps: tuple[Cap, ...] = ()
    late: int = 0
    dependents: frozenset[int] = frozenset()
    lost: int = 0
    ordered: bool = False
    constrained: bool = False
    alone: bool = True


@dataclass(slots=True, eq=False)
class Item:
    """An item to be placed.

    ``lengths`` are the slots that it may take in one piece, each with its points; the first is the full length.
    ``domain`` are the slots where it may lie. ``firm`` are the only slots at which a pinned or fixed item may begin.
    ``gap`` slots after it must stay free, but for those outside ``clear``, which nothing can take.
    """

    index: int
    source: Source
    lengths: tuple[tuple[int, int], ...]
    reward: int
    rank: int
    domain: int
    firm: int | None = None
    gap: int = 0
    clear: int = -1
    required: bool = False
    bounds: PieceBounds = field(default_factory=PieceBounds)
    preferences: Preferences = field(default_factory=Preferences)
    precedence: Precedence = field(default_factory=Precedence)
    coupling: Coupling = field(default_factory=Coupling)
    cache: Cache = field(default_factory=Cache, repr=False)

    @property
    def slots(self) -> int:
        return self.lengths[0][0]

    @property
    def minutes(self) -> int:
        """Its length in minutes, with the way there and back."""
        return self.slots * GRID - self.source.over + 2 * self.source.way * GRID

    @property
    def smallest(self) -> tuple[int, int]:
        """Fewest slots that it takes in total, and in a row."""
        least = self.lengths[-1][0]
        return least, least if self.bounds.most == 1 else min(least, self.bounds.shortest)

    @property
    def deep(self) -> bool:
        return self.source.kind is ET.DEEP_WORK

    @property
    def work(self) -> bool:
        return self.source.kind in WORK

    @property
    def given_slots(self) -> int:
        """Slots of work that begins at a given time; none for another item."""
        return spread(self.starts(self.slots), self.slots) if self.work and self.firm is not None else 0

    def starts(self, length: int) -> int:
        """Return the slots at which a piece of that length may begin on an otherwise empty day."""
        if length > self.bounds.longest:
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
        table = self.cache.tables.get(length)
        if table is None:
            prices: dict[int, int] = {}
            levels: dict[int, int] = {}
            for start in slots_of(self.starts(length)):
                points = self.points(start, length)
                prices[start] = points * weights.SCALE + start * length * self.rank
                levels[points] = levels.get(points, 0) | 1 << start
            table = self.cache.tables[length] = prices, sorted(levels.items())
        return table

    def points(self, start: int, length: int) -> int:
        """Return the cost of a piece in whole points, without the price of a later start."""
        points = self.preferences.cost(start, length)
        comfort = self.bounds.comfort
        if comfort is not None and length > comfort:
            points += (length - comfort) * weights.LONG_SLOT
        if length < min(SITTING, self.slots) and self.bounds.most > 1:
            points += (min(SITTING, self.slots) - length) * weights.SHORT_SLOT
        return points


Placed = list[Pieces]
"""Pieces of each item in time order; empty for an item left out."""


@dataclass(frozen=True, slots=True)
class SoftGap:
    """Slots wanted free after (or before) some items.

    ``points`` are charged for each such slot that one of ``avoiding`` covers.
    """

    members: frozenset[int]
    avoiding: frozenset[int]
    slots: int
    points: int
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
    """Order of items: blocks of ``first`` come before blocks of ``then``, within each of the stretches ``days``.

    An order of types holds on each day, an order of named tasks across days. ``points`` is the price of each pair that
    does not; ``None`` makes the order hard.
    """

    first: frozenset[int]
    then: frozenset[int]
    days: tuple[int, ...]
    points: int | None = None
    groups: tuple[int, int] = (0, 0)
    """Numbers of both groups among the groups of the problem."""


@dataclass(slots=True)
class Problem:
    """A compiled day.

    ``in_force`` are the ids of the musts that are kept, ``late`` the starts that are late for the one thing, by its
    item. ``groups`` are the sets of items that caps, orders, or soft gaps refer to; ``avoiding`` holds, by soft gap,
    the group that must not cover it. ``restless`` are the slots of events and past blocks that are no rest.
    """

    axis: Axis
    days: tuple[PlannedDay, ...]
    policy: Policy
    items: list[Item]
    soft_gaps: tuple[SoftGap, ...]
    caps: tuple[Cap, ...]
    orders: tuple[Order, ...]
    in_force: frozenset[str]
    late: InitVar[Mapping[int, int]]
    restless: int = 0
    effort: int = 0
    """Amount of search done, the same on every machine.

    Looking for a place counts as one to four by its effort, so days with the same effort take about equally long.
    """
    groups: list[frozenset[int]] = field(default_factory=list, repr=False)
    avoiding: list[int] = field(default_factory=list, repr=False)
    everywhere: int = 0
    """Slots at which any item may lie."""
    deep: int = 0
    shallow: int = 0
    active: int = 0
    """Numbers of the groups of deep work, of shallow work, and of all that is no rest."""
    slack: tuple[tuple[int, int], ...] = ()
    """Open slots of each day with the number of them that may be taken before slack is."""
    deep_block: int = weights.DEEP_BLOCK
    """Points for each block of deep work beyond the number that a day holds; more where the person set the number."""

    def __post_init__(self, late: Mapping[int, int]) -> None:
        if "deep_blocks" in self.policy.model_fields_set:
            self.deep_block = weights.DEEP_BLOCK_SAID
        self.avoiding = [self._group(b.avoiding) for b in self.soft_gaps]
        self.orders = tuple(replace(o, groups=(self._group(o.first), self._group(o.then))) for o in self.orders)
        self.deep, self.shallow = self._group(_kind(self.items, deep=True)), self._group(_kind(self.items, deep=False))
        self.active = self._group(frozenset(i.index for i in self.items if i.source.kind not in REST))
        for item in self.items:
            self.everywhere |= item.domain
            item.coupling = self._couple(item, late.get(item.index, 0))
        if self.policy.slack_percent:
            opened = (self.everywhere & day.slots for day in self.days)
            share = 100 - self.policy.slack_percent
            self.slack = tuple((o, o.bit_count() * share // 100) for o in opened if o.bit_count() > SHORT_DAY)

    def _couple(self, item: Item, late: int) -> Coupling:
        n = item.index
        mine = [o for o in self.orders if n in o.first or n in o.then]
        hard = tuple(o for o in mine if o.points is None)
        near = [b.points + b.base for b in self.soft_gaps if n in b.members or n in b.avoiding]
        ordered = bool(hard or item.precedence.predecessors or item.precedence.successors)
        caps = tuple(cap for cap in self.caps if cap.over is None and n in cap.members)
        soft_gaps = tuple((m, b.slots, b.ahead) for m, b in enumerate(self.soft_gaps) if n in b.members)
        avoided = tuple(m for m, b in enumerate(self.soft_gaps) if n in b.avoiding)
        soft = tuple(o for o in mine if o.points is not None)
        return Coupling(
            groups=tuple(m for m, group in enumerate(self.groups) if n in group),
            soft_gaps=soft_gaps,
            avoided=avoided,
            tight=min(near, default=0),
            soft_orders=soft,
            hard_orders=hard,
            hard_caps=caps,
            late=late,
            dependents=self._dependents(n),
            # An omission is priced as if it lay after everything, so the first of equal items stays.
            lost=item.reward * weights.SCALE + self.axis.slots * item.slots * item.rank,
            ordered=ordered,
            constrained=ordered or bool(caps),
            alone=not (soft_gaps or avoided or soft or late),
        )

    def _group(self, members: frozenset[int]) -> int:
        if members not in self.groups:
            self.groups.append(members)
        return self.groups.index(members)

    def _dependents(self, index: int) -> frozenset[int]:
        found = {index}
        while more := {i.index for i in self.items if i.index not in found and found.intersection(i.precedence.needs)}:
            found |= more
        return frozenset(found)

    # --- hard rules beyond domains and overlaps ---

    def has_room_in_caps(self, placed: Placed, item: Item, start: int, length: int) -> bool:
        """Check whether another piece there satisfies every hard cap."""
        for cap in item.coupling.hard_caps:
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
        for cap in item.coupling.hard_caps:
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
        for cap in item.coupling.hard_caps:
            if cap.most is not None and all(
                on and self.usage(cap, placed, day)[0] + min(n for n, _ in item.lengths) > cap.most
                for day, on in enumerate(cap.days)
            ):
                return len(self.days) == 1 or item.bounds.most == 1
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
        for need in item.precedence.needs:
            if not placed[need] or placed[need][-1][0] + placed[need][-1][1] > start:
                return False
        for other in item.precedence.predecessors:
            pieces = placed[other]
            if pieces and pieces[-1][0] + pieces[-1][1] > start:
                return False
        for other in item.precedence.successors:
            pieces = placed[other]
            if pieces and pieces[0][0] < start + length:
                return False
        orders = item.coupling.hard_orders
        return not orders or all(self._in_order(order, placed, item, start, length) for order in orders)

    def _in_order(self, order: Order, placed: Placed, item: Item, start: int, length: int) -> bool:
        first = item.index in order.first
        on = next((on for on in order.days if on >> start & 1), 0)
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
