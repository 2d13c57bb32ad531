"""Lower bound on the cost of any placement.

Each item lies at its cheapest place as if it were alone, and as much is left out as does not fit into the day.
"""

from __future__ import annotations

from fateforger.drafting.items import Item
from fateforger.drafting.problem import Problem


def lower_bound(problem: Problem) -> int:
    """Return the points that every placement costs at least."""
    alone = {item.index: _cost_alone(item) for item in problem.items}
    total = sum(alone.values())
    return total + _cost_of_excess(problem, alone)


def _cost_alone(item: Item) -> int:
    """Return the least that an item can cost.

    This is its cheapest place in one piece, or the cost of leaving it out; an item that may be cut counts as free if
    it fits at all.
    """
    if item.most_pieces > 1:
        return 0 if item.domain.bit_count() >= item.slots else item.reward
    costs = [
        price + min((item.points(start, length) for start in item.prices_at(length)), default=item.reward)
        for length, price in item.lengths
    ]
    return min(item.reward, *costs)


def _cost_of_excess(problem: Problem, alone: dict[int, int]) -> int:
    """Return the least cost of what must be left out for lack of time.

    The cheapest slots are left out first, parts of items included.
    """
    room = 0
    for item in problem.items:
        room |= item.domain
    shortest = {item.index: min(length for length, _ in item.lengths) for item in problem.items}
    over = sum(shortest[item.index] for item in problem.items) - room.bit_count()
    if over <= 0:
        return 0
    worth = sorted(
        ((item.reward - alone[item.index]), shortest[item.index]) for item in problem.items if not item.required
    )
    worth.sort(key=lambda pair: pair[0] / pair[1])
    lost = 0
    for points, slots in worth:
        if over <= 0:
            break
        part = min(slots, over)
        lost += points * part // slots
        over -= part
    return lost
