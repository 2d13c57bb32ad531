"""Finding room: each piece of work takes the earliest stretch that is long enough, with a break behind deep work
where there is room for one."""

from __future__ import annotations

from dataclasses import dataclass, field

from fateforger.drafting.free import Stretch, gaps
from fateforger.drafting.minutes import GRID

BREAK = 10
"""Minutes to breathe after deep work."""
PIECE = 30
"""The shortest piece that deep work is split into."""
SPLITTABLE = 60
"""Deep work of at least this many minutes may be split."""


@dataclass
class Board:
    """A day that is being filled: ``taken`` cannot be used, ``breaks`` are kept free for as long as possible."""

    frame: Stretch
    taken: list[Stretch]
    breaks: list[Stretch] = field(default_factory=list)

    def room(self) -> int:
        """The longest stretch that is left, in minutes."""
        return max((g.minutes for g in gaps(self.frame, self.taken)), default=0)

    def rest(self) -> int:
        """All that is left, in minutes."""
        return sum(g.minutes for g in gaps(self.frame, self.taken))

    def take(self, stretch: Stretch, *, deep: bool) -> Stretch:
        self.taken.append(stretch)
        if deep:
            self.breaks.append(Stretch(stretch.end, stretch.end + BREAK))
        return stretch


def place(board: Board, minutes: int, *, deep: bool) -> tuple[Stretch, ...]:
    """Take room for one piece of work and say where: nothing when there is none. ``minutes`` are on the grid."""
    start = _earliest(board, minutes)
    if start is not None:
        return (board.take(Stretch(start, start + minutes), deep=deep),)
    if deep and minutes >= SPLITTABLE and minutes <= board.rest():
        return tuple(board.take(piece, deep=True) for piece in _pieces(board, minutes))
    return ()


def _earliest(board: Board, minutes: int) -> int | None:
    """First with the breaks kept, then without."""
    for taken in ([*board.taken, *board.breaks], board.taken):
        for gap in gaps(board.frame, taken):
            if gap.minutes >= minutes:
                return gap.start
    return None


def _pieces(board: Board, minutes: int) -> tuple[Stretch, ...]:
    """As few pieces as possible, in time order, the earlier ones as long as they can be and none shorter than
    ``PIECE``; none at all when that cannot be."""
    longest_first = sorted(gaps(board.frame, board.taken), key=lambda g: (-g.minutes, g.start))
    chosen: list[Stretch] = []
    for gap in longest_first:
        if sum(g.minutes for g in chosen) >= minutes or gap.minutes < PIECE:
            break
        chosen.append(gap)
    if sum(g.minutes for g in chosen) < minutes or minutes < PIECE * len(chosen):
        return ()
    pieces: list[Stretch] = []
    left = minutes
    for still, gap in zip(range(len(chosen) - 1, -1, -1), sorted(chosen), strict=True):
        length = min(gap.minutes, left - PIECE * still)
        pieces.append(Stretch(gap.start, gap.start + length))
        left -= length
    return tuple(pieces)


def on_grid(minutes: int) -> int:
    """A length rounded up to the grid."""
    return -(-minutes // GRID) * GRID
