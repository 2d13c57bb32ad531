"""What is to be placed, as the engine sees it: lengths, slots where it may lie, and what lying there costs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from fateforger.drafting import weights
from fateforger.drafting.axis import runs, slots_of
from fateforger.plan import ET

Piece = tuple[int, int]
"""First slot and number of slots."""
Pieces = tuple[Piece, ...]
Mark = tuple[int, int, tuple[tuple[int, int], ...]]
"""What pieces of an item cover, what has to stay free behind them, and by breather what it wants free."""
WORK = frozenset({ET.DEEP_WORK, ET.SHALLOW_WORK})


@dataclass(frozen=True, slots=True)
class Price:
    """Points for each slot of ``where`` that a block covers, and ``base`` once for covering any. ``rule`` is the
    cause."""

    where: int
    slot: int
    base: int = 0
    rule: str = ""


@dataclass(slots=True, eq=False)
class Item:
    """Something to place. ``lengths`` are the slots it may take in one piece, each with its points; the first is the
    whole. ``domain``: the slots where it may lie. ``firm``: the only slots at which a pinned or fixed one may begin."""

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
    """A start that is wished for, with the points for each slot away from it."""
    firm: int | None = None
    most_pieces: int = 1
    shortest: int = 1
    longest: int = 288
    comfort: int | None = None
    """A piece longer than this costs points for each slot more."""
    gap: int = 0
    """Slots behind it that have to stay free."""
    clear: int = -1
    """The slots that may follow it within its gap: all but busy ones."""
    required: bool = False
    pinned: bool = False
    one: bool = False
    needs: tuple[int, ...] = ()
    before: tuple[int, ...] = ()
    """Items that, where placed, have to end before it begins."""
    behind: tuple[int, ...] = ()
    previous: Pieces = ()
    previous_keys: tuple[str, ...] = ()
    moved: tuple[int, int] = (weights.MOVED, weights.MOVED_SLOT)
    """Points for a piece that does not lie where it lay, and for each slot that it is away from there."""
    far: int = weights.MOVED_FAR
    """Slots from which on being further away costs no more."""
    horizon: int = 0
    """The slot behind all days."""
    over: int = 0
    """Minutes by which its slots are longer than it is."""
    key: str | None = None
    notes: str = ""
    costs: dict[Pieces, int] = field(default_factory=dict, repr=False)
    """What these pieces of it cost, as far as that was asked."""
    marks: dict[Pieces, Mark] = field(default_factory=dict, repr=False)
    """What these pieces of it take, as far as that was asked."""
    _tables: dict[int, tuple[dict[int, int], list[tuple[int, int]]]] = field(default_factory=dict, repr=False)

    @property
    def slots(self) -> int:
        return self.lengths[0][0]

    @property
    def smallest(self) -> tuple[int, int]:
        """The fewest slots that it takes in all, and in a row."""
        least = self.lengths[-1][0]
        return least, least if self.most_pieces == 1 else min(least, self.shortest)

    @property
    def deep(self) -> bool:
        return self.kind is ET.DEEP_WORK

    @property
    def work(self) -> bool:
        return self.kind in WORK

    def starts(self, length: int) -> int:
        """The slots at which a piece of that length may begin, whatever else is placed."""
        if length > self.longest:
            return 0
        at = runs(self.domain, length)
        if self.gap:
            at &= runs(self.clear, self.gap) >> length
        return at if self.firm is None else at & self.firm

    def priced(self, length: int) -> dict[int, int]:
        """What a piece of that length costs at each start, in parts of a point."""
        return self._table(length)[0]

    def levels(self, length: int) -> list[tuple[int, int]]:
        """What a piece of that length costs, in whole points, with the starts where it does; the cheapest first."""
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
        """What a piece costs there, in whole points, without the price of being late in the day."""
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
            points += self._moved(start, length)
        return points

    def _moved(self, start: int, length: int) -> int:
        if (start, length) in self.previous:
            return 0
        away = min(abs(start - was) for was, _ in self.previous)
        return self.moved[0] + min(away, self.far) * self.moved[1]

    def lost(self) -> int:
        """What leaving it out costs: as if it lay behind everything, so that of equals the first one stays."""
        return self.reward * weights.SCALE + self.horizon * self.slots * self.rank


def pieces_of(placed: Iterable[Pieces]) -> int:
    """The slots that these pieces cover."""
    covered = 0
    for pieces in placed:
        for start, length in pieces:
            covered |= ((1 << length) - 1) << start
    return covered
