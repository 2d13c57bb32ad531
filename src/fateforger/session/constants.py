"""Time limits and sizes of a turn (S98), in seconds unless the name says otherwise.

The limits of a language model are for one of usual speed; :attr:`fateforger.ports.model.Model.time_factor` lengthens
them.
"""

from __future__ import annotations

CALENDAR_WAIT = 2.0
"""Time that the first reply of Stage 1 waits for the calendar (S40)."""
WEEK_WAIT = 20.0
"""Time that a week waits for the calendar of all its days."""
REREAD_WAIT = 1.5
"""Time that a change waits for a fresh calendar reading before it uses the last one."""
MEMORY_WAIT = 1.0
"""Time that a turn waits for each request to the constraint store."""
TURN_LIMIT = 120.0
"""A turn that runs longer than this has failed."""
DECISION_LIMIT = 20.0
"""Limit for classifying a message."""
GATE_LIMIT = 35.0
"""Limit for extracting the values that a message gives for the current stage."""
PATCH_LIMIT = 60.0
"""Limit for a patch of the plan, all tries together."""
PATCH_TRIES = 5
"""Number of tries for a patch that fits (S72)."""
EXTRACT_LIMIT = 60.0
"""Limit for extracting constraints from a message."""
EXTRACT_WAIT = 4.0
"""Time that a draft or a commit waits for the constraints in the same message (K9, S119)."""
UNDERSTAND_LIMIT = 90.0
"""Limit for a whole extraction job; then it is retried."""
DRAFT_LIMIT = 120.0
"""Limit for a model's draft of the day; after that the solver's draft is shown (S120)."""
ENOUGH_CONFIDENCE = 0.6
"""Least confidence of a model in what a message is about, for handing it to the queue or to a plan (S223)."""
MOST_STEPS = 64
"""Nodes that one turn may run; a message of eight wishes through all stages needs about fifty."""
MOST_ROWS = 30
"""Blocks or tasks on one card that get a menu of their own; Slack shows at most 50 parts."""
MOST_UNDO = 20
"""Changes of Stage 4 that can be undone one by one."""
SHIFT_MINUTES = 15
"""Minutes by which the earlier and later buttons move a block."""
