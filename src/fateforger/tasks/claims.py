"""Claim a task, extend a claim, and release it: the same rules for every store."""

from __future__ import annotations

from datetime import datetime

from pydantic import ValidationError

from fateforger.errors import BadInput, InternalError
from fateforger.plan.mistakes import first_mistake
from fateforger.tasks.model import Claim, QueuedTask, TaskState
from fateforger.tasks.moves import can_move
from fateforger.tasks.words import STATES, quote_task
from fateforger.values import replace


def as_of(task: QueuedTask, now: datetime) -> QueuedTask:
    """Return the task, active again if its claim expired by ``now``."""
    ran_out = task.state is TaskState.RUNNING and (task.claim is None or task.claim.until <= now)
    return replace(task, state=TaskState.ACTIVE, claim=None) if ran_out else task


def claim_task(task: QueuedTask, executor: str, *, now: datetime, until: datetime) -> QueuedTask:
    """Return the task claimed by ``executor`` until ``until``."""
    fence = task.fence + 1
    claimed = replace(
        task,
        state=TaskState.RUNNING,
        claim=Claim(executor=executor, until=until, fence=fence),
        fence=fence,
        attempts=task.attempts + 1,
    )
    return _record_change(claimed, now)


def holds_claim(mine: QueuedTask, there: QueuedTask | None) -> bool:
    """Check whether the claim on ``mine`` is still valid, given the stored task.

    An expired claim is kept until another executor takes the task.
    """
    if mine.claim is None or there is None or there.claim is None:
        return False
    return there.state is TaskState.RUNNING and there.claim.fence == mine.claim.fence


def extend_claim(task: QueuedTask, *, now: datetime, until: datetime) -> QueuedTask:
    """Return the task with its claim extended to ``until``."""
    if task.claim is None:
        raise InternalError("Only a claim can be extended.")
    return _record_change(replace(task, claim=replace(task.claim, until=until)), now)


def release_claim(task: QueuedTask, *, now: datetime) -> QueuedTask:
    """Return the task, active again, without its claim."""
    return _record_change(replace(task, state=TaskState.ACTIVE, claim=None), now)


def apply_change(before: QueuedTask, after: QueuedTask, *, now: datetime) -> QueuedTask:
    """Return the task to write when ``before`` is edited into ``after``.

    Raises :class:`BadInput` for an illegal state transition, and for values that no task can have.
    """
    if after == before:
        return before
    _check(after)
    fixed = ("id", "user_id", "origin", "created_at")
    if any(getattr(after, name) != getattr(before, name) for name in fixed):
        raise InternalError("A change keeps whose task it is, its id and where it came from.")
    if after.state is not before.state:
        if after.state is TaskState.RUNNING:
            raise InternalError("A task runs by being claimed.")
        if not can_move(before.state, after.state):
            raise BadInput(
                f"{quote_task(before)} is {STATES[before.state]}, so it cannot become {STATES[after.state]}.",
                where="state",
            )
    claim = before.claim if after.state is TaskState.RUNNING else None
    return _record_change(replace(after, claim=claim, fence=before.fence, version=before.version), now)


def _check(task: QueuedTask) -> None:
    """Check that the task can be read back: ``model_copy`` does not validate."""
    try:
        QueuedTask.model_validate_json(task.model_dump_json())
    except ValidationError as error:
        mistake = first_mistake(error)
        raise BadInput(mistake.sentence, where=mistake.where) from None


def _record_change(task: QueuedTask, now: datetime) -> QueuedTask:
    return replace(task, changed_at=now, version=task.version + 1)
