"""Frame of a day with its taken time, and lengths on the grid."""

from __future__ import annotations

from dataclasses import dataclass

from fateforger.drafting.free import Stretch
from fateforger.drafting.minutes import GRID

PIECE = 30
"""Shortest piece that deep work is split into, in minutes."""
SPLITTABLE = 60
"""Shortest deep work that may be split, in minutes."""


@dataclass
class OccupiedFrame:
    """The frame of a day with its ``taken`` time."""

    frame: Stretch
    taken: list[Stretch]


def on_grid(minutes: int) -> int:
    """Round a length up to the grid, in minutes."""
    return -(-minutes // GRID) * GRID
