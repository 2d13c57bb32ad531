"""One-to-one pairing at least cost: as many pairs as possible first, then the cheapest such pairing.

This is the Hungarian method with shortest augmenting paths over the columns that a row may take, plus an implicit "no
partner" column per row. Pure Python on purpose: plans have tens of blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_FAR = 1 << 62


def assign(costs: Sequence[Mapping[int, int]], columns: int) -> list[int | None]:
    """Return the column of each row, or ``None``. ``costs[row]`` maps the columns it may take to costs >= 0.

    The same input gives the same answer; of several best pairings, the order of rows decides.
    """
    pairing = _Pairing(costs, columns)
    for row, options in enumerate(costs):
        if options:
            pairing.seat(row)
    return pairing.partner


class _Pairing:
    """A pairing of the rows seated so far, and the prices that prove it optimal.

    No pair costs less than the prices of its two sides, chosen pairs cost exactly that, and a vacant column has price
    zero.
    """

    def __init__(self, costs: Sequence[Mapping[int, int]], columns: int) -> None:
        self.alone = 1 + sum(max(row.values(), default=0) for row in costs)
        """Staying unpaired costs more than any pairing, so the number of pairs comes first."""
        self.costs = costs = _reduce(costs, columns)
        self.holder: dict[int, int] = {}
        self.partner: list[int | None] = [None] * len(costs)
        self.row_price = [0] * len(costs)
        self.column_price = [0] * columns
        self.vacant = [sorted(row, key=row.__getitem__, reverse=True) for row in costs]
        """The columns of each row, the best one last; taken ones are dropped when they reach the end."""

    def seat(self, root: int) -> None:
        """Find the cheapest place for one more row, moving others if needed (Dijkstra on reduced costs)."""
        price = self.column_price
        distance = dict.fromkeys(self.holder, _FAR)
        came_from: dict[int, int] = {}
        done: dict[int, int] = {}
        reached: list[tuple[int, int]] = []
        total, last, free = _FAR, root, None
        row, base = root, 0
        while True:
            reached.append((row, base))
            options, offset = self.costs[row], base - self.row_price[row]
            place, cost = self._vacancy(row)
            if offset + cost < total:
                total, last, free = offset + cost, row, place
            nearest, base = None, total
            for column, known in distance.items():
                reach = offset + options.get(column, _FAR) - price[column]
                if reach < known:
                    distance[column], came_from[column] = reach, row
                else:
                    reach = known
                if reach < base:
                    nearest, base = column, reach
            if nearest is None:
                break
            done[nearest] = distance.pop(nearest)
            row = self.holder[nearest]
        for seen, at in reached:
            self.row_price[seen] += total - at
        for column, at in done.items():
            price[column] -= total - at
        self._shift(root, last, free, came_from)

    def _vacancy(self, row: int) -> tuple[int | None, int]:
        """Return the best vacant column for a row, or ``None``, and its cost."""
        vacant = self.vacant[row]
        while vacant and vacant[-1] in self.holder:
            vacant.pop()
        if not vacant:
            return None, self.alone
        return vacant[-1], self.costs[row][vacant[-1]]

    def _shift(self, root: int, last: int, free: int | None, came_from: Mapping[int, int]) -> None:
        """Walk the found path back and move each row on it to the next column."""
        row, column = last, free
        while True:
            previous = self.partner[row]
            self.partner[row] = column
            if column is not None:
                self.holder[column] = row
            if row == root or previous is None:
                return
            column, row = previous, came_from[previous]


def _reduce(costs: Sequence[Mapping[int, int]], columns: int) -> Sequence[Mapping[int, int]]:
    """Subtract each column's minimum where every column is sure to be taken.

    The same pairing is best, and fewer rows have to move on the way to it.
    """
    if columns > len(costs) or any(len(row) < columns for row in costs):
        return costs
    least = [min(row[column] for row in costs) for column in range(columns)]
    return [{column: cost - least[column] for column, cost in row.items()} for row in costs]
