"""Open work of earlier days: deferred, unplaced, or planned without a word on the outcome.

Catching up with such missed days is one step, and it can be undone in one step. Pure functions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta

from fateforger.errors import BadInput
from fateforger.limits import MAX_CRITERIA, MAX_CRITERION_CHARS, MAX_DAY_TASKS
from fateforger.planning.plan import ET, WORK
from fateforger.planning.task_details import task_of
from fateforger.session.day import day_window, is_over
from fateforger.session.model import CatchUp, OfferedInput, Session, SessionStatus, Task
from fateforger.session.placement import by_time
from fateforger.session.replanning import rest_of_task, task_id_of
from fateforger.session.tasks import keep_for_later, with_tasks
from fateforger.tasks.task import NORMAL, Do, OutsideTask, QueuedTask, read_task_id
from fateforger.text import format_day
from fateforger.text import gettext as _
from fateforger.values import replace


def open_work(session: Session, now: datetime) -> tuple[OfferedInput, ...]:
    """Return the work that a session leaves to another day, without duplicates.

    Blocks that ended are not known to be done. Work that went to the queue has its id there.
    """
    returned = session.open_work.returned
    queued = {} if returned is None or returned.undone else {each.id: each.queued for each in returned.tasks}
    found: dict[str, OfferedInput] = {}
    for each in _list_open(session, now):
        name = queued.get(each.task.id, each.task.id)
        if task_of(name, found) is None:
            found[name] = replace(each, task=replace(each.task, id=name))
    return tuple(found.values())


def work_of_missed_day(session: Session, others: Iterable[Session], *, now: datetime) -> tuple[OfferedInput, ...]:
    """Return the open work of a day that is over, without the tasks that a later day of the person knows."""
    later = [other for other in others if other.id != session.id and other.date > session.date]
    known = {name for other in later for name in (*_known_ids(other), *(t.id for t in other.open_work.deferred))}
    return tuple(each for each in open_work(session, now) if task_of(each.task.id, known) is None)


def list_offered(session: Session, *sources: str) -> list[OfferedInput]:
    """Return the offered work that comes from one of the ``sources``."""
    return [each for each in session.open_work.offered if each.source in sources]


def find_left_over(session: Session) -> list[OfferedInput]:
    """Return the offered leftovers of earlier days, except those of missed days."""
    missed = open_work_of_missed(session)
    return [each for each in list_offered(session, "deferred", "unplaced") if each not in missed]


def missed_days(session: Session) -> tuple[date, ...]:
    """Return the missed days: earlier days without a word on how they went, the first one first."""
    return tuple(sorted({each.day for each in list_offered(session, "planned")}))


def open_work_of_missed(session: Session) -> tuple[OfferedInput, ...]:
    """Return all open work of the missed days, the first day first."""
    days = set(missed_days(session))
    things = list_offered(session, "deferred", "unplaced", "planned")
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
    step = session.open_work.caught_up
    if step is None:
        raise BadInput(_("That is taken back already; please look at the newest card."))
    ids = {each.task.id for each in step.things}
    kept = tuple(task for task in session.day.inputs.tasks if task.id not in ids)
    waits = {task.id for task in session.open_work.deferred}
    back = tuple(each for each in step.things if each.task.id not in waits)
    return session.with_day(inputs=replace(session.day.inputs, tasks=kept)).with_open_work(
        offered=(*back, *(each for each in session.open_work.offered if each.task.id not in ids)),
        brought=tuple(task_id for task_id in session.open_work.brought if task_id not in ids),
        settled=tuple(task_id for task_id in session.open_work.settled if task_id not in ids),
        caught_up=None,
    )


def _list_open(session: Session, now: datetime) -> Iterator[OfferedInput]:
    for task in session.open_work.deferred:
        yield OfferedInput(task=task, source="deferred", day=session.date)
    if session.sync.written is None:
        return
    if is_over(session, now):
        for task in _planned_not_done(session):
            yield OfferedInput(task=task, source="planned", day=session.date)
    for task in list_unplaced_tasks(session):
        yield OfferedInput(task=task, source="unplaced", day=session.date)


OWED = WORK | {ET.HABIT}
"""Types of blocks that work and errands have."""


def _planned_not_done(session: Session) -> Iterator[Task]:
    """Yield the planned work and errands by task, at their planned length."""
    plan = session.planning.plan
    if plan is None:
        return
    end = day_window(session.date, session.tz)[1]
    for name in dict.fromkeys(task_id_of(session, block) for block in by_time(plan) if block.event.type in OWED):
        done = task_of(name, session.open_work.settled) is not None
        task = None if done else rest_of_task(session, plan, name, end, whole=True)
        if task is not None and (task.details.kind.stays_open or task.details.items):
            yield keep_for_later(task)


def list_unplaced_tasks(session: Session) -> Iterator[Task]:
    """Yield the tasks that the plan has no room for; the plan of the next day offers them."""
    tasks = {task.id: task for task in session.day.inputs.tasks}
    for each in session.planning.unplaced:
        task = each.task or tasks.get(each.task_id)
        if task is not None:
            yield keep_for_later(task)


LOOK_BACK = timedelta(days=14)
"""Maximum age of a plan whose leftovers are offered."""
MOST_OFFERED = MAX_DAY_TASKS
"""Most tasks that are offered to a day: all that another day may have left open."""


def carry_over(session: Session, others: Iterable[Session], *, now: datetime) -> tuple[OfferedInput, ...]:
    """Return the open work of earlier days, the latest first.

    ``others`` are sessions of the same person. The latest plan that knows a task decides about it. A plan that never
    reached the calendar settles only what the person settled explicitly, once its day is over. Planned work of a day
    that is over counts as open unless they said that it is done.
    """
    days = sorted((s for s in others if s.id != session.id), key=lambda s: (s.date, s.touched_at), reverse=True)
    known = {*_known_ids(session), *(task.id for task in session.open_work.deferred)}
    found: list[OfferedInput] = []
    for other in days:
        if session.date - LOOK_BACK <= other.date <= session.date:
            found += [each for each in open_work(other, now) if task_of(each.task.id, known) is None]
        settles = other.sync.written is not None or _is_under_way(other, session, now)
        listed = _known_ids(other) if settles else set(other.open_work.settled)
        known |= listed | {task.id for task in other.open_work.deferred}
    return tuple(found[:MOST_OFFERED])


def list_elsewhere(session: Session, others: Iterable[Session], *, now: datetime) -> frozenset[str]:
    """Return the ids of the tasks that are on the list of an open plan for another day, which is not over."""
    return frozenset(name for other in others if _is_under_way(other, session, now) for name in _listed_ids(other))


def _is_under_way(other: Session, session: Session, now: datetime) -> bool:
    """Check whether another session is an open plan for another day that is not over."""
    return other.is_open and other.date != session.date and not is_over(other, now)


def with_queue(
    session: Session,
    left: Sequence[OfferedInput],
    queue: Sequence[QueuedTask],
    *,
    ended: Collection[str],
    elsewhere: Collection[str],
) -> tuple[OfferedInput, ...]:
    """Return the leftovers and the person's own work in the ``queue``, in its order.

    ``queue`` holds tasks that can be pulled or are in hand; those in ``elsewhere`` are planned for another day. There
    are no duplicates, and no task in ``ended``.
    """
    known = {*_listed_ids(session), *(task.id for task in session.open_work.deferred), *session.open_work.settled}
    known |= set(elsewhere)
    days = tuple(each for each in left if each.task.id not in ended)
    known |= {each.task.id for each in days}
    mine = (task for task in queue if _can_offer(task, session.date) and task.id not in known)
    return (*days, *map(_offer_queued, mine))[:MOST_OFFERED]


def with_outside(
    session: Session, offered: Sequence[OfferedInput], tasks: Sequence[OutsideTask] | None
) -> tuple[OfferedInput, ...]:
    """Return the ``offered`` work and the tasks from TickTick.

    Of the latter, those due by the day come first, then the more important, then those due sooner. ``None`` means
    that TickTick was not read yet; the session's known tasks are used.
    """
    known = {*_listed_ids(session), *(task.id for task in session.open_work.deferred), *session.open_work.settled}
    known |= {each.task.id for each in offered}
    if tasks is None:
        found = list_offered(session, "ticktick")
    else:
        ordered = sorted(tasks, key=lambda task: _urgency(task, session.date))
        found = [OfferedInput(task=_to_task(task), source="ticktick", day=session.date) for task in ordered]
    return (*offered, *(each for each in found if each.task.id not in known))[:MOST_OFFERED]


def _urgency(task: OutsideTask, day: date) -> tuple[bool, int, date]:
    due = task.due or date.max
    return due > day, -task.priority, due


def _to_task(task: OutsideTask) -> Task:
    notes = _("From TickTick.") if task.due is None else _("From TickTick, due on {due}.", due=format_day(task.due))
    notes += f"\n\n{task.notes}" if task.notes else ""
    return Task(id=task.id, title=task.title, notes=notes)


def queue_ids(session: Session) -> frozenset[str]:
    """Return the ids of the tasks on its list that are also in the queue."""
    if session.status is SessionStatus.CANCELLED:
        return frozenset()
    return frozenset(name for name in _listed_ids(session) if read_task_id(name) == name)


def _listed_ids(session: Session) -> set[str]:
    """Return the ids of the tasks on the list, and of those that are in its boxes."""
    tasks = session.day.inputs.tasks
    return {*(task.id for task in tasks), *(item.id for task in tasks for item in task.details.items if item.id)}


def _can_offer(task: QueuedTask, day: date) -> bool:
    """Check whether a task is work of the person's own, and not kept for a later day."""
    return isinstance(task.spec.work, Do) and (task.spec.details.from_day or day) <= day


def _offer_queued(task: QueuedTask) -> OfferedInput:
    return OfferedInput(
        task=to_task(task),
        source="queue",
        day=task.created_at.date(),
        for_day=task.spec.details.from_day,
        origin="" if given_day(task) is None else task.origin.reference,
    )


def given_day(task: QueuedTask) -> date | None:
    """Return the day to which another day gave the task, or ``None``."""
    return task.spec.details.from_day if task.origin.door == "task" else None


def to_task(task: QueuedTask) -> Task:
    """Return a task of the queue as one of a day."""
    spec = task.spec
    work = spec.work if isinstance(spec.work, Do) else Do()
    details = replace(
        spec.details,
        priority=spec.details.priority if spec.priority == NORMAL else spec.priority,
        after=tuple(dict.fromkeys((*spec.details.after, *task.blocked_by))),
    )
    criteria = tuple(each for each in spec.acceptance_criteria if len(each) <= MAX_CRITERION_CHARS)[:MAX_CRITERIA]
    return Task(
        id=task.id,
        title=spec.title,
        minutes=work.minutes,
        notes=spec.context,
        done_when=() if given_day(task) is None else criteria,
        details=details,
    )


def bring_tasks(session: Session, task_ids: Sequence[str], settled: Sequence[str] = ()) -> Session:
    """Return the session with these tasks on its list, from the offered and deferred ones.

    Without any, all offered tasks are taken, unless something is ``settled``, which is then no longer offered. Raises
    :class:`BadInput` when one of them is neither offered nor deferred.
    """
    there = {each.task.id: each.task for each in session.open_work.offered}
    wanted = tuple(task_ids) or (() if settled else tuple(there))
    there |= {task.id: task for task in session.open_work.deferred}
    if not (wanted or settled) or any(task_id not in there for task_id in (*wanted, *settled)):
        raise BadInput(_("That is not open any more; please look at the newest card."))
    tasks = [there[task_id] for task_id in wanted]
    return session.with_day(inputs=with_tasks(session.day.inputs, tasks)).with_open_work(
        offered=tuple(each for each in session.open_work.offered if each.task.id not in {*wanted, *settled}),
        deferred=tuple(task for task in session.open_work.deferred if task.id not in wanted),
        brought=tuple(dict.fromkeys((*session.open_work.brought, *wanted))),
        settled=tuple(dict.fromkeys((*session.open_work.settled, *settled))),
        caught_up=build_catch_up(session, wanted, settled) or session.open_work.caught_up,
    )


def _known_ids(session: Session) -> set[str]:
    return {*_listed_ids(session), *session.open_work.brought, *session.open_work.settled}
