"""One-to-one pairing at least cost: as many pairs as possible first, the cheapest such pairing second.

The Hungarian method with shortest augmenting paths over the columns that a row may take, plus one private "no
partner" column per row, which is never written down. Pure Python on purpose: plans have tens of blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_FAR = 1 << 62


def assign(costs: Sequence[Mapping[int, int]], columns: int) -> list[int | None]:
    """For each row the column it gets, or ``None``. ``costs[row]`` maps the columns it may take to costs >= 0.

    The same input gives the same answer; of several best pairings the one that the order of rows prefers.
    """
    alone = 1 + sum(max(row.values(), default=0) for row in costs)
    """Staying alone costs more than any way of pairing, so the number of pairs comes first."""
    holder: list[int | None] = [None] * columns
    partner: list[int | None] = [None] * len(costs)
    row_price, column_price = [0] * len(costs), [0] * columns
    for row, options in enumerate(costs):
        if options:
            _augment(row, costs, alone, holder, partner, row_price, column_price)
    return partner


def _augment(
    root: int,
    costs: Sequence[Mapping[int, int]],
    alone: int,
    holder: list[int | None],
    partner: list[int | None],
    row_price: list[int],
    column_price: list[int],
) -> None:
    """Find the cheapest place for one more row, letting others move; prices keep the pairing optimal (Dijkstra on
    reduced costs)."""
    distance: dict[int, int] = {}
    came_from: dict[int, int] = {}
    done: dict[int, int] = {}
    reached_rows: list[tuple[int, int]] = []
    best_end, end_row, row, base = _FAR, root, root, 0
    while True:
        reached_rows.append((row, base))
        if (stay := base + alone - row_price[row]) < best_end:
            best_end, end_row = stay, row
        offset = base - row_price[row]
        for column, cost in costs[row].items():
            if column not in done and (reach := offset + cost - column_price[column]) < distance.get(column, _FAR):
                distance[column], came_from[column] = reach, row
        nearest = min(distance.items(), key=lambda item: (item[1], item[0]), default=None)
        if nearest is None or nearest[1] >= best_end:
            total, free = best_end, None
            break
        column, base = nearest
        done[column] = distance.pop(column)
        if (next_row := holder[column]) is None:
            total, free = base, column
            break
        row = next_row
    for seen, at in reached_rows:
        row_price[seen] += total - at
    for column, at in done.items():
        column_price[column] -= total - at
    _shift(root, end_row if free is None else came_from[free], free, came_from, holder, partner)


def _shift(
    root: int,
    last: int,
    free: int | None,
    came_from: Mapping[int, int],
    holder: list[int | None],
    partner: list[int | None],
) -> None:
    """Walk the found path back and let each row on it take the next column."""
    row, column = last, free
    while True:
        previous = partner[row]
        partner[row] = column
        if column is not None:
            holder[column] = row
        if row == root or previous is None:
            return
        column, row = previous, came_from[previous]
