"""Task queue: tasks, their order, and their state transitions."""

from fateforger.tasks.adding import NewTask, check_blockers, enter_tasks
from fateforger.tasks.claims import apply_change, as_of, claim_task, extend_claim, holds_claim, release_claim
from fateforger.tasks.edits import (
    TaskAction,
    apply_action,
    describe_action,
    possible_actions,
    rename_task,
    replace_spec,
    set_priority,
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
from fateforger.tasks.moves import can_move
from fateforger.tasks.queue import blockers, ready_tasks, sort_key, sort_tasks
from fateforger.tasks.reorder import QueuePlace, describe_move, move_task
from fateforger.tasks.words import PRIORITIES, STATES, priority_words, quote_task

__all__ = [
    "ENDED",
    "PRIORITIES",
    "STATES",
    "BlockTime",
    "Claim",
    "Decompose",
    "Do",
    "Mode",
    "NewTask",
    "Origin",
    "PlanDay",
    "Priority",
    "QueuePlace",
    "QueuedTask",
    "ReviewConstraints",
    "ReviewParts",
    "TaskAction",
    "TaskSpec",
    "TaskState",
    "Work",
    "apply_action",
    "apply_change",
    "as_of",
    "blockers",
    "can_move",
    "check_blockers",
    "claim_task",
    "describe_action",
    "describe_move",
    "enter_tasks",
    "extend_claim",
    "holds_claim",
    "move_task",
    "new_task_id",
    "possible_actions",
    "priority_words",
    "quote_task",
    "read_task_id",
    "ready_tasks",
    "release_claim",
    "rename_task",
    "replace_spec",
    "set_priority",
    "sort_key",
    "sort_tasks",
]
