"""Weights of the objective, by its terms: whole numbers, so that every machine computes the same sum.

In descending weight: the one thing, shoulds, placed time by priority, the shape of a good day, preferences, as few
pieces as possible, and, where nothing else decides, earlier starts.
"""

from __future__ import annotations

SCALE = 1 << 30
"""One point; its fractions break ties between equal plans by the earlier start."""

# Rewards of an item, lost when it is left out; those per slot count for each slot of its length.
PLACED = 100
PLACED_SLOT = {1: 40, 2: 30, 3: 20, 4: 14, 5: 10}
"""By priority."""
DUE_SLOT = 10
ONE_THING = 3_000
ONE_THING_SLOT = 200
LUNCH = 700
SHUTDOWN = 150
STAYS = 1_500
"""For an item of the previous plan."""

# Costs of a place.
ONE_THING_LATE = 2_000
LUNCH_SLOT = 2
"""For each slot away from the preferred time."""
ENERGY_SLOT = 6
FOCUS_SLOT = 3
MOVED = 1_000
MOVED_SLOT = 2
MOVED_FAR = 24
"""Slots beyond which a longer move costs no more."""
MENDED = 1_000
"""For a move in a repair."""

# Costs of a shape.
PIECE = 12
"""For each piece after the first."""
LONG_SLOT = 3
"""For each slot of a piece beyond a comfortable length."""
LUNCH_SHORT = 100

# Costs that several items share.
BREAK_SLOT = 4
SHALLOW_SLOT = 5
"""For each slot of shallow work beyond its share of the day."""
DEEP_BLOCK = 10
"""For each block of deep work beyond the number that a day holds."""

# Costs of a violated rule: once, and for each slot.
SHOULD = 400
SHOULD_SLOT = 40
PREFER = 10
PREFER_SLOT = 3
