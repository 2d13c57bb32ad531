"""Commands about the tasks of the day."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fateforger.session.commands.envelope import SessionCommandBase
from fateforger.session.model import Task


class AddTasks(SessionCommandBase):
    """Stage 2: add tasks.

    ``proceed`` also moves on to the skeleton.
    """

    kind: Literal["add_tasks"] = "add_tasks"
    tasks: tuple[Task, ...] = Field(min_length=1)
    proceed: bool = False


class UpdateTask(SessionCommandBase):
    """Stage 2: replace the task with the same id."""

    kind: Literal["update_task"] = "update_task"
    task: Task


class ResizeTask(SessionCommandBase):
    """Stages 2 and 3: change the minutes of a task."""

    kind: Literal["resize_task"] = "resize_task"
    task_id: str
    minutes: int = Field(gt=0, le=24 * 60)


class RemoveTask(SessionCommandBase):
    kind: Literal["remove_task"] = "remove_task"
    task_id: str


class MarkOneThing(SessionCommandBase):
    """Stage 2: mark the one thing."""

    kind: Literal["mark_one_thing"] = "mark_one_thing"
    task_id: str


class DeferTask(SessionCommandBase):
    """Stages 2 and 3: leave a task for another day.

    The task is kept, and offered when the person plans another day.
    """

    kind: Literal["defer_task"] = "defer_task"
    task_id: str


class BringAlong(SessionCommandBase):
    """Stages 2 and 3: take on work that earlier days left open or that was deferred.

    Without ``task_ids`` it takes all that is offered, or nothing if there is ``settled`` work. Work in ``settled`` is
    done, or not wanted any more.
    """

    kind: Literal["bring_along"] = "bring_along"
    task_ids: tuple[str, ...] = ()
    settled: tuple[str, ...] = ()


class UndoCatchUp(SessionCommandBase):
    """Stages 2 and 3: undo the last catch-up with missed days as a whole."""

    kind: Literal["undo_catch_up"] = "undo_catch_up"


class SplitTask(SessionCommandBase):
    """Stages 2 and 3: allow a task to be done in pieces."""

    kind: Literal["split_task"] = "split_task"
    task_id: str
