"""Task queue: tasks, their order, and their state transitions."""

from fateforger.tasks.adding import NewTask, check_blockers, entered
from fateforger.tasks.claims import as_of, changed, claimed, extended, holds, taken_back
from fateforger.tasks.edits import (
    Deed,
    deed_words,
    done_to,
    possible,
    prioritized,
    renamed,
    respecified,
)
from fateforger.tasks.ids import new_task_id, read_task_id
from fateforger.tasks.model import (
    ENDED,
    BlockTime,
    Claim,
    Decompose,
    Do,
    Origin,
    PlanDay,
    Priority,
    QueuedTask,
    ReviewConstraints,
    ReviewParts,
    TaskSpec,
    TaskState,
    Work,
)
from fateforger.tasks.modes import Mode
from fateforger.tasks.moves import may_move
from fateforger.tasks.queue import blockers, in_order, order, ready
from fateforger.tasks.reorder import Where, moved, moved_words
from fateforger.tasks.words import PRIORITIES, STATES, quoted, spoken_priority

__all__ = [
    "ENDED",
    "PRIORITIES",
    "STATES",
    "BlockTime",
    "Claim",
    "Decompose",
    "Deed",
    "Do",
    "Mode",
    "NewTask",
    "Origin",
    "PlanDay",
    "Priority",
    "QueuedTask",
    "ReviewConstraints",
    "ReviewParts",
    "TaskSpec",
    "TaskState",
    "Where",
    "Work",
    "as_of",
    "blockers",
    "changed",
    "check_blockers",
    "claimed",
    "deed_words",
    "done_to",
    "entered",
    "extended",
    "holds",
    "in_order",
    "may_move",
    "moved",
    "moved_words",
    "new_task_id",
    "order",
    "possible",
    "prioritized",
    "quoted",
    "read_task_id",
    "ready",
    "renamed",
    "respecified",
    "spoken_priority",
    "taken_back",
]
