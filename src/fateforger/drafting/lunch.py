"""Room for lunch: near the time it is wished for, shorter if it must be."""

from __future__ import annotations

from fateforger.drafting.free import Stretch, gaps
from fateforger.drafting.minutes import GRID, floor
from fateforger.drafting.model import LunchWish
from fateforger.drafting.place import Board, on_grid

LUNCH = "Lunch"
SHORTEST = 20
DRIFT = 120
"""Minutes that lunch may move from the wish, either way."""


def wants_lunch(frame: Stretch, wish: LunchWish) -> bool:
    """Whether the wish lies in the frame at all: an afternoon's plan has no lunch."""
    return wish.minutes > 0 and frame.start <= floor(wish.start) < frame.end


def lunch_stretch(board: Board, wish: LunchWish) -> Stretch | None:
    """The nearest free stretch of the wished length, or of a shorter one; ``None`` when there is none."""
    for minutes in _lengths(wish.minutes):
        starts = [s for gap in gaps(board.frame, board.taken) for s in _starts(gap, minutes, floor(wish.start))]
        near = [s for s in starts if abs(s - floor(wish.start)) <= DRIFT]
        if near:
            start = min(near, key=lambda s: (abs(s - floor(wish.start)), s))
            return Stretch(start, start + minutes)
    return None


def _lengths(minutes: int) -> tuple[int, ...]:
    """The wish, half of it, and what still is a lunch; the longest first."""
    shorter = {on_grid(minutes // 2), SHORTEST}
    return (on_grid(minutes), *sorted((m for m in shorter if SHORTEST <= m < minutes), reverse=True))


def _starts(gap: Stretch, minutes: int, wish: int) -> tuple[int, ...]:
    """The start in this gap that is nearest to the wish, if lunch fits in the gap at all."""
    latest = gap.end - minutes
    if latest < gap.start:
        return ()
    return (min(max(wish, gap.start), latest - (latest - gap.start) % GRID),)
