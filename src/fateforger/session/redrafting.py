"""Describe the effect of an option on a draft.

The texts name the changed inputs, and the tasks that have a place since. Pure functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fateforger.drafting import in_words
from fateforger.drafting.naming import task_of
from fateforger.plan import TBPlan
from fateforger.session.model import FrameFacts, Session, Task


def option_words(before: Session, after: Session) -> tuple[str, ...]:
    """Describe how an option changed the inputs of a draft.

    The text is for cards that show only the draft, and is the same for buttons and words. Deferred work is mentioned
    where it is kept.
    """
    tasks = {task.id: task for task in before.inputs.tasks}
    stay = {task.id for task in (*after.inputs.tasks, *after.deferred)}
    return (
        *_frame_words(before.frame, after.frame),
        *(line for task in after.inputs.tasks if task.id in tasks for line in _task_words(tasks[task.id], task)),
        *(f"“{task.title}” is off your list." for task in tasks.values() if task.id not in stay),
    )


def _frame_words(before: FrameFacts, after: FrameFacts) -> Iterator[str]:
    if after.day_start != before.day_start:
        yield f"Your day starts at {after.day_start:%H:%M} now."
    if after.day_end != before.day_end:
        yield f"Your day ends at {after.day_end:%H:%M} now."


def _task_words(before: Task, after: Task) -> Iterator[str]:
    if after.minutes is not None and after.minutes != before.minutes:
        yield f"“{after.title}” takes {in_words(after.minutes)} now."
    if after.in_pieces and not before.in_pieces:
        yield f"“{after.title}” may be done in pieces now."


def room_words(over: TBPlan, session: Session) -> tuple[str, ...]:
    """Name the tasks that gained or lost a place compared with the plan before."""
    tasks = {task.id: task.title for task in session.inputs.tasks}
    was, now = _placed_tasks(over, tasks), _placed_tasks(session.plan, tasks)
    return (
        *(f"“{title}” has a place now." for task, title in tasks.items() if task in now and task not in was),
        *(f"“{title}” has no place any more." for task, title in tasks.items() if task in was and task not in now),
    )


def _placed_tasks(plan: TBPlan | None, tasks: Iterable[str]) -> set[str]:
    found = (task_of(block.block_key, tasks) for block in (() if plan is None else plan.events))
    return {task for task in found if task is not None}
