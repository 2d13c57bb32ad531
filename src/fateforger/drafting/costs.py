"""Cost of a placement: lower is better.

Defined only for placements that satisfy the hard rules.
"""

from __future__ import annotations

from fateforger.drafting import weights
from fateforger.drafting.items import Item, Pieces
from fateforger.drafting.layout import Layout
from fateforger.drafting.problem import Cap, Order, Problem


def cost(layout: Layout, limit: int | None = None) -> int:
    """Return the cost in fractions of a point.

    It adds up what is left out, the place of each item, its pieces, and what items share. Once the cost reaches
    ``limit``, some value of at least ``limit`` is returned.
    """
    problem = layout.problem
    total = 0
    for item, pieces in zip(problem.items, layout.placed, strict=True):
        if not pieces:
            total += problem.lost[item.index]
            continue
        own = item.costs.get(pieces)
        if own is None:
            own = sum(item.prices_at(length)[start] for start, length in pieces)
            own = item.costs[pieces] = own + shape_points(problem, item, pieces) * weights.SCALE
        total += own
    return total if limit is not None and total >= limit else total + shared_points(layout) * weights.SCALE


def points(layout: Layout) -> int:
    """Return the cost in whole points, without the price of later starts."""
    problem = layout.problem
    total = shared_points(layout)
    for item, pieces in zip(problem.items, layout.placed, strict=True):
        if pieces:
            total += shape_points(problem, item, pieces) + sum(item.points(*piece) for piece in pieces)
        else:
            total += item.reward
    return total


def shape_points(problem: Problem, item: Item, pieces: Pieces) -> int:
    """Return points for the pieces of an item, its length, and a late start of the one thing."""
    total = weights.PIECE * (len(pieces) - 1)
    if len(item.lengths) > 1:
        total += next((price for length, price in item.lengths if length == pieces[0][1]), 0)
    if problem.late[item.index] >> pieces[0][0] & 1:
        total += weights.ONE_THING_LATE
    return total


def shared_points(layout: Layout) -> int:
    """Return points for costs that several items share."""
    problem = layout.problem
    total = sum(_breather_points(layout, number) for number in range(len(problem.breathers)))
    for cap in problem.caps:
        if cap.over is not None:
            total += _excess(layout, cap, cap.over)
    for order in problem.orders:
        if order.points is not None:
            total += order.points * _count_swapped(layout, order)
    if problem.shallow_percent is not None or problem.deep_blocks is not None:
        total += _macro(layout)
    return total


def _breather_points(layout: Layout, number: int) -> int:
    """Return points for the slots of a breather that other items cover.

    Room ahead is not needed before the first block of a day.
    """
    problem, breather = layout.problem, layout.problem.breathers[number]
    covered = layout.covers[problem.victims[number]]
    wanted = layout.wanted[number]
    if breather.ahead and wanted & covered:
        wanted = 0
        for on in problem.days:
            begins = sorted(s for m in breather.members for s, _ in layout.placed[m] if on.slots >> s & 1)
            for start in begins[1:]:
                wanted |= ((1 << breather.slots) - 1) << max(0, start - breather.slots)
    hit = (wanted & covered).bit_count()
    return breather.base + breather.points * hit if hit else 0


def _excess(layout: Layout, cap: Cap, over: int) -> int:
    """Return points for what exceeds a cap or falls short of it."""
    total = 0
    for day, on in enumerate(cap.days):
        if not on:
            continue
        slots, blocks = layout.problem.usage(cap, layout.placed, day)
        off = 0
        if cap.most is not None and slots > cap.most:
            off += slots - cap.most
        if cap.count is not None and blocks > cap.count:
            off += 3 * (blocks - cap.count)
        if cap.least is not None and slots < cap.least:
            off += cap.least - slots
        if off:
            total += cap.base + off * over
    return total


def _count_swapped(layout: Layout, order: Order) -> int:
    """Return the number of pairs in the wrong order."""
    wrong = 0
    for on in order.days:
        firsts, thens = (layout.covers[group] & on for group in order.groups)
        if firsts and thens and firsts.bit_length() > (thens & -thens).bit_length() - 1:
            ends = [s + n for m in order.first for s, n in layout.placed[m] if on >> s & 1]
            begins = [s for m in order.then for s, _ in layout.placed[m] if on >> s & 1]
            wrong += sum(end > start for end in ends for start in begins)
    return wrong


def _macro(layout: Layout) -> int:
    """Return points for too much shallow work, and for too many blocks of deep work."""
    problem, total = layout.problem, 0
    for day in problem.days:
        deep, shallow = ((layout.covers[group] & day.slots).bit_count() for group in (problem.deep, problem.shallow))
        if problem.shallow_percent is not None:
            over = shallow * 100 - problem.shallow_percent * (deep + shallow)
            total += weights.SHALLOW_SLOT * -(-over // 100) if over > 0 else 0
        if problem.deep_blocks is not None and deep:
            members = problem.groups[problem.deep]
            blocks = sum(day.slots >> s & 1 for m in members for s, _ in layout.placed[m])
            total += weights.DEEP_BLOCK * max(0, blocks - problem.deep_blocks)
    return total
