"""What carrying out a task came to, and what it has to do it with."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from fateforger.constraints import Version
from fateforger.ports import Clock, Jobs, Model, Sessions, Tasks
from fateforger.tasks import Mode, QueuedTask, TaskState
from fateforger.workflow import Step

MOST_HANDLED = 20


class Rules(Protocol):
    """Everything that is remembered of a person. Raises ``StoreError``."""

    async def versions(self, user_id: str) -> tuple[Version, ...]: ...


@dataclass(frozen=True, slots=True)
class Tools:
    """What tasks are carried out with. ``model`` and ``rules`` are ``None`` where there are none; ``tz`` is for people
    whose zone nobody knows."""

    tasks: Tasks
    sessions: Sessions
    jobs: Jobs
    clock: Clock
    tz: str
    rules: Rules | None = None
    model: Model | None = None


@dataclass(frozen=True, slots=True)
class Asker:
    """Who pulled a task, and where: a plan that it begins is opened there. ``tz`` is their zone."""

    user_id: str
    at: datetime
    channel: str
    tz: str
    mode: Mode = Mode.EXECUTOR


@dataclass(frozen=True, slots=True)
class Carried:
    """Where a task stands after it was carried out as far as that goes now, in a state and a sentence. ``steps`` are
    added to those that were done for it; ``context`` takes the place of what the task says, if there is one."""

    state: TaskState
    outcome: str
    place: str = ""
    steps: tuple[Step, ...] = ()
    context: str | None = None

    def on(self, task: QueuedTask, command_id: str, mode: Mode = Mode.EXECUTOR) -> QueuedTask:
        """The task after that."""
        spec = task.spec if self.context is None else task.spec.model_copy(update={"context": self.context})
        return task.model_copy(
            update={
                "spec": spec,
                "state": self.state,
                "outcome": self.outcome,
                "place": self.place or task.place,
                "steps": (*task.steps, *self.steps),
                "mode": mode,
                "handled": (*task.handled, command_id)[-MOST_HANDLED:],
            }
        )
