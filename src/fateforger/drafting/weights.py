"""Weights of the objective, by its terms: whole numbers, so that every machine computes the same sum.

``docs/drafting.md`` says why each term is there. In descending weight: the one thing, lunch, shoulds, the end of work,
free time, pauses, placed work by priority, the order of the day, preferences, and, where nothing else decides, earlier
starts.
"""

from __future__ import annotations

SCALE = 1 << 30
"""One point; its fractions break ties between equal plans by the earlier start."""

# Rewards of an item, lost when it is left out; those per slot count for each slot of its length.
PLACED = 30
"""Small, so that ten minutes are not worth more per slot than two hours."""
PLACED_SLOT = {1: 60, 2: 40, 3: 26, 4: 15, 5: 9}
"""By priority."""
DUE_SLOT = 10
ONE_THING = 3_000
ONE_THING_SLOT = 200
LUNCH = 8_000
MEAL = 600
"""For a meal or a rest among the tasks: more than the shutdown."""
SHUTDOWN = 800
SHUTDOWN_SHORT = 150
"""On days with three open hours or less."""
SHUTDOWN_SLOT = 3
"""For each slot from the last meeting to the shutdown: work that ends earlier is worth a little."""
STAYS = 1_500
"""For an item of the previous plan."""

# Costs of a place.
ONE_THING_LATE = 2_000
LUNCH_SLOT = 20
"""For each slot away from the preferred time."""
ENERGY_SLOT = 25
"""For each slot of work outside the hours that the person named for it."""
DUE_SOON_SLOT = 15
"""For each slot of a required task in the last two hours before it is due."""
RHYTHM = 800
RHYTHM_SLOT = 20
"""The same for meals, rest, and habits, whose time of day is what they are about: once, and for each slot."""
FOCUS_SLOT = 12
AFTER_MEETINGS = 400
"""For a piece of work that takes the pause after two meetings in a row."""
MOVED = 1_000
MOVED_SLOT = 2
MOVED_FAR = 24
"""Slots beyond which a longer move costs no more."""
MENDED = 1_000
"""For a move in a repair."""

# Costs of a shape.
PIECE = 40
"""For each piece after the first."""
LONG_SLOT = 30
"""For each slot of a piece beyond a comfortable length."""
SHORT_SLOT = 4
"""For each slot that a piece lacks to three quarters of an hour."""
LUNCH_SHORT = 2_000

# Costs that several items share.
SLACK_SLOT = 90
"""For each slot of the free time that should stay free; more than any work is worth but the one thing."""
FOCUS_RUN_SLOT = 60
"""For each slot of focus without a pause beyond what the person holds."""
BREAK_SLOT = 40
ONE_FIRST = 500
"""For each pair of other deep work and a later piece of the one thing."""
WORK_END = 600
"""For each piece of work after the shutdown."""
DEEP_FIRST = 20
"""For each pair of shallow work and a later piece of deep work."""
SHALLOW_SLOT = 5
"""For each slot of shallow work beyond its share of the day."""
DEEP_BLOCK = 10
"""For each block of deep work beyond the number that a day holds."""

# Costs of a violated rule: once, and for each slot.
SHOULD = 400
SHOULD_SLOT = 40
PREFER = 10
PREFER_SLOT = 3
