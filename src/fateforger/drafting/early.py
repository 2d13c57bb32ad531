"""The one thing where it lies best, which a search of the whole day seldom finds when much else has to make room."""

from __future__ import annotations

from dataclasses import replace

from fateforger.drafting.compile import compiled
from fateforger.drafting.costs import cost
from fateforger.drafting.items import Item
from fateforger.drafting.layout import Layout
from fateforger.drafting.search import Found, first, improved
from fateforger.drafting.solve import Solved, lacks


def with_the_one_thing_first(result: Solved, steps: int) -> Solved:
    """The result, or where that is better, one of a search that begins with the one thing at its best place."""
    problem, placed = result.problem, result.found.placed
    one = next((item for item in problem.items if item.one and not item.pinned), None)
    start = None if one is None else _best(result, one)
    if one is None or start is None or placed[one.index] == ((start, one.slots),):
        return result
    held = compiled(result.ground, frozenset(result.relaxed))
    item = held.items[one.index]
    item.firm, item.most_pieces, item.required = 1 << start, 1, True
    found = improved(held, first(held), steps)
    reached = cost(Layout(problem, found.placed))
    if lacks(held, found.placed) or reached >= result.found.cost:
        return result
    return replace(result, found=Found(found.placed, reached, finished=result.found.finished))


def _best(result: Solved, one: Item) -> int | None:
    """Where it would begin with only pinned blocks on the day."""
    there = zip(result.problem.items, result.found.placed, strict=True)
    alone = Layout(result.problem, [pieces if item.pinned else () for item, pieces in there])
    spot = alone.best(one, one.slots)
    return None if spot is None else spot[1]
