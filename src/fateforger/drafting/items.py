"""Items to be placed: their lengths, allowed slots, and prices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from fateforger.drafting import weights
from fateforger.drafting.axis import run_starts, slots_of
from fateforger.plan import ET

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
