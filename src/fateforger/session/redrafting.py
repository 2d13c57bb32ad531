"""What a way out did to a draft, in words: what it changed, and what has a place since. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from fateforger.drafting import in_words
from fateforger.drafting.naming import task_of
from fateforger.plan import TBPlan
from fateforger.session import commands
from fateforger.session.model import Session


def taken_words(before: Session, command: commands.SessionCommand) -> tuple[str, ...]:
    """What a way out changed of what a draft is made from, said where only the draft is on the card. What is left for
    another day is said where it is kept."""
    titles = {task.id: task.title for task in before.inputs.tasks}
    match command:
        case commands.AdjustFrame(day_start=start, day_end=end):
            starts = () if start is None else (f"Your day starts at {start:%H:%M} now.",)
            return starts if end is None else (*starts, f"Your day ends at {end:%H:%M} now.")
        case commands.ResizeTask(task_id=task_id, minutes=minutes) if task_id in titles:
            return (f"“{titles[task_id]}” takes {in_words(minutes)} now.",)
        case commands.SplitTask(task_id=task_id) if task_id in titles:
            return (f"“{titles[task_id]}” may be done in pieces now.",)
        case commands.RemoveTask(task_id=task_id) if task_id in titles:
            return (f"“{titles[task_id]}” is off your list.",)
        case _:
            return ()


def room_words(over: TBPlan, session: Session) -> tuple[str, ...]:
    """Which tasks have a place in the session's plan and had none in the one before it, and the other way round."""
    tasks = {task.id: task.title for task in session.inputs.tasks}
    was, now = _placed(over, tasks), _placed(session.plan, tasks)
    return (
        *(f"“{title}” has a place now." for task, title in tasks.items() if task in now and task not in was),
        *(f"“{title}” has no place any more." for task, title in tasks.items() if task in was and task not in now),
    )


def _placed(plan: TBPlan | None, tasks: Iterable[str]) -> set[str]:
    found = (task_of(block.block_key, tasks) for block in (() if plan is None else plan.events))
    return {task for task in found if task is not None}
