"""Time limits and sizes of a turn, in one place (S98). Seconds unless the name says otherwise."""

CALENDAR_WAIT = 2.0
"""How long the first look at Stage 1 waits for the calendar (S40)."""
REREAD_WAIT = 1.5
"""How long a change waits for a fresh look at the day before it goes on with the last one."""
MEMORY_WAIT = 1.0
"""How long a turn waits for the store of constraints, each time it asks."""
TURN_LIMIT = 120.0
"""A turn that runs longer than this is broken."""
DECISION_LIMIT = 20.0
"""What does this message want?"""
GATE_LIMIT = 35.0
"""What does it say for the step at hand?"""
PATCH_LIMIT = 60.0
"""A change of the plan, all tries together."""
PATCH_TRIES = 5
"""How often a patch that does not fit is asked for again (S72)."""
EXTRACT_LIMIT = 60.0
"""What in a message should be remembered."""
EXTRACT_WAIT = 4.0
"""How long a draft or a commit waits for what the same message says to remember (K9, S119)."""
UNDERSTAND_LIMIT = 90.0
"""The same with everything around it; then it is tried again."""
DRAFT_LIMIT = 120.0
"""A first plan of the day; after that the solver's own is shown (S120)."""
MOST_STEPS = 12
"""Nodes that one turn may run; the longest legal way has seven."""
MOST_ROWS = 30
"""Blocks or tasks with a menu of their own on one card; Slack shows fifty parts at most."""
MOST_UNDO = 20
"""Changes of Stage 4 that can be taken back one by one."""
SHIFT_MINUTES = 15
"""What the earlier and later buttons move a block by."""
