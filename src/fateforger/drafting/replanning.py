"""Changes to a plan in use: repair, a new fit of the rest of the day, and new times as ops.

What happened is kept. A repair makes the fewest moves, and the smallest of those, or explains why none is possible."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from fateforger.drafting.axis import GRID, ceil, clock_at, instant
from fateforger.drafting.context import build_context, task_of
from fateforger.drafting.explanations import find_left_out
from fateforger.drafting.instance import Instance, Pin, Policy, Task
from fateforger.drafting.model import Block, MustConflict, UnplacedItem
from fateforger.drafting.solver import ShouldStop, Solution, blocks_of, solve_context
from fateforger.planning.patch import UpdateBlock
from fateforger.planning.plan import ET, Resolved, TBEvent, TBPlan, resolve
from fateforger.planning.timing import FixedStart, is_anchored, zone
from fateforger.values import replace


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


def to_timing(place: BlockPlace, plan: TBPlan) -> FixedStart:
    """Return a place as the timing of a block.

    Raises pydantic's ``ValidationError`` for one that no block can have.
    """
    return FixedStart(start=clock_at(place.start, plan.date, plan.tz), duration=place.duration)


STEPS = 15_000
AS_IT_IS = Policy(
    lunch=None, commute=False, after_deep=0, before_deep=0, after_meal=0, shutdown=0, shallow_percent=None,
    one_thing_early=False, longest_focus=None, deep_blocks=None,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class BlockMove:
    """A block that had to move, with its start before and after."""

    key: str
    title: str
    before: datetime
    after: datetime


@dataclass(frozen=True, slots=True)
class RepairResult:
    """Result of a repair.

    It is the repaired plan and its moves, or the unchanged plan and the musts that conflict.
    """

    plan: TBPlan
    moved: tuple[BlockMove, ...] = ()
    refused: MustConflict | None = None


def repair_plan(
    plan: TBPlan, instance: Instance, *, steps: int = STEPS, stop: ShouldStop | None = None
) -> RepairResult:
    """Repair ``plan``: separate its blocks, clear the instance's events, and keep its musts.

    The order of tasks and the policy are ignored. Pinned blocks and blocks that began before now stay.

    Raises ``PlanInvalid`` when the blocks of the plan cannot be resolved to instants.
    """
    blocks = {block.key: block for block in resolve(plan)}
    pinned = {pin.key for pin in instance.pinned}
    mending = Instance(
        date=plan.date,
        tz=plan.tz,
        frame=instance.frame,
        immovables=instance.immovables,
        # Include pinned ones: else a pinned “b-2” would be taken for a piece of “b”.
        tasks=tuple(_as_repair_task(b, required=b.key not in pinned) for b in blocks.values() if _is_movable(b)),
        constraints=instance.constraints,
        policy=AS_IT_IS,
        pinned=instance.pinned,
        previous=plan,
        now=instance.now,
    )
    result = solve_context(replace(build_context(mending), mending=True), steps=steps, stop=stop)
    if result.conflict is not None:
        return RepairResult(plan, refused=result.conflict)
    after = {b.key: b.start for b in blocks_of(result.ground, result.problem, result.found.placed)}
    stayed = {
        key
        for item, pieces in zip(result.problem.items, result.found.placed, strict=True)
        for key, was in zip(item.previous_keys, item.previous, strict=True)
        if was in pieces
    }
    moved = [
        BlockMove(b.key, b.event.name, b.start, after[b.key].astimezone(b.start.tzinfo))
        for b in blocks.values()
        if b.key in after and b.key not in stayed | pinned and _is_movable(b) and after[b.key] != b.start
    ]
    return RepairResult(_with_moves(plan, blocks, moved), tuple(moved)) if moved else RepairResult(plan)


def _is_movable(block: Resolved) -> bool:
    return block.event.type is not ET.BACKGROUND


def _as_repair_task(block: Resolved, *, required: bool) -> Task:
    return Task(
        id=block.key,
        title=block.event.name,
        minutes=max(1, block.minutes),
        type=block.event.type,
        splittable=False,
        required=required,
        notes=block.event.description,
    )


def _with_moves(plan: TBPlan, blocks: dict[str, Resolved], moved: Iterable[BlockMove]) -> TBPlan:
    """Return the plan in time order, each block at a fixed start, since its neighbors may have moved."""
    starts = {block.key: block.start for block in blocks.values()} | {each.key: each.after for each in moved}
    events = []
    for event in sorted(plan.events, key=lambda e: starts[e.block_key].timestamp()):
        start, duration = starts[event.block_key], blocks[event.block_key].duration
        timing = FixedStart(start=clock_at(start, plan.date, plan.tz), duration=max(duration, timedelta(minutes=1)))
        events.append(replace(event, timing=timing))
    return plan.replace(events)


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
        tasks=(*(_as_refit_task(b, instance) for b in blocks), *more),
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


def _as_refit_task(block: Resolved, instance: Instance) -> Task:
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
