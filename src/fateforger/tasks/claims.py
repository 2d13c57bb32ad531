"""What claiming a task, and ending a claim, make of it: the same in every store."""

from __future__ import annotations

from datetime import datetime

from pydantic import ValidationError

from fateforger.errors import BadInput, InternalError
from fateforger.plan.mistakes import first_mistake
from fateforger.tasks.model import Claim, QueuedTask, TaskState
from fateforger.tasks.moves import may_move
from fateforger.tasks.words import STATES, quoted


def as_of(task: QueuedTask, now: datetime) -> QueuedTask:
    """The task, active again if the claim on it ran out by ``now``."""
    ran_out = task.state is TaskState.RUNNING and (task.claim is None or task.claim.until <= now)
    return task.model_copy(update={"state": TaskState.ACTIVE, "claim": None}) if ran_out else task


def claimed(task: QueuedTask, executor: str, *, now: datetime, until: datetime) -> QueuedTask:
    """The task, carried out by that executor until then."""
    fence = task.fence + 1
    return _written(
        task,
        now,
        state=TaskState.RUNNING,
        claim=Claim(executor=executor, until=until, fence=fence),
        fence=fence,
        attempts=task.attempts + 1,
    )


def holds(mine: QueuedTask, there: QueuedTask | None) -> bool:
    """Whether who claimed ``mine`` still has the claim, by what is ``there`` now. One that ran out is kept until
    somebody else takes the task."""
    if mine.claim is None or there is None or there.claim is None:
        return False
    return there.state is TaskState.RUNNING and there.claim.fence == mine.claim.fence


def extended(task: QueuedTask, *, now: datetime, until: datetime) -> QueuedTask:
    """The task, claimed until then."""
    if task.claim is None:
        raise InternalError("Only a claim can be extended.")
    return _written(task, now, claim=task.claim.model_copy(update={"until": until}))


def taken_back(task: QueuedTask, *, now: datetime) -> QueuedTask:
    """The task, to be pulled again."""
    return _written(task, now, state=TaskState.ACTIVE, claim=None)


def changed(before: QueuedTask, after: QueuedTask, *, now: datetime) -> QueuedTask:
    """What is to be written when somebody made ``after`` of a task. Raises :class:`BadInput` for a move that is not
    possible, and for values that no task can have."""
    if after == before:
        return before
    _check(after)
    fixed = ("id", "user_id", "origin", "created_at")
    if any(getattr(after, name) != getattr(before, name) for name in fixed):
        raise InternalError("A change keeps whose task it is, its id and where it came from.")
    if after.state is not before.state:
        if after.state is TaskState.RUNNING:
            raise InternalError("A task runs by being claimed.")
        if not may_move(before.state, after.state):
            raise BadInput(
                f"{quoted(before)} is {STATES[before.state]}, so it cannot become {STATES[after.state]}.",
                where="state",
            )
    claim = before.claim if after.state is TaskState.RUNNING else None
    return _written(after, now, claim=claim, fence=before.fence, version=before.version)


def _check(task: QueuedTask) -> None:
    """A copy of a value is not checked when it is made, and what cannot be read again must not be written."""
    try:
        QueuedTask.model_validate_json(task.model_dump_json())
    except ValidationError as error:
        mistake = first_mistake(error)
        raise BadInput(mistake.sentence, where=mistake.where) from None


def _written(task: QueuedTask, now: datetime, **values: object) -> QueuedTask:
    known = task.model_copy(update={**values, "changed_at": now})
    return known.model_copy(update={"version": known.version + 1})
