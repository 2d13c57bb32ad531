"""Routines of a person, as blocks and tasks of a day (decision 064)."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from datetime import UTC, date, datetime, timedelta

from fateforger.drafting.axis import longest_run, slot_range, wall_instant
from fateforger.drafting.context import DraftContext, build_context
from fateforger.drafting.instance import Instance, Pin, Task, Told
from fateforger.drafting.policy import applies_on
from fateforger.memory.settings import Hours, Routine, read_routine
from fateforger.memory.vocabulary import Necessity, Status
from fateforger.planning.grid import GRID, ceil
from fateforger.planning.plan import WORK
from fateforger.planning.timing import zone
from fateforger.values import replace

_PREFIX = "routine"
NEAR = timedelta(hours=2)
"""An event of the same title within this time of a routine is that routine."""


def routine_key(uid: str, day: date) -> str:
    """Return the key of the block of a routine."""
    digest = hashlib.sha1(uid.encode(), usedforsecurity=False).hexdigest()[:12]
    return f"{_PREFIX}-{digest}-{day.isoformat()}"


def find_routine(instance: Instance, key: str) -> Told | None:
    """Return the constraint that the block of a routine comes from, or ``None`` for any other block."""
    if not key.startswith(f"{_PREFIX}-"):
        return None
    stem = key.removesuffix(key[-len("-2026-03-02") :])
    return next((each for each in instance.constraints if routine_key(each.id, instance.date).startswith(stem)), None)


def with_routines(instance: Instance, *, done: Collection[str] = ()) -> Instance:
    """Return the instance with the routines among its constraints.

    A routine with a fixed time that is free becomes a pinned block, any other a task. It is left out where a task or an
    event near its time has its title, where ``done`` holds it, and once its time has passed. A plan that is revised
    keeps the routines it has.
    """
    told = [
        (each, routine)
        for each in instance.constraints
        if each.constraint_record.status is not Status.DECLINED
        and (routine := read_routine(each.constraint_record)) is not None
    ]
    if not told or instance.previous is not None:
        return instance
    context = build_context(instance)
    there = {task.title.casefold() for task in instance.tasks} | {title.casefold() for title in done}
    pins: list[Pin] = []
    tasks: list[Task] = []
    for day in (planned.date for planned in context.days):
        for each, routine in told:
            if not applies_on(each.constraint_record, day) or routine.title.casefold() in there:
                continue
            found = _place(context, each, routine, day)
            if isinstance(found, Pin):
                pins.append(found)
            elif found is not None:
                tasks.append(found)
    return replace(instance, tasks=(*instance.tasks, *tasks), pinned=(*instance.pinned, *pins))


def keep_hours(instance: Instance, task: Task) -> Task:
    """Return the task of a routine's block with the hours of the routine; any other task as it is."""
    told = find_routine(instance, task.id)
    routine = None if told is None else read_routine(told.constraint_record)
    if routine is None or routine.hours is None:
        return task
    start, end = _span(instance, routine.hours, instance.date)
    return replace(task, not_before=start, deadline=end)


def open_hours(context: DraftContext, task: Task, domain: int, slots: int) -> int:
    """Return the open slots outside of the frames for a task whose hours leave it no room in its ``domain``.

    These are the hours of a routine, and, after the end of the day, the hours named for a meal, a rest, or a habit.
    """
    hours = context.limits(task)
    if find_routine(context.instance, task.id) is None:
        if task.type in WORK or not task.energy:
            return 0
        named = context.windows(task.energy)
        domain &= named
        hours &= named & ~slot_range(0, context.days[-1].frame.bit_length())
    if longest_run(domain) >= slots:
        return 0
    behind = 0 if context.now is None else slot_range(0, -(-(ceil(context.now) - context.axis.origin) // GRID))
    return hours & ~(context.busy | behind)


def _place(context: DraftContext, told: Told, routine: Routine, day: date) -> Pin | Task | None:
    """Return a routine on a day, or ``None`` where there is nothing left to plan."""
    planned = next(each for each in context.days if each.date == day)
    start, end = planned.start.astimezone(UTC), planned.end.astimezone(UTC)
    if routine.hours is not None:
        start, end = _span(context.instance, routine.hours, day)
    length = timedelta(minutes=routine.minutes)
    if context.now is not None and start < context.now:
        if routine.is_fixed:
            return None
        start = context.now
    if end - start < length or _is_on_calendar(context, routine, start, end):
        return None
    key = routine_key(told.id, day)
    busy = any(event.start < start + length and start < event.end for event in context.events)
    if routine.is_fixed and not busy:
        return Pin(key=key, title=routine.title, type=routine.kind, start=start, minutes=routine.minutes)
    return Task(
        id=key,
        title=routine.title,
        minutes=routine.minutes,
        type=routine.kind,
        splittable=False,
        priority=2,
        required=told.constraint_record.necessity is Necessity.MUST,
        start=start if routine.is_fixed else None,
        not_before=start,
        deadline=end,
    )


def _span(instance: Instance, hours: Hours, day: date) -> tuple[datetime, datetime]:
    tz = zone(instance.tz)
    start, end = (wall_instant(day, clock, tz) for clock in hours)
    return start, end if start < end else wall_instant(day + timedelta(days=1), hours[1], tz)


def _is_on_calendar(context: DraftContext, routine: Routine, start: datetime, end: datetime) -> bool:
    return any(
        begin < end + NEAR and start - NEAR < finish
        for title, begin, finish in _events(context)
        if title.casefold() == routine.title.casefold()
    )


def _events(context: DraftContext) -> Iterator[tuple[str, datetime, datetime]]:
    for event in context.instance.immovables:
        if event.start is not None and event.end is not None and not event.all_day:
            yield event.title, context.instant(event.start), context.instant(event.end)
