"""The result of carrying out a task, and the resources for it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from fateforger.constraints import Version
from fateforger.ports import Clock, Jobs, Model, Sessions, Tasks
from fateforger.tasks import Mode, QueuedTask, TaskState
from fateforger.values import replace
from fateforger.workflow import Step

MOST_HANDLED = 20


class Rules(Protocol):
    """All rules of a person. Raises ``StoreError``."""

    async def versions(self, user_id: str) -> tuple[Version, ...]: ...


@dataclass(frozen=True, slots=True)
class Tools:
    """The resources for carrying out tasks.

    ``model`` and ``rules`` are ``None`` where there are none. ``tz`` is used for people without a known time zone.
    """

    tasks: Tasks
    sessions: Sessions
    jobs: Jobs
    clock: Clock
    tz: str
    rules: Rules | None = None
    model: Model | None = None


@dataclass(frozen=True, slots=True)
class Asker:
    """The person who pulled a task, and the channel in which a new plan is opened. ``tz`` is their time zone."""

    user_id: str
    at: datetime
    channel: str
    tz: str
    mode: Mode = Mode.EXECUTOR


@dataclass(frozen=True, slots=True)
class TaskResult:
    """The state of a task after it was carried out as far as possible now, with a sentence about it.

    ``steps`` are added to the task's steps. ``context`` replaces the task's context, if it is set.
    """

    state: TaskState
    outcome: str
    place: str = ""
    steps: tuple[Step, ...] = ()
    context: str | None = None

    def on(self, task: QueuedTask, command_id: str, mode: Mode = Mode.EXECUTOR) -> QueuedTask:
        """Return the task with this result."""
        spec = task.spec if self.context is None else replace(task.spec, context=self.context)
        return replace(
            task,
            spec=spec,
            state=self.state,
            outcome=self.outcome,
            place=self.place or task.place,
            steps=(*task.steps, *self.steps),
            mode=mode,
            handled=(*task.handled, command_id)[-MOST_HANDLED:],
        )
