"""Collect the open work of earlier days: deferred, unplaced, or planned without a word on the outcome.

Catching up with such missed days is one step, and it can be undone in one step. Pure functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime

from fateforger.drafting.naming import task_of
from fateforger.errors import BadInput
from fateforger.plan import ET
from fateforger.session.elapsed import rest_of_task, task_id_of
from fateforger.session.frame import day_window, is_over
from fateforger.session.model import CatchUp, InputFacts, OfferedInput, Session, Task
from fateforger.session.placing import by_time
from fateforger.session.tasks import keep_for_later
from fateforger.values import replace

WORK = frozenset({ET.DEEP_WORK, ET.SHALLOW_WORK})


def open_work(session: Session, now: datetime) -> tuple[OfferedInput, ...]:
    """Return the work that a session leaves to another day, without duplicates.

    Blocks that ended are not known to be done.
    """
    found: dict[str, OfferedInput] = {}
    for each in _list_open(session, now):
        if task_of(each.task.id, found) is None:
            found[each.task.id] = each
    return tuple(found.values())


def missed_days(session: Session) -> tuple[date, ...]:
    """Return the missed days: earlier days without a word on how they went, the first one first."""
    return tuple(sorted({each.day for each in session.offered if each.source == "planned"}))


def open_work_of_missed(session: Session) -> tuple[OfferedInput, ...]:
    """Return all open work of the missed days, the first day first."""
    days = set(missed_days(session))
    things = (each for each in session.offered if each.source in {"deferred", "unplaced", "planned"})
    return tuple(sorted((each for each in things if each.day in days), key=lambda each: each.day))


def build_catch_up(session: Session, brought: Sequence[str], settled: Sequence[str]) -> CatchUp | None:
    """Return the catch-up step that brings or settles work of missed days.

    Returns ``None`` when none of that work is from a missed day.
    """
    things = tuple(each for each in open_work_of_missed(session) if each.task.id in {*brought, *settled})
    return CatchUp(things=things, brought=tuple(brought)) if things else None


def undo_catch_up(session: Session) -> Session:
    """Return the session without its last catch-up; work deferred since then stays deferred.

    Raises :class:`BadInput` when there is nothing to undo.
    """
    step = session.caught_up
    if step is None:
        raise BadInput("That is taken back already; please look at the newest card.")
    ids = {each.task.id for each in step.things}
    kept = tuple(task for task in session.inputs.tasks if task.id not in ids)
    waits = {task.id for task in session.deferred}
    back = tuple(each for each in step.things if each.task.id not in waits)
    return replace(
        session,
        inputs=InputFacts(tasks=kept),
        offered=(*back, *(each for each in session.offered if each.task.id not in ids)),
        brought=tuple(task_id for task_id in session.brought if task_id not in ids),
        settled=tuple(task_id for task_id in session.settled if task_id not in ids),
        caught_up=None,
    )


def _list_open(session: Session, now: datetime) -> Iterator[OfferedInput]:
    for task in session.deferred:
        yield OfferedInput(task=task, source="deferred", day=session.date)
    if session.written is None:
        return
    if is_over(session, now):
        for task in _planned_not_done(session):
            yield OfferedInput(task=task, source="planned", day=session.date)
    for task in _unplaced_tasks(session):
        yield OfferedInput(task=task, source="unplaced", day=session.date)


def _planned_not_done(session: Session) -> Iterator[Task]:
    """Yield the planned work by task, at its planned length."""
    plan = session.plan
    if plan is None:
        return
    end = day_window(session.date, session.tz)[1]
    for name in dict.fromkeys(task_id_of(session, block) for block in by_time(plan) if block.event.type in WORK):
        done = task_of(name, session.settled) is not None
        task = None if done else rest_of_task(session, plan, name, end, whole=True)
        if task is not None:
            yield keep_for_later(task)


def _unplaced_tasks(session: Session) -> Iterator[Task]:
    """Yield the tasks that the plan has no room for."""
    tasks = {task.id: task for task in session.inputs.tasks}
    for each in session.unplaced:
        task = each.task or tasks.get(each.task_id)
        if task is not None:
            yield keep_for_later(task)
