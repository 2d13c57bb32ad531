"""Refit the rest of a day around a change, with few moves; report what no longer fits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from fateforger.drafting.clock import clock_at
from fateforger.drafting.ground import build_context
from fateforger.drafting.instance import Instance, Pin, Task
from fateforger.drafting.leftover import find_left_out
from fateforger.drafting.mend import AS_IT_IS, STEPS
from fateforger.drafting.model import Block, MustConflict, UnplacedItem
from fateforger.drafting.naming import task_of
from fateforger.drafting.outcome import blocks_of
from fateforger.drafting.solve import Solution, solve_context
from fateforger.plan import ET, FixedStart, Resolved, TBEvent, TBPlan, resolve
from fateforger.values import replace

_USUAL = 3
"""Priority of a block that belongs to no task."""


@dataclass(frozen=True, slots=True)
class RefitResult:
    """The refitted plan, the blocks and tasks that found no place, and the musts given up."""

    plan: TBPlan
    unplaced: tuple[UnplacedItem, ...] = ()
    conflict: MustConflict | None = None


def refit_plan(plan: TBPlan, instance: Instance, more: Sequence[Task] = (), *, steps: int = STEPS) -> RefitResult:
    """Refit ``plan`` from the instance's ``now`` on, clear of events and keeping the musts.

    Blocks that began before now, pinned blocks, and meetings of the plan stay; other blocks keep their length.
    ``more`` are tasks to place where time is free. When there is no room for all, the least important is left out.

    Raises ``PlanInvalid`` when the blocks of the plan cannot be resolved to instants.
    """
    blocks = tuple(b for b in resolve(plan) if b.event.type is not ET.BACKGROUND)
    pins = {pin.key: pin for pin in instance.pinned if pin.key in {b.key for b in blocks}}
    pins |= {b.key: Pin(key=b.key) for b in blocks if b.event.type is ET.MEETING}
    fitting = Instance(
        date=plan.date,
        tz=plan.tz,
        frame=instance.frame,
        immovables=instance.immovables,
        # Include pinned ones: else a pinned “b-2” would be taken for a piece of “b”.
        tasks=(*(_as_task(b, instance) for b in blocks), *more),
        constraints=instance.constraints,
        policy=AS_IT_IS,
        pinned=tuple(pins.values()),
        previous=plan,
        now=instance.now,
    )
    result = solve_context(replace(build_context(fitting), mending=True), steps=steps)
    unplaced = find_left_out(result.ground, result.problem, result.found.placed)
    after = {b.key: b for b in blocks_of(result.ground, result.problem, result.found.placed)}
    stayed = _unmoved_keys(result) | {b.key for b in result.ground.past} | set(pins)
    gone = {left.id for left in unplaced}
    events = [e for b in resolve(plan) if b.key not in gone for e in (_event(b, after.get(b.key), plan, stayed),)]
    known = {block.key for block in blocks}
    events += [_new(block, plan, more) for block in after.values() if block.key not in known and block.id not in known]
    return RefitResult(_sort_by_time(plan, events), unplaced, result.conflict)


def _unmoved_keys(result: Solution) -> set[str]:
    """Return the keys of the blocks that did not move."""
    placed = zip(result.problem.items, result.found.placed, strict=True)
    return {
        key
        for item, pieces in placed
        for key, was in zip(item.previous_keys, item.previous, strict=True)
        if was in pieces
    }


def _as_task(block: Resolved, instance: Instance) -> Task:
    ids = [task.id for task in instance.tasks]
    mine = task_of(block.key, ids)
    task = next((t for t in instance.tasks if t.id == mine), None)
    return Task(
        id=block.key,
        title=block.event.name,
        minutes=max(1, block.minutes),
        type=block.event.type,
        splittable=False,
        priority=1 if block.event.type is ET.REGENERATION else _USUAL if task is None else task.priority,
        one_thing=task is not None and task.one_thing and block.key == task.id,
        notes=block.event.description,
    )


def _event(block: Resolved, after: Block | None, plan: TBPlan, stayed: set[str]) -> TBEvent:
    """Return the block at a fixed start, since its neighbors may have moved."""
    start = block.start if after is None or block.key in stayed else after.start
    return replace(block.event, timing=_fixed_start(plan, start, block.duration))


def _new(block: Block, plan: TBPlan, more: Iterable[Task]) -> TBEvent:
    notes = next((task.notes for task in more if task.id == block.id), "")
    timing = _fixed_start(plan, block.start, timedelta(minutes=block.minutes))
    return TBEvent(name=block.title, description=notes, type=block.type, timing=timing, key=block.key)


def _fixed_start(plan: TBPlan, start: datetime, duration: timedelta) -> FixedStart:
    return FixedStart(start=clock_at(start, plan.date, plan.tz), duration=max(duration, timedelta(minutes=1)))


def _sort_by_time(plan: TBPlan, events: Sequence[TBEvent]) -> TBPlan:
    loose = plan.replace(events)
    return plan.replace(block.event for block in _by_time(resolve(loose)))


def _by_time(blocks: Iterable[Resolved]) -> Iterator[Resolved]:
    return iter(sorted(blocks, key=lambda b: (b.start.astimezone(UTC), b.index)))
