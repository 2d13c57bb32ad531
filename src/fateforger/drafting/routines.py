"""Routines of a person as blocks and tasks of a day (decision 064), and the orders of items."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import reduce
from itertools import combinations, permutations
from operator import or_

from fateforger.drafting import weights
from fateforger.drafting.axis import PlannedDay, longest_run, slot_range, stretches, wall_instant
from fateforger.drafting.context import DraftContext, SlotRule, build_context
from fateforger.drafting.instance import Instance, Pin, Task, Told
from fateforger.drafting.policy import applies_on
from fateforger.drafting.problem import SITTING, Item, Order
from fateforger.memory.settings import Hours, Routine, read_routine
from fateforger.memory.vocabulary import Necessity, Status
from fateforger.planning.plan import WORK
from fateforger.planning.task_details import SHUTDOWN
from fateforger.planning.timing import GRID, ceil, zone
from fateforger.values import replace

_NUMBER = re.compile(r" \((\d+)/\d+\)$")
"""Number of a piece at the end of its title."""


def soft_points(rule: SlotRule) -> tuple[int, int]:
    """Return the points for each slot, and the points charged once."""
    if rule.necessity is Necessity.SHOULD:
        return weights.SHOULD_SLOT, weights.SHOULD
    return weights.PREFER_SLOT, weights.PREFER


def build_orders(context: DraftContext, rules: Sequence[SlotRule], items: Sequence[Item]) -> Iterator[Order]:
    """Yield the orders that rules ask for, and those of a good day."""
    yield from _policy_orders(context, items)
    if context.mending:
        yield from _orders_of_pieces(context, items)
    for rule in rules:
        days = tuple(day.slots & rule.on for day in context.days)
        points = None if rule.must else soft_points(rule)[1]
        of_kind = {
            kind: frozenset(i for i in members_of(rule, items) if items[i].source.kind is kind) for kind in rule.order
        }
        of_task = {task: frozenset(i.index for i in items if i.source.task == task) for task in rule.task_order}
        for first, then in combinations(rule.order, 2):
            yield Order(of_kind[first], of_kind[then], days, points)
        for task, later in combinations(rule.task_order, 2):
            yield Order(of_task[task], of_task[later], (sum(days),), points)


def _policy_orders(context: DraftContext, items: Sequence[Item]) -> Iterator[Order]:
    """Yield the orders of a good day: the one thing, other deep work, shallow work, and the end of work.

    Where time is too short for a sitting, or deep work waits for its best hours, shallow work keeps it from nothing;
    nor does other deep work, while the one thing waits for its own.
    """
    policy = context.instance.policy
    short = reduce(or_, (slot_range(at, at + n) for at, n in stretches(context.free) if n < SITTING), 0)
    one = frozenset(i.index for i in items if i.source.one)
    needed = {n for i in one for n in items[i].precedence.needs}
    deep = frozenset(i.index for i in items if i.deep and not i.source.one)
    shallow = frozenset(i.index for i in items if i.work and not i.deep and not i.source.one)
    end = frozenset(i.index for i in items if i.source.id.startswith(f"{SHUTDOWN}-"))
    frames = tuple(day.frame for day in context.days)  # what the person put after hours does not end the day
    starts = reduce(or_, (items[i].firm or 0 for i in end), 0)
    before_end = frozenset(i for i in one | deep | shallow if not _takes_end(context, items[i], starts))
    orders = [(before_end, end, weights.WORK_END, frames)]
    if policy.one_thing_early:
        movable = frozenset(i for i in one if items[i].firm is None or items[i].source.pinned)
        hours = reduce(or_, (context.best_hours(each) for each in context.instance.tasks if each.one_thing), 0)
        from_best = tuple(_slots_from(hours, day) for day in context.days)
        for task, members in _by_task(deep - needed, items).items():
            points = min(weights.ONE_FIRST, _worth(context, task) // (1 + _sittings(context, movable, items)))
            orders.append((movable, members, points, from_best))
        hours = context.windows(policy.focus)
        long = tuple(_slots_from(hours, day) & ~short for day in context.days)
        orders.append((one | deep, shallow, weights.DEEP_FIRST, long))
    for first, then, points, on in orders:
        if first and then:
            yield Order(first, then, on, points)


def _orders_of_pieces(context: DraftContext, items: Sequence[Item]) -> Iterator[Order]:
    """Yield the orders of the numbered pieces of each task, but for those that the person wanted otherwise."""
    pieces: dict[str, list[tuple[int, Item]]] = {}
    for item in items:
        numbered = _NUMBER.search(item.source.title)
        if numbered is not None and not item.source.pinned:
            pieces.setdefault(item.source.title[: numbered.start()], []).append((int(numbered[1]), item))
    on = (sum(day.slots for day in context.days),)
    for (one, first), (two, then) in (pair for same in pieces.values() for pair in permutations(same, 2)):
        was = (first.preferences.previous, then.preferences.previous)
        if one < two and not (all(was) and was[0] > was[1]):
            yield Order(frozenset({first.index}), frozenset({then.index}), on, weights.PIECES)


def _takes_end(context: DraftContext, item: Item, starts: int) -> bool:
    """Check whether work at a given time leaves no time to shut down after it, as a late meeting does."""
    given = item.given_slots
    on = next((day.slots for day in context.days if given & day.slots), 0)
    return bool(on) and not (starts & on) >> given.bit_length()


def _slots_from(best: int, day: PlannedDay) -> int:
    """Return the slots of a day from the first of these in its frame; all if there is none."""
    best &= day.frame
    return day.slots & -(best & -best) if best else day.slots


def _by_task(members: Iterable[int], items: Sequence[Item]) -> dict[str | None, frozenset[int]]:
    found: dict[str | None, frozenset[int]] = {}
    for i in sorted(members):
        task = items[i].source.task
        found[task] = found.get(task, frozenset()) | {i}
    return found


def _worth(context: DraftContext, task: str | None) -> int:
    """Return the points of a task's place; those of a block of the person's own are more than its order costs."""
    found = next((each for each in context.instance.tasks if each.id == task), None)
    if found is None:
        return weights.ONE_THING
    slots = -(-found.length(context.instance.policy) // GRID)
    return weights.PLACED + weights.PLACED_SLOT[found.priority] * slots


def _sittings(context: DraftContext, one: Iterable[int], items: Sequence[Item]) -> int:
    """Return the number of pieces of the one thing if each is as long as the person holds."""
    policy = context.instance.policy
    tasks = {items[i].source.task for i in one}
    lengths = [task.length(policy) for task in context.instance.tasks if task.id in tasks]
    return sum(-(-minutes // (policy.longest_focus or minutes)) for minutes in lengths)


def members_of(rule: SlotRule, items: Sequence[Item]) -> frozenset[int]:
    """Return the indices of the items that a rule is about."""
    return frozenset(i.index for i in items if rule.applies_to(i.source.kind, i.source.task))


_PREFIX = "routine"
NEAR = timedelta(hours=2)
"""An event of the same title within this time of a routine is that routine."""


def routine_key(uid: str, day: date) -> str:
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
    event near its time has its title, where ``done`` holds it, and once its time is over. A plan that is revised keeps
    the routines it has.
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
    """Return a routine on a day, or ``None`` where there is nothing left to plan.

    One whose time has begun, or has not enough left, is a task that finds no place, so that the draft names it.
    """
    planned = next(each for each in context.days if each.date == day)
    start, end = planned.start.astimezone(UTC), planned.end.astimezone(UTC)
    if routine.hours is not None:
        start, end = _span(context.instance, routine.hours, day)
    length = timedelta(minutes=routine.minutes)
    now = start if context.now is None else context.now
    begun = start < now
    if begun and not routine.is_fixed:
        start = now
    if end <= now or _is_on_calendar(context, routine, start, end):
        return None
    key = routine_key(told.id, day)
    busy = any(event.start < start + length and start < event.end for event in context.events)
    if routine.is_fixed and not busy and not begun:
        return Pin(key=key, title=routine.title, type=routine.kind, start=start, minutes=routine.minutes)
    return Task(
        id=key,
        title=routine.title,
        minutes=routine.minutes,
        type=routine.kind,
        splittable=False,
        priority=2,
        required=told.constraint_record.necessity is Necessity.MUST and end - max(start, now) >= length,
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
