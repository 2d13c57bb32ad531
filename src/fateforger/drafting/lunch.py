"""Find room for lunch: near the preferred time, shorter if necessary."""

from __future__ import annotations

from fateforger.drafting.free import Stretch, gaps
from fateforger.drafting.minutes import GRID, floor
from fateforger.drafting.model import LunchWish
from fateforger.drafting.place import OccupiedFrame, on_grid

LUNCH = "Lunch"
SHORTEST = 20
DRIFT = 120
"""Minutes that lunch may move from the preferred time, either way."""


def wants_lunch(frame: Stretch, wish: LunchWish) -> bool:
    """Check whether the preferred time lies in the frame: an afternoon's plan has no lunch."""
    return wish.minutes > 0 and frame.start <= floor(wish.start) < frame.end


def lunch_stretch(board: OccupiedFrame, wish: LunchWish) -> Stretch | None:
    """Return the free stretch nearest to the wish, shorter than wished if necessary.

    Returns ``None`` when there is none.
    """
    for minutes in _lengths(wish.minutes):
        starts = [s for gap in gaps(board.frame, board.taken) for s in _starts(gap, minutes, floor(wish.start))]
        near = [s for s in starts if abs(s - floor(wish.start)) <= DRIFT]
        if near:
            start = min(near, key=lambda s: (abs(s - floor(wish.start)), s))
            return Stretch(start, start + minutes)
    return None


def _lengths(minutes: int) -> tuple[int, ...]:
    """Return the lengths to try, the longest first: the wish, half of it, and the shortest lunch."""
    shorter = {on_grid(minutes // 2), SHORTEST}
    return (on_grid(minutes), *sorted((m for m in shorter if SHORTEST <= m < minutes), reverse=True))


def _starts(gap: Stretch, minutes: int, wish: int) -> tuple[int, ...]:
    """Return the start in this gap that is nearest to the wish, if lunch fits."""
    latest = gap.end - minutes
    if latest < gap.start:
        return ()
    return (min(max(wish, gap.start), latest - (latest - gap.start) % GRID),)
