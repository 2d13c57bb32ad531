"""Decide whether work is simple enough to be done without the queue (S163, S164)."""

from __future__ import annotations

from fateforger.tasks.model import Decompose, TaskSpec
from fateforger.tasks.ruled import workflow_of

SEVERAL_STEPS = "This takes several steps, and the queue keeps track of which are done."


def reason_for_queue(spec: TaskSpec) -> str | None:
    """Return a sentence on why the work needs the queue, or ``None`` if it is simple."""
    if isinstance(spec.work, Decompose):
        return "This has several parts, and somebody has to look at them before they are worked on."
    if workflow_of(spec) is not None:
        return f"The rules of {spec.workflow} apply to this, and only the queue checks them."
    if len(spec.acceptance_criteria) > 1:
        return f"This is done when {len(spec.acceptance_criteria)} things are so, and only the queue asks for them."
    return None
