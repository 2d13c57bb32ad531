"""Repair a plan that overlaps something or breaks a must.

The repair makes the fewest moves, and the smallest of those, or explains why none is possible.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from fateforger.drafting.clock import clock_at
from fateforger.drafting.ground import build_context
from fateforger.drafting.instance import Instance, Task
from fateforger.drafting.model import MustConflict
from fateforger.drafting.outcome import blocks_of
from fateforger.drafting.policy import Policy
from fateforger.drafting.solve import ShouldStop, solve_context
from fateforger.plan import ET, FixedStart, Resolved, TBPlan, resolve
from fateforger.values import replace

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
        tasks=tuple(_as_task(b, required=b.key not in pinned) for b in blocks.values() if _is_movable(b)),
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


def _as_task(block: Resolved, *, required: bool) -> Task:
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
