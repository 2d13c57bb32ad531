"""Time limits and sizes of a turn, in one place (S98). Seconds unless the name says otherwise."""

CALENDAR_WAIT = 2.0
"""How long the first look at Stage 1 waits for the calendar (S40)."""
REREAD_WAIT = 1.5
"""How long a change waits for a fresh look at the day before it goes on with the last one."""
TURN_LIMIT = 120.0
"""A turn that runs longer than this is broken."""
MOST_STEPS = 12
"""Nodes that one turn may run; the longest legal way has seven."""
MOST_ROWS = 30
"""Blocks or tasks with a menu of their own on one card; Slack shows fifty parts at most."""
SHIFT_MINUTES = 15
"""What the earlier and later buttons move a block by."""
