"""Represent a task as JSON for agents."""

from __future__ import annotations

from typing import Any

from fateforger.tasks import QueuedTask, Work
from fateforger.tasks.model import BlockTime, Decompose, Do, PlanDay, ReviewConstraints, ReviewParts
from fateforger.workflow import list_shipped, load_shipped


def describe_task(task: QueuedTask) -> dict[str, Any]:
    """Return the fields and the state of a task."""
    claim = task.claim
    return {
        "id": task.id,
        "state": task.state.value,
        **task.spec.model_dump(mode="json"),
        "from": task.origin.model_dump(mode="json"),
        "goal": task.goal,
        "blocked_by": list(task.blocked_by),
        "claimed_by": None if claim is None else claim.executor,
        "claimed_until": None if claim is None else claim.until.isoformat(),
        "outcome": task.outcome,
        "created_at": task.created_at.isoformat(),
    }


def describe_task_with_rules(task: QueuedTask) -> dict[str, Any]:
    """Return the document with the task's rules, the names they use, and the condition for its completion."""
    document = describe_task(task) | {"completes": describe_completion(task.spec.work), "rules": [], "names": None}
    if task.spec.workflow not in list_shipped():
        return document
    workflow = load_shipped(task.spec.workflow)
    rules = [
        {"id": each.id, "rule": each.text, "title": each.title, "necessity": each.necessity.value}
        for each in workflow.rules
    ]
    names = {"actions": sorted(workflow.actions), "states": sorted(workflow.predicates)}
    return document | {"rules": rules, "names": names}


def describe_completion(work: Work) -> str:
    """Return a sentence about what completes the task."""
    match work:
        case PlanDay(date=day):
            return f"It is done when the plan of {day} was committed."
        case ReviewConstraints():
            return "It is done when no constraint waits for the person's word any more."
        case BlockTime(date=day):
            return f"It is done when the plan of {day} holds a block for it."
        case Decompose() | ReviewParts():
            return "It is done when the person approved the parts."
        case Do():
            return "It is done by the person's word; until then it waits for them."
