"""Commands about a day that does not go, or does not fit, as it was wished for."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fateforger.session.envelope import InSession


class DeferTask(InSession):
    """Stages 2 and 3: not on this day. The task is kept, and offered when the person plans another one."""

    kind: Literal["defer_task"] = "defer_task"
    task_id: str


class BringAlong(InSession):
    """Stages 2 and 3: do what earlier days left open, and what was left for another day, on this one after all. Without
    ``task_ids`` it is all that is offered."""

    kind: Literal["bring_along"] = "bring_along"
    task_ids: tuple[str, ...] = ()


class Replan(InSession):
    """Stages 4 and 5: how the day went so far, by the keys of blocks; the rest of it is fitted anew, as one change.

    ``late``: what is under way takes so many minutes longer, or else the next block begins so much later; 0 means that
    what is under way begins only now. ``missed`` blocks were to be done before and are not; ``done`` tasks are;
    ``not_today``: the tasks of these blocks wait for another day. With nothing of that it is only fitted anew.
    """

    kind: Literal["replan"] = "replan"
    late: int | None = Field(None, ge=0, le=12 * 60)
    missed: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    not_today: tuple[str, ...] = ()


class SplitTask(InSession):
    """Stages 2 and 3: a task may be done in pieces, where it would be done in one go."""

    kind: Literal["split_task"] = "split_task"
    task_id: str
