"""A day with what is taken of it, and lengths on the grid."""

from __future__ import annotations

from dataclasses import dataclass

from fateforger.drafting.free import Stretch
from fateforger.drafting.minutes import GRID

PIECE = 30
"""The shortest piece that deep work is split into."""
SPLITTABLE = 60
"""Deep work of at least this many minutes may be split."""


@dataclass
class Board:
    """A day with what is ``taken`` of its frame."""

    frame: Stretch
    taken: list[Stretch]


def on_grid(minutes: int) -> int:
    """A length rounded up to the grid."""
    return -(-minutes // GRID) * GRID
