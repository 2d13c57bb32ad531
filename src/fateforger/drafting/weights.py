"""Weights of the objective, by its terms: whole numbers, so that every machine computes the same sum.

``docs/drafting.md`` says why each term is there. In descending weight: the one thing, lunch, shoulds, the end of work,
free time, pauses, placed work by priority, the order of the day, preferences, and, where nothing else decides, earlier
starts. Order and preferences are so small that all of them together hardly ever cost a task.
"""

from __future__ import annotations

SCALE = 1 << 30
"""One point; its fractions break ties between equal plans by the earlier start."""

# Rewards of an item, lost when it is left out; those per slot count for each slot of its length.
PLACED = 120
"""Small, so that ten minutes are not worth more per slot than two hours."""
PLACED_SLOT = {1: 240, 2: 160, 3: 104, 4: 60, 5: 36}
"""By priority."""
DUE_SLOT = 40
DUE_TODAY_SLOT = 330
"""For work that cannot wait for another day: more than other work and free time are worth, whatever its priority."""
ONE_THING = 12_000
ONE_THING_SLOT = 800
LUNCH = 32_000
MEAL = 2_400
"""For a meal or a rest among the tasks: more than the shutdown."""
HABIT = 400
"""For a habit: more than work of the same length."""
TIMED = 3_600
"""For a task whose start the person gave: more than the shutdown."""
SHUTDOWN = 3_200
SHUTDOWN_SHORT = 600
"""On days with three open hours or less."""
SHUTDOWN_SLOT = 3
"""For each slot from the last meeting to the shutdown: work that ends earlier is worth a little."""
STAYS = 6_000
"""For an item of the previous plan."""

# Costs of a place.
ONE_THING_LATE = 8_000
LUNCH_SLOT = 80
"""For each slot away from the preferred time."""
ENERGY_SLOT = 50
"""For each slot of work outside the hours that the person named for it."""
DUE_SOON_SLOT = 15
"""For each slot of a required task in the last two hours before it is due."""
RHYTHM = 3_200
RHYTHM_SLOT = 80
"""The same for meals, rest, and habits, whose time of day is what they are about: once, and for each slot."""
FOCUS_SLOT = 24
AFTER_MEETINGS = 1_600
"""For a piece of work that takes the pause after two meetings in a row."""
MOVED = 4_000
MOVED_SLOT = 8
MOVED_FAR = 24
"""Slots beyond which a longer move costs no more."""
MENDED = 4_000
"""For a move in a repair or a refit."""
PIECES = 5_000
"""For each two pieces of a task that change their order there: more than one move costs."""
KEPT = 100 * MENDED
"""Reward there for a block that stays in the plan: more than the moves of all others."""

# Costs of a shape.
PIECE = 40
"""For each piece after the first."""
LONG_SLOT = 120
"""For each slot of a piece beyond a comfortable length."""
SHORT_SLOT = 4
"""For each slot that a piece lacks to three quarters of an hour."""
LUNCH_SHORT = 8_000

# Costs that several items share.
SLACK_SLOT = 360
"""For each slot of the free time that should stay free; more than work is worth but the one thing and what is due."""
FOCUS_RUN_SLOT = 240
"""For each slot of focus without a pause beyond what the person holds."""
BREAK_SLOT = 160
ONE_FIRST = 1_590
"""For each pair of other deep work and a later piece of the one thing; less where it would cost that work its place."""
WORK_END = 3_600
"""For each piece of work after the shutdown: more than the shutdown is worth, which then lies later or nowhere."""
DEEP_FIRST = 20
"""For each pair of shallow work and a later piece of deep work."""
SHALLOW_SLOT = 5
"""For each slot of shallow work beyond its share of the day."""
DEEP_BLOCK = 60
"""For each block of deep work beyond the number that a day holds."""
DEEP_BLOCK_SAID = 1_600
"""The same where the person set the number: as much as any should."""

# Costs of a violated rule: once, and for each slot.
SHOULD = 1_600
SHOULD_SLOT = 160
PREFER = 10
PREFER_SLOT = 3
