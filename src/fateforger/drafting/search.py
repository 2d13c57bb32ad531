"""Search for a good placement: construct a feasible one, then improve it by destroy and repair.

The same steps lead to the same plan on every machine. If time runs out first, the result is the best plan so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from fateforger.drafting import weights
from fateforger.drafting.bound import lower_bound
from fateforger.drafting.costs import cost as cost_of
from fateforger.drafting.items import Item
from fateforger.drafting.layout import Layout
from fateforger.drafting.problem import Placed, Problem
from fateforger.drafting.shaking import PseudoRandom, destroy_and_repair

_HEAT = 400
"""Points by which a step may worsen a plan at the start, about the worth of a task; it cools to zero."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A placement, its cost, and whether all steps were taken."""

    placed: Placed
    cost: int
    finished: bool


def greedy_layout(problem: Problem) -> Layout:
    """Return the best of several greedy placements.

    Items are inserted by rank, by reward, by length, and by tightness.
    """
    best: tuple[int, int, Layout] | None = None
    staying = [True, False] if any(item.previous for item in problem.items) else [False]
    for stay, order in ((stay, order) for stay in staying for order in _orders(problem)):
        layout = _fill_greedily(problem, order, stay=stay)
        missing = sum(item.required and not layout.placed[item.index] for item in problem.items)
        missing += len(problem.violated_caps(layout.placed))
        cost = cost_of(layout)
        if best is None or (missing, cost) < best[:2]:
            best = missing, cost, layout
        if all(layout.placed) and not stay:
            break
    assert best is not None  # noqa: S101  there always is an order
    return best[2]


def _fill_greedily(problem: Problem, order: list[Item], *, stay: bool) -> Layout:
    """Insert pinned blocks, then blocks that stay, then the others in order.

    The order is tried twice, since some items depend on others.
    """
    layout = Layout(problem)
    for item in problem.items:
        if item.pinned:
            layout.insert(item)
    if stay:
        _keep_previous(layout)
    for item in (*order, *order):
        if not layout.placed[item.index]:
            layout.insert(item)
    return layout


def _keep_previous(layout: Layout) -> None:
    """Keep items at their previous places, as many as are compatible."""
    problem = layout.problem
    there = [item for item in problem.items if item.previous and not item.pinned]
    for item in sorted(there, key=lambda i: (not i.required, sum(i.previous[-1]), i.index)):
        if sum(length for _, length in item.previous) == item.slots and layout.fits(item, item.previous):
            layout.take(item, item.previous)


def _orders(problem: Problem) -> list[list[Item]]:
    loose = [item for item in problem.items if not item.pinned]
    eager = sorted(loose, key=lambda i: (not i.one, not i.required, -i.reward // max(1, i.slots), i.index))
    long = sorted(loose, key=lambda i: (not i.one, not i.required, -i.slots, i.index))
    tight = sorted(loose, key=lambda i: (not i.required, i.starts(i.slots).bit_count() // 4, -i.reward, i.index))
    ranked = sorted(loose, key=lambda i: (i.task is not None, not i.one, -i.rank, i.index))
    return [ranked, eager, long, tight]


def improve_layout(
    problem: Problem,
    layout: Layout,
    steps: int,
    stop: Callable[[], bool] | None = None,
    seen: Callable[[int], None] | None = None,
) -> SearchResult:
    """Improve a placement for ``steps`` looks.

    ``stop`` is polled to end the search early; ``seen`` is called with the number of looks taken.
    """
    best = current = layout
    best_cost = current_cost = cost_of(layout)
    lot = PseudoRandom(len(problem.items) + 1)
    movable = [item for item in problem.items if not item.pinned]
    must = [item.index for item in problem.items if item.required and layout.placed[item.index]]
    held = problem.violated_caps(layout.placed)
    watched = any(cap.over is None and cap.least is not None for cap in problem.caps)
    finished = True
    good = (lower_bound(problem) + 1) * weights.SCALE
    begun = problem.looks
    while movable and best_cost >= good and (done := problem.looks - begun) < steps:
        if stop is not None and stop():
            finished = False
            break
        if seen is not None:
            seen(done)
        problem.looks += 1 + 3 * sum(map(bool, current.placed)) // 4
        heat = _HEAT * weights.SCALE * (steps - done) // steps
        limit = current_cost + lot.below(heat + 1)
        trial = destroy_and_repair(current, movable, lot, limit)
        if trial is None or trial.placed == current.placed or not all(trial.placed[index] for index in must):
            continue
        if watched and len(problem.violated_caps(trial.placed)) > len(held):
            continue
        cost = cost_of(trial, limit)
        if cost < limit:
            current, current_cost = trial, cost
            if cost < best_cost:
                best, best_cost = trial, cost
    placed, cost = optimize_locally(problem, best, stop)
    return SearchResult(placed, cost, finished)


def optimize_locally(problem: Problem, layout: Layout, stop: Callable[[], bool] | None = None) -> tuple[Placed, int]:
    """Reach a local optimum.

    No single item can be placed more cheaply with the others unmoved, and no swap of two items out of rank order
    helps.
    """
    best, cost = layout, cost_of(layout)
    again = True
    while again and not (stop is not None and stop()):
        again = False
        for item in problem.items:
            if not item.pinned:
                others = (i for i in problem.items if not i.pinned)
                best, cost, better = _try_reinsert(best, cost, [item], others)
                again = again or better
        for early, late in _misordered_pairs(problem, best):
            best, cost, better = _try_reinsert(best, cost, [early, late], [late, early])
            again = again or better
    return best.placed, cost


def _misordered_pairs(problem: Problem, layout: Layout) -> list[tuple[Item, Item]]:
    """Return pairs of work on one day whose later item has the higher rank."""
    placed = layout.placed
    there = [item for item in problem.items if item.work and not item.pinned and placed[item.index]]
    there.sort(key=lambda i: placed[i.index])
    return [
        (one, other)
        for place, one in enumerate(there)
        for other in there[place + 1 :]
        if one.rank < other.rank
        and problem.day_of(placed[one.index][0][0]) == problem.day_of(placed[other.index][0][0])
    ]


def _try_reinsert(best: Layout, cost: int, gone: Iterable[Item], back: Iterable[Item]) -> tuple[Layout, int, bool]:
    """Reinsert these items in order, and keep the result if it is cheaper and satisfies as much."""
    problem = best.problem
    trial = best.remove_items(item.index for item in gone)
    for item in back:
        if not trial.placed[item.index]:
            trial.insert(item)
    if any(i.required and best.placed[i.index] and not trial.placed[i.index] for i in problem.items):
        return best, cost, False
    now = cost_of(trial)
    if now >= cost or len(problem.violated_caps(trial.placed)) > len(problem.violated_caps(best.placed)):
        return best, cost, False
    return trial, now, True
