"""Work that waits to be done: tasks, their order, and how they go from state to state."""

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

__all__ = [
    "ENDED",
    "BlockTime",
    "Claim",
    "Decompose",
    "Do",
    "Origin",
    "PlanDay",
    "Priority",
    "QueuedTask",
    "ReviewConstraints",
    "ReviewParts",
    "TaskSpec",
    "TaskState",
    "Work",
    "blockers",
    "in_order",
    "may_move",
    "order",
    "ready",
]
