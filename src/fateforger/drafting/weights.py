"""Weights of the cost function: whole numbers, so that every machine computes the same sum.

In descending weight: the one thing, shoulds, placed time by priority, the shape of a good day, preferences, as few
pieces as possible, and, where nothing else decides, earlier starts.
"""

from __future__ import annotations

SCALE = 1 << 30
"""One point; its fractions break ties between equal plans by the earlier start."""

PLACED = 100
PLACED_SLOT = {1: 40, 2: 30, 3: 20, 4: 14, 5: 10}
DUE_SLOT = 10
ONE_THING = 3_000
ONE_THING_SLOT = 200
ONE_THING_LATE = 2_000
LUNCH = 700
LUNCH_SHORT = 100
LUNCH_SLOT = 2
SHUTDOWN = 150
SHOULD = 400
SHOULD_SLOT = 40
PREFER = 10
PREFER_SLOT = 3
ENERGY_SLOT = 6
FOCUS_SLOT = 3
SHALLOW_SLOT = 5
BREAK_SLOT = 4
PIECE = 12
LONG_SLOT = 3
DEEP_BLOCK = 10
STAYS = 1_500
MOVED = 1_000
MOVED_SLOT = 2
MOVED_FAR = 24
MENDED = 1_000
