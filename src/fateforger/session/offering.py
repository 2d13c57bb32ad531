"""Offer the open work of earlier days to a new one.

Pure functions of the person's sessions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import date, datetime, timedelta

from fateforger.drafting.naming import task_of
from fateforger.errors import BadInput
from fateforger.session.catching_up import build_catch_up, open_work
from fateforger.session.days import day_words
from fateforger.session.model import OfferedInput, Session, SessionStatus, Task
from fateforger.session.tasks import with_tasks
from fateforger.tasks import Do, QueuedTask, read_task_id
from fateforger.tasks.outside import OutsideTask
from fateforger.values import replace

LOOK_BACK = timedelta(days=14)
"""Maximum age of a plan whose leftovers are offered."""
MOST_OFFERED = 30


def carry_over(session: Session, others: Iterable[Session], *, now: datetime) -> tuple[OfferedInput, ...]:
    """Return the open work of earlier days, the latest first.

    ``others`` are sessions of the same person. The latest plan that knows a task decides about it. A plan that never
    reached the calendar settles only what the person settled explicitly. Planned work of a day that is over counts as
    open unless they said that it is done.
    """
    days = sorted((s for s in others if s.id != session.id), key=lambda s: (s.date, s.touched_at), reverse=True)
    known = {*_known_ids(session), *(task.id for task in session.deferred)}
    found: list[OfferedInput] = []
    for other in days:
        if session.date - LOOK_BACK <= other.date <= session.date:
            found += [each for each in open_work(other, now) if task_of(each.task.id, known) is None]
        listed = _known_ids(other) if other.written is not None else set(other.settled)
        known |= listed | {task.id for task in other.deferred}
    return tuple(found[:MOST_OFFERED])


def with_queue(
    session: Session, left: Sequence[OfferedInput], queue: Sequence[QueuedTask], *, ended: Collection[str]
) -> tuple[OfferedInput, ...]:
    """Return the leftovers and the person's own work in the ``queue``, in its order.

    ``queue`` holds tasks that can be pulled or are in hand. There are no duplicates, and no task in ``ended``.
    """
    known = {task.id for task in (*session.inputs.tasks, *session.deferred)} | {*session.settled}
    days = tuple(each for each in left if each.task.id not in ended)
    known |= {each.task.id for each in days}
    mine = (task for task in queue if isinstance(task.spec.work, Do) and task.id not in known)
    return (*days, *map(_offer_queued, mine))[:MOST_OFFERED]


def with_outside(
    session: Session, offered: Sequence[OfferedInput], tasks: Sequence[OutsideTask] | None
) -> tuple[OfferedInput, ...]:
    """Return the ``offered`` work and the tasks from TickTick.

    Of the latter, those due by the day come first, then the more important, then those due sooner. ``None`` means
    that TickTick was not read yet; the session's known tasks are used.
    """
    known = {task.id for task in (*session.inputs.tasks, *session.deferred)} | {*session.settled}
    known |= {each.task.id for each in offered}
    if tasks is None:
        found = [each for each in session.offered if each.source == "ticktick"]
    else:
        ordered = sorted(tasks, key=lambda task: _urgency(task, session.date))
        found = [OfferedInput(task=_to_task(task), source="ticktick", day=session.date) for task in ordered]
    return (*offered, *(each for each in found if each.task.id not in known))[:MOST_OFFERED]


def _urgency(task: OutsideTask, day: date) -> tuple[bool, int, date]:
    due = task.due or date.max
    return due > day, -task.priority, due


def _to_task(task: OutsideTask) -> Task:
    due = "" if task.due is None else f", due on {day_words(task.due)}"
    notes = f"From TickTick{due}." + (f"\n\n{task.notes}" if task.notes else "")
    return Task(id=task.id, title=task.title, notes=notes)


def queue_ids(session: Session) -> frozenset[str]:
    """Return the ids of the tasks on its list that are also in the queue."""
    if session.status is SessionStatus.CANCELLED:
        return frozenset()
    return frozenset(task.id for task in session.inputs.tasks if read_task_id(task.id) == task.id)


def _offer_queued(task: QueuedTask) -> OfferedInput:
    spec, day = task.spec, task.created_at.date()
    minutes = spec.work.minutes if isinstance(spec.work, Do) else None
    return OfferedInput(
        task=Task(id=task.id, title=spec.title, minutes=minutes, notes=spec.context), source="queue", day=day
    )


def bring_tasks(session: Session, task_ids: Sequence[str], settled: Sequence[str] = ()) -> Session:
    """Return the session with these tasks on its list, from the offered and deferred ones.

    Without any, all offered tasks are taken, unless something is ``settled``, which is then no longer offered. Raises
    :class:`BadInput` when one of them is neither offered nor deferred.
    """
    there = {each.task.id: each.task for each in session.offered}
    wanted = tuple(task_ids) or (() if settled else tuple(there))
    there |= {task.id: task for task in session.deferred}
    if not (wanted or settled) or any(task_id not in there for task_id in (*wanted, *settled)):
        raise BadInput("That is not open any more; please look at the newest card.")
    tasks = [there[task_id] for task_id in wanted]
    return replace(
        session,
        inputs=with_tasks(session.inputs, tasks),
        offered=tuple(each for each in session.offered if each.task.id not in {*wanted, *settled}),
        deferred=tuple(task for task in session.deferred if task.id not in wanted),
        brought=tuple(dict.fromkeys((*session.brought, *wanted))),
        settled=tuple(dict.fromkeys((*session.settled, *settled))),
        caught_up=build_catch_up(session, wanted, settled) or session.caught_up,
    )


def _known_ids(session: Session) -> set[str]:
    return {*(task.id for task in session.inputs.tasks), *session.brought, *session.settled}
