"""Work that waits to be done: tasks, their order, and how they go from state to state."""

from fateforger.tasks.adding import NewTask, check_blockers, entered
from fateforger.tasks.claims import as_of, changed, claimed, extended, holds, taken_back
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
from fateforger.tasks.moves import may_move
from fateforger.tasks.queue import blockers, in_order, order, ready
from fateforger.tasks.words import PRIORITIES, STATES, spoken_priority

__all__ = [
    "ENDED",
    "PRIORITIES",
    "STATES",
    "BlockTime",
    "Claim",
    "Decompose",
    "Do",
    "NewTask",
    "Origin",
    "PlanDay",
    "Priority",
    "QueuedTask",
    "ReviewConstraints",
    "ReviewParts",
    "TaskSpec",
    "TaskState",
    "Work",
    "as_of",
    "blockers",
    "changed",
    "check_blockers",
    "claimed",
    "entered",
    "extended",
    "holds",
    "in_order",
    "may_move",
    "new_task_id",
    "order",
    "read_task_id",
    "ready",
    "spoken_priority",
    "taken_back",
]
