"""Replan the rest of a day: what happened is kept, and the rest moves as little as possible."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta

from fateforger.drafting.clock import clock_at
from fateforger.drafting.instance import Instance
from fateforger.drafting.minutes import GRID, ceil, instant
from fateforger.drafting.naming import task_of
from fateforger.plan import ET, FixedStart, TBPlan, resolve, zone
from fateforger.values import replace


def from_now(instance: Instance, plan: TBPlan, now: datetime) -> Instance:
    """Return the day from ``now`` on, with ``plan`` as its previous plan.

    Blocks that began before ``now`` stay, and nothing else is placed before it.
    """
    return replace(instance, previous=plan, now=now.astimezone(UTC))


def extend_current_block(instance: Instance, plan: TBPlan, now: datetime, key: str, minutes: int) -> Instance:
    """Return the day when the current block ``key``, and its task, takes ``minutes`` longer.

    Raises ``KeyError``.
    """
    longer = _with_length(plan, key, resolve(plan)[plan.position(key)].minutes + minutes)
    task = task_of(key, (t.id for t in instance.tasks))
    tasks = tuple(
        replace(t, minutes=t.minutes + minutes) if t.id == task and t.minutes is not None else t for t in instance.tasks
    )
    return from_now(replace(instance, tasks=tasks), longer, now)


def finish_early(instance: Instance, plan: TBPlan, now: datetime, task: str) -> Instance:
    """Return the day when the task is done: its current block ends now, and its later blocks go."""
    at = now.astimezone(UTC)
    rest = _fix_starts(plan)
    for block in resolve(rest):
        if task_of(block.key, [task]) != task:
            continue
        start = block.start.astimezone(UTC)
        if start >= at:
            rest = rest.replace(event for event in rest.events if event.key != block.key)
        elif start + block.duration > at:
            rest = _with_length(rest, block.key, max(1, int((at - start) / timedelta(minutes=1))))
    return from_now(without_tasks(instance, [task]), rest, now)


def drop_tasks(instance: Instance, plan: TBPlan, now: datetime, tasks: Collection[str]) -> Instance:
    """Return the day without some tasks and their later blocks."""
    rest = _fix_starts(plan)
    gone = [
        block.key
        for block in resolve(rest)
        if task_of(block.key, tasks) is not None and block.start.astimezone(UTC) >= now.astimezone(UTC)
    ]
    return from_now(without_tasks(instance, tasks), rest.replace(e for e in rest.events if e.key not in gone), now)


def without_tasks(instance: Instance, tasks: Collection[str]) -> Instance:
    """Return the instance without some tasks, and without references to them."""
    kept = tuple(
        replace(t, after=tuple(a for a in t.after if a not in tasks)) for t in instance.tasks if t.id not in tasks
    )
    return replace(instance, tasks=kept)


def start_at(plan: TBPlan, key: str, start: datetime) -> TBPlan:
    """Return the plan with that block at another start, even if it overlaps others there."""
    clock = clock_at(start.astimezone(zone(plan.tz)), plan.date, plan.tz)
    return plan.replace(
        replace(event, timing=replace(event.timing, start=clock))
        if event.key == key and isinstance(event.timing, FixedStart)
        else event
        for event in _fix_starts(plan).events
    )


def keys_before(plan: TBPlan, now: datetime) -> tuple[str, ...]:
    """Return the keys of movable blocks that begin before ``now``, in time order.

    Meetings and background blocks do not count.
    """
    early = [b for b in resolve(plan) if b.start.astimezone(UTC) < now.astimezone(UTC)]
    early = [b for b in early if b.event.type not in {ET.BACKGROUND, ET.MEETING}]
    return tuple(b.key for b in sorted(early, key=lambda b: (b.start.astimezone(UTC), b.index)))


def start_from(plan: TBPlan, keys: Iterable[str], now: datetime) -> TBPlan:
    """Return the plan with those blocks one after the other from ``now`` on.

    They start on the grid and may overlap others.
    """
    lengths = {block.key: block.minutes for block in resolve(plan)}
    start = instant(ceil(now))
    for key in keys:
        plan = start_at(plan, key, start)
        start += timedelta(minutes=-(-lengths[key] // GRID) * GRID)
    return plan


def _fix_starts(plan: TBPlan) -> TBPlan:
    """Return the plan with each block at its own fixed start."""
    return plan.replace(
        replace(
            block.event, timing=FixedStart(start=clock_at(block.start, plan.date, plan.tz), duration=block.duration)
        )
        for block in resolve(plan)
    )


def _with_length(plan: TBPlan, key: str, minutes: int) -> TBPlan:
    """Return the plan with that block at another length."""
    fixed = _fix_starts(plan)
    events = []
    for event in fixed.events:
        if event.key == key and isinstance(event.timing, FixedStart):
            timing = replace(event.timing, duration=timedelta(minutes=minutes))
            events.append(replace(event, timing=timing))
        else:
            events.append(event)
    return fixed.replace(events)
