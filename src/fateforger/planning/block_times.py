"""Retiming of a plan: blocks at other places, as ops or as a plan; and the tasks and defaults behind block keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from fateforger.planning.grid import ceil, clock_at, instant, on_grid
from fateforger.planning.patch import UpdateBlock, apply_op
from fateforger.planning.plan import ET, Resolved, TBPlan, resolve
from fateforger.planning.timing import FixedStart, is_anchored, zone
from fateforger.values import replace, replace_named

LUNCH = "lunch"
SHUTDOWN = "shutdown"
WAY = "way-"
WAY_TO = f"{WAY}to-"
WAY_FROM = f"{WAY}from-"
"""Beginnings of the keys of travel: to and from an event or a task, whose id follows."""
USUAL_DEEP = 60
USUAL_SHALLOW = 30
"""Minutes of deep and of shallow work whose length is open (S106)."""


def is_lunch(key: str) -> bool:
    """Check whether a key or an id is that of a lunch break."""
    return key.startswith(f"{LUNCH}-")


def is_shutdown(key: str) -> bool:
    """Check whether a key or an id is that of the shutdown."""
    return key.startswith(f"{SHUTDOWN}-")


def task_of(key: str, tasks: Iterable[str]) -> str | None:
    """Return the task that a block key belongs to, or ``None``.

    A key is the task's id, optionally with the number of the piece.
    """
    ids = set(tasks)
    if key in ids:
        return key
    stem, _, number = key.rpartition("-")
    return stem if stem in ids and number.isdigit() else None


@dataclass(frozen=True, slots=True)
class BlockPlace:
    """Place of a block: an aware start, and elapsed time."""

    start: datetime
    duration: timedelta

    @property
    def end(self) -> datetime:
        return self.start.astimezone(UTC) + self.duration


def place_of(block: Resolved) -> BlockPlace:
    """Return the current place of a block, in UTC."""
    return BlockPlace(block.start.astimezone(UTC), block.duration)


def to_timing(place: BlockPlace, plan: TBPlan) -> FixedStart:
    """Return a place as the timing of a block.

    Raises pydantic's ``ValidationError`` for one that no block can have.
    """
    return FixedStart(start=clock_at(place.start, plan.date, plan.tz), duration=place.duration)


def retime_blocks(plan: TBPlan, places: Mapping[str, BlockPlace]) -> tuple[UpdateBlock, ...]:
    """Return the ops that put blocks of ``plan`` at these places, by key.

    A block that depends on a neighbor is fixed at its current time, so that nothing else moves. A block that is
    already at its place gets no op.
    """
    updates = []
    for block in resolve(plan):
        now = place_of(block)
        place = places.get(block.key, now)
        leans = not is_anchored(block.event.timing) and block.event.type is not ET.BACKGROUND
        if place != now or leans:
            updates.append(UpdateBlock(key=block.key, timing=to_timing(place, plan)))
    return tuple(updates)


def follow_ways(before: TBPlan, after: TBPlan) -> TBPlan:
    """Return ``after`` with the way to and from a block moved as far as that block was, and gone where it is gone.

    A way that was moved itself stays where it was put.
    """
    if not any(event.block_key.startswith(WAY) for event in after.events):
        return after
    was, now = ({block.key: block for block in resolve(plan)} for plan in (before, after))
    places: dict[str, BlockPlace] = {}
    lost = set()
    for key, way in now.items():
        prefix = next((each for each in (WAY_TO, WAY_FROM) if key.startswith(each)), None)
        target = None if prefix is None else was.get(key.removeprefix(prefix))
        if target is None or key not in was or place_of(was[key]) != place_of(way):
            continue
        if target.key not in now:
            lost.add(key)
            continue
        there = now[target.key]
        by = there.start - target.start if prefix == WAY_TO else there.end - target.end
        if by:
            places[key] = BlockPlace(way.start + by, way.duration)
    events = after.replace(event for event in after.events if event.block_key not in lost).events
    for op in retime_blocks(after, places) if places else ():
        events, _ = apply_op(events, op)
    return after.replace(events)


def fix_starts(plan: TBPlan) -> TBPlan:
    """Return the plan with each block at its own fixed start."""
    return plan.replace(
        replace(block.event, timing=to_timing(BlockPlace(block.start, block.duration), plan)) for block in resolve(plan)
    )


def with_length(plan: TBPlan, key: str, minutes: int) -> TBPlan:
    """Return the plan with that block at another length, and each block at a fixed start."""
    return _with_timing(plan, key, duration=timedelta(minutes=minutes))


def start_at(plan: TBPlan, key: str, start: datetime) -> TBPlan:
    """Return the plan with that block at another start, even if it overlaps others there."""
    return _with_timing(plan, key, start=clock_at(start.astimezone(zone(plan.tz)), plan.date, plan.tz))


def _with_timing(plan: TBPlan, key: str, **changes: Any) -> TBPlan:
    return plan.replace(
        replace(event, timing=replace_named(event.timing, changes)) if event.key == key else event
        for event in fix_starts(plan).events
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
        start += timedelta(minutes=on_grid(lengths[key]))
    return plan
