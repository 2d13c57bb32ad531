"""A task as agents see it."""

from __future__ import annotations

from typing import Any

from fateforger.tasks import QueuedTask, Work
from fateforger.tasks.model import BlockTime, Decompose, Do, PlanDay, ReviewConstraints, ReviewParts
from fateforger.workflow import shipped, shipped_names


def task_document(task: QueuedTask) -> dict[str, Any]:
    """What it says and where it stands."""
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


def with_rules(task: QueuedTask) -> dict[str, Any]:
    """The same with the rules it has to keep, the names they speak of, and what it takes to be done."""
    document = task_document(task) | {"completes": completes(task.spec.work), "rules": [], "names": None}
    if task.spec.workflow not in shipped_names():
        return document
    workflow = shipped(task.spec.workflow)
    rules = [
        {"id": each.id, "rule": each.text, "title": each.title, "necessity": each.necessity.value}
        for each in workflow.rules
    ]
    names = {"actions": sorted(workflow.actions), "states": sorted(workflow.predicates)}
    return document | {"rules": rules, "names": names}


def completes(work: Work) -> str:
    """What it takes to be done, in a sentence."""
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
