"""Context for reading a message, apart from the plan of its thread."""

from __future__ import annotations

from datetime import date as Date  # noqa: N812  as in the commands

from pydantic import Field

from fateforger.session.messages import RecentTalk
from fateforger.tasks.durations import Estimate
from fateforger.tasks.task import QueuedTask
from fateforger.tasks.workflows import Workflows
from fateforger.values import Value

MOST_TASKS = 25
"""Tasks of the queue that a model is shown."""


class OpenPlan(Value):
    """A day that has a thread of its own."""

    session_id: str
    date: Date
    step: str


class WorkflowUse(Value):
    """A workflow that a new task can have, and when it applies."""

    name: str
    description: str
    applies_when: tuple[str, ...] = ()
    not_when: tuple[str, ...] = ()


class RuledWork(Value):
    """A task in hand that has rules: its steps by name, and the states that only the person knows, with their words."""

    task_id: str
    title: str
    steps: tuple[str, ...] = ()
    questions: tuple[tuple[str, str], ...] = ()


def list_uses(workflows: Workflows) -> tuple[WorkflowUse, ...]:
    """Return the workflows that a task can have."""
    found = [workflow for name in workflows.names if (workflow := workflows.get(name)) is not None]
    return tuple(
        WorkflowUse(name=w.name, description=w.description, applies_when=w.applies_when, not_when=w.not_when)
        for w in found
    )


class OutsideContext(Value):
    """Context apart from the plan of a thread: the queue, its rules, how long tasks take, other plans, recent talk."""

    tasks: tuple[QueuedTask, ...] = ()
    workflows: tuple[WorkflowUse, ...] = Field(default_factory=lambda: list_uses(Workflows()))
    ruled: tuple[RuledWork, ...] = ()
    estimates: tuple[Estimate, ...] = ()
    plans: tuple[OpenPlan, ...] = ()
    talk: RecentTalk | None = None
    focus: str | None = None
    """Id of the task that the person is going through in this thread (S217)."""

    @property
    def focus_number(self) -> int | None:
        """The row of that task in the queue."""
        return next((n for n, task in enumerate(self.tasks[:MOST_TASKS], 1) if task.id == self.focus), None)
