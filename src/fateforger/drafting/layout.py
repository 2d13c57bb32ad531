"""A placement that is being built: where the next piece is cheapest, in sets of slots."""

from __future__ import annotations

from collections.abc import Iterable

from fateforger.drafting import weights
from fateforger.drafting.axis import runs, stretches
from fateforger.drafting.items import Item, Pieces
from fateforger.drafting.problem import Placed, Problem, empty

_SITTING = 18
"""Slots of a good sitting: 90 minutes."""


class Layout:
    """``placed`` by item; ``taken`` slots are covered, ``kept`` ones have to stay free behind a block."""

    __slots__ = ("covered", "kept", "placed", "problem", "taken", "wanted")

    def __init__(self, problem: Problem, placed: Placed | None = None) -> None:
        self.problem = problem
        self.placed = empty(problem.items) if placed is None else list(placed)
        self._rebuild()

    def _rebuild(self) -> None:
        self.taken = self.kept = 0
        self.wanted = [0] * len(self.problem.breathers)
        self.covered = [0] * len(self.problem.breathers)
        for item, pieces in zip(self.problem.items, self.placed, strict=True):
            if pieces:
                self._mark(item, pieces)

    def _mark(self, item: Item, pieces: Pieces) -> None:
        beside = self.problem.beside[item.index]
        for start, length in pieces:
            bits = ((1 << length) - 1) << start
            self.taken |= bits
            if item.gap:
                self.kept |= ((1 << item.gap) - 1) << (start + length)
            for number, wants, takes in beside:
                if takes:
                    self.covered[number] |= bits
                if wants:
                    breather = self.problem.breathers[number]
                    at = max(0, start - breather.slots) if breather.ahead else start + length
                    self.wanted[number] |= ((1 << breather.slots) - 1) << at

    def take(self, item: Item, pieces: Pieces) -> None:
        """Place an item."""
        self.placed[item.index] = pieces
        self._mark(item, pieces)

    def drop(self, indexes: Iterable[int]) -> None:
        """Take items off, with all that needs them."""
        gone = set(indexes)
        while more := {i.index for i in self.problem.items if i.index not in gone and gone.intersection(i.needs)}:
            gone |= more
        for index in gone:
            if not self.problem.items[index].pinned:
                self.placed[index] = ()
        self._rebuild()

    def spots(self, item: Item, length: int) -> int:
        """The slots at which a piece can begin, as far as time alone says."""
        spots = runs(item.domain & ~(self.taken | self.kept), length)
        if item.gap and spots:
            spots &= runs(~self.taken, item.gap) >> length
        return spots

    def fits(self, item: Item, pieces: Pieces) -> bool:
        """Whether these pieces keep everything that has to be kept."""
        trial = self.copy()
        for start, length in pieces:
            if not (
                trial.spots(item, length) >> start & 1
                and start in item.priced(length)
                and self.problem.ordered(trial.placed, item, start, length)
                and self.problem.room_in_caps(trial.placed, item, start, length)
            ):
                return False
            trial.take(item, tuple(sorted((*trial.placed[item.index], (start, length)))))
        return True

    def copy(self) -> Layout:
        """The same placement, to go on from."""
        other = Layout.__new__(Layout)
        other.problem, other.placed = self.problem, list(self.placed)
        other.taken, other.kept = self.taken, self.kept
        other.wanted, other.covered = list(self.wanted), list(self.covered)
        return other

    def best(self, item: Item, length: int, ceiling: int | None = None) -> tuple[int, int] | None:
        """The cheapest start for a piece, as cost and slot; ``None`` when there is none below the ceiling."""
        self.problem.looks += 1
        spots = self.spots(item, length)
        if not spots:
            return None
        found: tuple[int, int] | None = None
        problem = self.problem
        hard = problem.bound[item.index]
        for price, start in item.cheapest(length):
            if ceiling is not None and price >= ceiling:
                break
            if not spots >> start & 1:
                continue
            if hard and not (
                problem.ordered(self.placed, item, start, length)
                and problem.room_in_caps(self.placed, item, start, length)
            ):
                continue
            total = price + self._beside(item, start, length)
            if ceiling is None or total < ceiling:
                found, ceiling = (total, start), total
        return found

    def _beside(self, item: Item, start: int, length: int) -> int:
        """About what lying beside the others costs there."""
        points = 0
        bits = ((1 << length) - 1) << start
        for number, wants, takes in self.problem.beside[item.index]:
            breather = self.problem.breathers[number]
            hit = (bits & self.wanted[number]).bit_count() if takes else 0
            if wants:
                at = max(0, start - breather.slots) if breather.ahead else start + length
                hit += ((((1 << breather.slots) - 1) << at) & self.covered[number]).bit_count()
            if hit:
                points += hit * breather.points + breather.base
        if self.problem.softly[item.index]:
            points += self.problem.out_of_order(self.placed, item, start, length)
        if item.one and self.problem.early and start > self.problem.early[self.problem.day_of(start)]:
            points += weights.ONE_THING_LATE
        return points * weights.SCALE

    def insert(self, item: Item, *, cut: bool = False) -> bool:
        """Place an item where it is cheapest, in one piece if that can be; ``cut`` looks at pieces as well."""
        if self.problem.bound[item.index] and self.problem.hopeless(self.placed, item):
            self.problem.looks += 2
            return False
        found: tuple[int, Pieces] | None = None
        for length, price in item.lengths:
            ceiling = None if found is None else found[0] - price * weights.SCALE
            spot = self.best(item, length, ceiling)
            if spot is not None:
                found = spot[0] + price * weights.SCALE, ((spot[1], length),)
        if item.most_pieces > 1 and (found is None or cut or (item.comfort is not None and item.slots > item.comfort)):
            pieces = self.cut(item, item.slots, item.most_pieces, None if found is None else found[0])
            if pieces is not None:
                found = pieces
        if found is None:
            return False
        if not item.required and found[0] > item.reward * weights.SCALE:
            return False
        self.take(item, tuple(sorted(found[1])))
        return True

    def cut(self, item: Item, slots: int, most: int, ceiling: int | None) -> tuple[int, Pieces] | None:
        """The cheapest way found to place ``slots`` in two pieces or more."""
        found: tuple[int, Pieces] | None = None
        for length in self._lengths(item, slots):
            spot = self.best(item, length, ceiling)
            if spot is None:
                continue
            rest = self.copy()
            rest.take(item, tuple(sorted((*rest.placed[item.index], (spot[1], length)))))
            cost = spot[0] + weights.PIECE * weights.SCALE
            left = None if ceiling is None else ceiling - cost
            last = rest.best(item, slots - length, left)
            more: tuple[int, Pieces] | None = None if last is None else (last[0], ((last[1], slots - length),))
            if more is None and most > 2:
                more = rest.cut(item, slots - length, most - 1, left)
            if more is not None and (ceiling is None or cost + more[0] < ceiling):
                ceiling = cost + more[0]
                found = ceiling, ((spot[1], length), *more[1])
        return found

    def _lengths(self, item: Item, slots: int) -> list[int]:
        """First pieces worth trying: a good sitting, a half, what is long enough, and what fills a free stretch."""
        shortest, longest = item.shortest, min(slots - item.shortest, item.longest)
        if longest < shortest:
            return []
        rooms = [n - item.gap for _, n in stretches(item.domain & ~(self.taken | self.kept))]
        rooms = [n for n in rooms if n >= item.shortest]
        if sum(rooms) < slots:
            return []
        widest = sorted(set(rooms), reverse=True)[:2]
        tried = (*widest, _SITTING, (slots + 1) // 2, item.comfort or longest, shortest)
        if slots < item.slots:
            tried = (*widest, shortest)
        return list(dict.fromkeys(min(max(n, shortest), longest) for n in tried))
