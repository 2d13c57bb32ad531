"""What is to be done on the day."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fateforger.session.commands.envelope import InSession
from fateforger.session.model import Task


class AddTasks(InSession):
    """Stage 2: more to do. ``proceed`` also moves on to the skeleton."""

    kind: Literal["add_tasks"] = "add_tasks"
    tasks: tuple[Task, ...] = Field(min_length=1)
    proceed: bool = False


class UpdateTask(InSession):
    """Stage 2: a task as it shall be; its id says which."""

    kind: Literal["update_task"] = "update_task"
    task: Task


class ResizeTask(InSession):
    """Stages 2 and 3: a task gets so many minutes."""

    kind: Literal["resize_task"] = "resize_task"
    task_id: str
    minutes: int = Field(gt=0, le=24 * 60)


class RemoveTask(InSession):
    kind: Literal["remove_task"] = "remove_task"
    task_id: str


class MarkOneThing(InSession):
    """Stage 2: this task is the one that matters."""

    kind: Literal["mark_one_thing"] = "mark_one_thing"
    task_id: str


class DeferTask(InSession):
    """Stages 2 and 3: not on this day. The task is kept, and offered when the person plans another one."""

    kind: Literal["defer_task"] = "defer_task"
    task_id: str


class BringAlong(InSession):
    """Stages 2 and 3: do what earlier days left open, and what was left for another day, on this one after all. Without
    ``task_ids`` it is all that is offered. What is ``settled`` is done, or not wanted any more: then without
    ``task_ids`` it is nothing."""

    kind: Literal["bring_along"] = "bring_along"
    task_ids: tuple[str, ...] = ()
    settled: tuple[str, ...] = ()


class UndoCatchUp(InSession):
    """Stages 2 and 3: the last catching up with missed days is taken back, whole."""

    kind: Literal["undo_catch_up"] = "undo_catch_up"


class SplitTask(InSession):
    """Stages 2 and 3: a task may be done in pieces, where it would be done in one go."""

    kind: Literal["split_task"] = "split_task"
    task_id: str
