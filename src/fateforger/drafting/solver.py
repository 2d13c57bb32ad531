"""Solver: draft of an instance, and repair or refit of a plan in use.

A repair makes the fewest moves, and the smallest of those, or explains why none is possible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from fateforger.drafting import weights
from fateforger.drafting.compilation import compile_problem
from fateforger.drafting.context import DraftContext, build_context, must_ids
from fateforger.drafting.explanations import reasons_of
from fateforger.drafting.feasibility import NODES, check_feasibility, find_conflict
from fateforger.drafting.instance import Instance, Pin, Policy, Task
from fateforger.drafting.left_out import RelaxedProblems, find_left_out
from fateforger.drafting.model import Block, Draft, MustConflict, PlacementOption, UnplacedItem, Violation, check_blocks
from fateforger.drafting.neighborhood_search import (
    greedy_placement,
    improve_placement,
    lower_bound,
    optimize_locally,
)
from fateforger.drafting.options import Outcome, apply_option, find_options, outcome_of, try_options
from fateforger.drafting.placement import Placement, points
from fateforger.drafting.problem import Item, Placed, Problem, Source
from fateforger.drafting.routines import keep_hours, with_routines
from fateforger.drafting.task_fields import apply_details
from fateforger.errors import BadInput
from fateforger.limits import MAX_TITLE_CHARS
from fateforger.planning.plan import ET, Resolved, TBEvent, TBPlan, resolve
from fateforger.planning.task_details import WAY_FROM, WAY_TO, BlockPlace, is_shutdown, task_of, to_timing
from fateforger.planning.timing import GRID, zone
from fateforger.text import gettext as _
from fateforger.values import replace


def blocks_of(context: DraftContext, problem: Problem, placed: Placed) -> tuple[Block, ...]:
    """Return all blocks of the plan in time order: the past, commutes, and placed items."""
    ids = [task.id for task in context.instance.tasks]
    fixed = [Block.of(b, task_of(b.key, ids)) for b in context.past]
    for way in context.ways:
        if not way.late:
            minutes = int((way.end - way.start).total_seconds() // 60)
            fixed.append(Block(way.id, way.id, way.title, way.kind, way.start, minutes))
    used = {block.key for block in fixed} | {i.source.key for i in problem.items if i.source.pinned and i.source.key}
    loose: list[Block] = []
    for item in problem.items:
        loose += _pieces(problem, item, placed, used)
    numbered = _number_pieces(
        [*fixed, *loose], {b.key for b in fixed} | {i.source.key for i in problem.items if i.source.key}, ids
    )
    local = zone(context.instance.tz)
    blocks = (replace(b, start=b.start.astimezone(local)) for b in numbered)
    return tuple(sorted(blocks, key=lambda b: (b.start.timestamp(), b.key)))


def _pieces(problem: Problem, item: Item, placed: Placed, used: set[str]) -> Iterator[Block]:
    """Yield the blocks of an item.

    A piece that did not move keeps its key; the others get the free ones in order.
    """
    pieces = placed[item.index]
    names = {
        was: key
        for was, key in zip(item.preferences.previous, item.preferences.previous_keys, strict=True)
        if was in pieces
    }
    names = {was: key for was, key in names.items() if key not in used}
    used |= set(names.values())
    free = _free_keys(item, used)
    for number, piece in enumerate(pieces, 1):
        key = names.get(piece) or item.source.key or next(free)
        used.add(key)
        start, length = piece
        minutes = length * GRID - (item.source.over if number == len(pieces) else 0)
        begin = problem.axis.when(start + item.source.way)
        yield Block(item.source.task or item.source.id, key, item.source.title, item.source.kind, begin, minutes)
        if item.source.way:
            yield from _ways(item.source, problem.axis.when(start), begin + timedelta(minutes=minutes))


def _ways(source: Source, leave: datetime, back: datetime) -> Iterator[Block]:
    """Yield the way to a task and the way from it, which begin at these times."""
    there, home = _("Way to {title}", title=source.title), _("Way from {title}", title=source.title)
    for prefix, title, start in ((WAY_TO, there, leave), (WAY_FROM, home, back)):
        key = f"{prefix}{source.task}"[:64]
        yield Block(key, key, title[:MAX_TITLE_CHARS], ET.COMMUTE, start, source.way * GRID)


def _free_keys(item: Item, used: set[str]) -> Iterator[str]:
    number = 1
    while True:
        key = item.source.id if number == 1 else f"{item.source.id}-{number}"
        if key not in used:
            yield key
        number += 1


def _number_pieces(blocks: list[Block], named: set[str], ids: list[str]) -> Iterator[Block]:
    """Append its number to the title of each piece of a task; earlier blocks keep their names."""
    pieces: dict[str, list[Block]] = {}
    for block in sorted(blocks, key=lambda b: b.start):
        pieces.setdefault(block.id if block.id in ids else block.key, []).append(block)
    for same in pieces.values():
        for number, block in enumerate(same, 1):
            if len(same) > 1 and block.key not in named:
                part = f" ({number}/{len(same)})"
                yield replace(block, title=f"{block.title[: MAX_TITLE_CHARS - len(part)]}{part}")
            else:
                yield block


def plans_of(context: DraftContext, problem: Problem, blocks: tuple[Block, ...]) -> tuple[TBPlan, ...]:
    """Return a plan for each day, its blocks in time order."""
    notes = {item.source.task or item.source.id: item.source.notes for item in problem.items}
    kept = {b.key: b.event for b in context.past}
    plans = []
    for number, day in enumerate(context.days):
        events = [
            block.to_event(
                day.date,
                context.instance.tz,
                kept[block.key].description if block.key in kept else notes.get(block.id, ""),
            )
            for block in blocks
            if problem.day_of(problem.axis.slot(block.start)) == number
        ]
        plans.append(TBPlan(date=day.date, tz=context.instance.tz, events=tuple(events)))
    return tuple(plans)


STEPS = 44_000
"""Default effort of the search: about a third of a second."""
LONG = 10 * NODES
"""Steps of a feasibility check when the usual ones do not decide; one day in thousands needs it."""
ShouldStop = Callable[[], bool]
OnProgress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Solution:
    """The solved problem, its placement, and the musts given up for it.

    ``finished`` is false when time ran out before all steps were taken. ``least`` are the points that every placement
    costs, as far as an optimizer proved it.
    """

    context: DraftContext
    problem: Problem
    placed: Placed
    finished: bool
    conflict: MustConflict | None
    relaxed: tuple[str, ...]
    least: int = 0


@dataclass(frozen=True, slots=True)
class Optimum:
    """A placement by an exact optimizer, and the points that every placement costs at least."""

    placed: Placed
    least: int


def with_optimum(result: Solution, found: Optimum) -> Solution:
    """Return the better of two placements, with what was proved.

    Of two with the same points, the known one stays: it has the earlier starts.
    """
    problem, placed = result.problem, result.placed
    if points(Placement(problem, found.placed)) < points(Placement(problem, placed)):
        placed = optimize_locally(Placement(problem, found.placed))
    return replace(result, placed=placed, least=found.least)


MATERIAL = 0.01
"""Share of the attainable value by which a better plan is worth showing."""
ORDER = 3 * weights.DEEP_FIRST
"""Points that are enough as well: three pairs of work in a better order. Five minutes of a pause are more."""


def is_materially_better(new: Solution, old: Solution) -> bool:
    """Check whether a solution of the same problem is worth an update of what the person sees."""
    reached, was = (points(Placement(each.problem, each.placed)) for each in (new, old))
    share = MATERIAL * max(1, sum(item.reward for item in old.problem.items) - reached)
    return was - reached >= min(share, ORDER)


def draft_instance(
    instance: Instance,
    *,
    steps: int = STEPS,
    stop: ShouldStop | None = None,
    seen: OnProgress | None = None,
    reasons: bool = False,
    options: bool = True,
    optimize: Callable[[Solution], Optimum | None] | None = None,
) -> Draft:
    """Return a plan for the instance.

    The same instance and ``steps`` give the same plan everywhere. ``stop`` may end the search early; the draft then
    says that it is not finished. ``seen`` is called with the effort spent. ``reasons`` adds the reasons of
    each block. ``options`` tries what could give a place to work without one, each by a draft of its own. ``optimize``
    looks for a better placement, or proves that there is none.

    Raises :class:`fateforger.errors.BadInput` for an instance that makes no day.
    """
    result = solve_context(build_context(with_routines(apply_details(instance))), steps=steps, stop=stop, seen=seen)
    found = None if optimize is None else optimize(result)
    result = result if found is None else with_optimum(result, found)
    return to_draft(result, reasons=reasons, trial_steps=min(steps, STEPS) if options else None)


def solve_context(
    context: DraftContext, *, steps: int = STEPS, stop: ShouldStop | None = None, seen: OnProgress | None = None
) -> Solution:
    """Search a placement; musts in conflict are given up one by one."""
    relaxed: tuple[str, ...] = ()
    conflict: MustConflict | None = None
    while True:
        problem = compile_problem(context, frozenset(relaxed))
        placement = greedy_placement(problem)
        if lacks_required(problem, placement.placed):
            found = _find_feasible(problem)
            if found is None:
                clash = find_conflict(context, frozenset(relaxed))
                if clash is None and (found := _find_feasible(problem, LONG)) is None:
                    clash = find_conflict(context, frozenset(relaxed), LONG)
                if clash is not None:
                    conflict = conflict or clash
                    relaxed = (*relaxed, clash.relax)
                    continue
                if (
                    found is None
                    and conflict is not None
                    and (missing := _unkept_musts(context, problem, placement.placed))
                ):
                    relaxed = (*relaxed, *missing)
                    continue
            placement = found or placement
        placed, finished = improve_placement(problem, placement, steps, stop, seen)
        return Solution(context, problem, placed, finished, conflict, relaxed)


def lacks_required(problem: Problem, placed: Placed) -> bool:
    """Check whether a placement misses a hard rule."""
    return any(item.required and not placed[item.index] for item in problem.items) or bool(
        problem.violated_caps(placed)
    )


def _unkept_musts(context: DraftContext, problem: Problem, placed: Placed) -> tuple[str, ...]:
    """Return the musts that a placement does not keep although no conflict could be proved."""
    gone = {item.source.id for item in problem.items if item.required and not placed[item.index]}
    return tuple(must for must in must_ids(context) if must in gone.union(problem.violated_caps(placed)))


def _find_feasible(problem: Problem, nodes: int = NODES) -> Placement | None:
    """Return a placement with everything that is required, and all else that fits."""
    _, placed = check_feasibility(problem, nodes)
    if placed is None:
        return None
    placement = Placement(problem, placed)
    for item in sorted(problem.items, key=lambda i: (-i.rank, i.index)):
        if not placement.placed[item.index]:
            placement.insert(item)
    return placement


def to_draft(
    result: Solution, *, reasons: bool = False, trial_steps: int | None = None, stop: ShouldStop | None = None
) -> Draft:
    """Return the draft for a solved problem; without ``trial_steps``, no option that promises a place is offered.

    ``stop`` is polled to end the trials of options early.
    """
    context, problem, placed = result.context, result.problem, result.placed
    blocks = blocks_of(context, problem, placed)
    plans = plans_of(context, problem, blocks)
    reached, least = points(Placement(problem, placed)), max(result.least, lower_bound(problem))
    worth = sum(item.reward for item in problem.items)
    return Draft(
        plan=plans[0],
        unplaced=_find_unplaced(result, trial_steps, stop),
        later=plans[1:],
        placed=blocks,
        conflict=result.conflict,
        relaxed=result.relaxed,
        optimal=reached <= least,
        gap=largest_gap(reached, least, worth),
        finished=result.finished,
        reasons=reasons_of(context, problem, placed, blocks) if reasons else (),
        broken=_broken_rules(result, blocks),
    )


def largest_gap(reached: int, least: int, worth: int) -> float:
    """Return the largest share of the attainable worth that can be missing, rounded up: only a proved plan has 0."""
    return 0.0 if reached <= least else -(-10_000 * (reached - least) // max(1, worth - least)) / 10_000


def _broken_rules(result: Solution, blocks: Sequence[Block]) -> tuple[Violation, ...]:
    return tuple(each for each in check_blocks(result.context, blocks) if each.rule not in result.relaxed)


def _find_unplaced(
    result: Solution, trial_steps: int | None, stop: ShouldStop | None = None
) -> tuple[UnplacedItem, ...]:
    """Return what found no place; each option that promises one is tried with that many steps."""
    looser = RelaxedProblems(result.context, result.problem, result.placed)
    left = find_left_out(looser)
    if trial_steps is None or not left:
        return left
    more = find_options(looser)

    def trial(task: str, option: PlacementOption, steps: int) -> Outcome | None:
        try:
            context = build_context(apply_option(result.context.instance, task, option))
        except BadInput:  # the frame would be longer than any day is
            return None
        return _outcome(solve_context(replace(context, mending=result.context.mending), steps=steps, stop=stop))

    left = tuple(replace(each, choices=(*each.choices, *more.get(each.id, ()))) for each in left)
    return try_options(left, _outcome(result), trial, trial_steps)


def _outcome(result: Solution) -> Outcome:
    blocks = blocks_of(result.context, result.problem, result.placed)
    return outcome_of(result.problem, result.placed, result.relaxed, _broken_rules(result, blocks))


REPAIR_STEPS = 15_000
AS_IT_IS = Policy(
    lunch=None, commute=False, slack_percent=None, after_meetings=0, after_deep=0, before_deep=0, after_meal=0,
    shutdown=0, shallow_percent=None, one_thing_early=False, longest_focus=None, deep_blocks=None,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class BlockMove:
    """A block that had to move, with its start before and after."""

    key: str
    title: str
    before: datetime
    after: datetime


@dataclass(frozen=True, slots=True)
class RevisedPlan:
    """A plan after a repair or a refit, with the moves of the repair and what found no place in the refit.

    ``conflict`` holds musts that cannot all be kept: a repair then leaves the plan unchanged, a refit gives one up.
    """

    plan: TBPlan
    moved: tuple[BlockMove, ...] = ()
    unplaced: tuple[UnplacedItem, ...] = ()
    conflict: MustConflict | None = None


def repair_plan(plan: TBPlan, instance: Instance, *, steps: int = REPAIR_STEPS) -> RevisedPlan:
    """Repair ``plan`` by the fewest moves: separate its blocks, clear the instance's events, and keep its musts.

    The order of tasks and the policy are ignored. Pinned blocks and blocks that began before now stay.

    Raises ``PlanInvalid`` when the blocks of the plan cannot be resolved to instants.
    """
    blocks = {b.key: b for b in resolve(plan)}
    movable = [b for b in blocks.values() if b.event.type is not ET.BACKGROUND]
    trips = _find_trips(blocks)
    pins = tuple(pin for pin in instance.pinned if trips.get(pin.key, 1))
    pinned = {pin.key for pin in pins}
    tasks = tuple(
        replace(Task.of_block(b), required=b.key not in pinned, travel=trips.get(b.key, 0))
        for b in movable
        if trips.get(b.key, 1)
    )
    result = _solve_again(plan, instance, tasks, pins, steps)
    if result.conflict is not None:
        return RevisedPlan(plan, conflict=result.conflict)
    starts = {b.key: b.start for b in blocks_of(result.context, result.problem, result.placed)}
    stay = _unmoved_keys(result) | pinned
    moved = tuple(
        BlockMove(b.key, b.event.name, b.start, starts[b.key].astimezone(b.start.tzinfo))
        for b in movable
        if b.key in starts and b.key not in stay and starts[b.key] != b.start
    )
    after = {each.key: each.after for each in moved}
    timed = ((b.event, after.get(b.key, b.start), b.duration) for b in blocks.values())
    return RevisedPlan(_with_times(plan, timed), moved) if moved else RevisedPlan(plan)


def _find_trips(blocks: Mapping[str, Resolved]) -> dict[str, int]:
    """Return the minutes of the way to and from each block that has its ways next to it, and 0 for the ways."""
    trips: dict[str, int] = {}
    for key, block in blocks.items():
        there, home = blocks.get(f"{WAY_TO}{key}"), blocks.get(f"{WAY_FROM}{key}")
        if there is None or home is None or there.minutes != home.minutes:
            continue
        ends = [each.astimezone(UTC) for each in (there.end, block.end)]
        if ends == [each.astimezone(UTC) for each in (block.start, home.start)]:
            trips |= {key: there.minutes, there.key: 0, home.key: 0}
    return trips


_USUAL = 3
"""Priority of a block that belongs to no task."""


def refit_plan(
    plan: TBPlan, instance: Instance, more: Sequence[Task] = (), *, steps: int = REPAIR_STEPS
) -> RevisedPlan:
    """Refit ``plan`` from the instance's ``now`` on, clear of events and keeping the musts.

    Blocks that began before now, pinned blocks, and meetings of the plan stay; other blocks keep their length, and
    those of routines their hours.
    ``more`` are tasks to place where time is free. When there is no room for all, the least important is left out.

    Raises ``PlanInvalid`` when the blocks of the plan cannot be resolved to instants.
    """
    blocks = resolve(plan)
    movable = {b.key: b for b in blocks if b.event.type is not ET.BACKGROUND}
    pins = {pin.key: pin for pin in instance.pinned if pin.key in movable}
    pins |= {key: Pin(key=key) for key, b in movable.items() if b.event.type is ET.MEETING}
    trips = _find_trips(movable)
    pins = {key: pin for key, pin in pins.items() if trips.get(key, 1)}
    there = (
        replace(_with_priority(b, instance), travel=trips.get(b.key, 0))
        for b in movable.values()
        if trips.get(b.key, 1)
    )
    tasks = tuple(keep_hours(instance, t) for t in (*there, *more))
    result = _solve_again(plan, instance, tasks, tuple(pins.values()), steps)
    unplaced = _find_unplaced(result, steps)
    after = {b.key: b for b in blocks_of(result.context, result.problem, result.placed)}
    stay = _unmoved_keys(result) | {b.key for b in result.context.past} | set(pins)
    gone = {key for left in unplaced for key in (left.id, f"{WAY_TO}{left.id}", f"{WAY_FROM}{left.id}")}
    notes = {task.id: task.notes for task in more}
    timed = [
        (b.event, b.start if b.key in stay or b.key not in after else after[b.key].start, b.duration)
        for b in blocks
        if b.key not in gone
    ]
    timed += [
        (block.to_event(plan.date, plan.tz, notes.get(block.id, "")), block.start, timedelta(minutes=block.minutes))
        for block in after.values()
        if block.key not in movable and block.id not in movable
    ]
    return RevisedPlan(_with_times(plan, timed), unplaced=unplaced, conflict=result.conflict)


def _solve_again(
    plan: TBPlan, instance: Instance, tasks: tuple[Task, ...], pinned: tuple[Pin, ...], steps: int
) -> Solution:
    """Solve a day whose tasks are the blocks of ``plan``; moving one costs more than anything else."""
    # The tasks include pinned blocks: else a pinned “b-2” would be taken for a piece of “b”.
    again = Instance(
        date=plan.date,
        tz=plan.tz,
        frame=instance.frame,
        immovables=instance.immovables,
        tasks=tasks,
        constraints=instance.constraints,
        policy=AS_IT_IS,
        pinned=pinned,
        previous=plan,
        placed=instance.placed,
        now=instance.now,
    )
    return solve_context(replace(build_context(again), mending=True), steps=steps)


def _unmoved_keys(result: Solution) -> set[str]:
    """Return the keys of the blocks that did not move."""
    placed = zip(result.problem.items, result.placed, strict=True)
    return {
        key
        for item, pieces in placed
        for key, was in zip(item.preferences.previous_keys, item.preferences.previous, strict=True)
        if was in pieces
    }


def _with_priority(block: Resolved, instance: Instance) -> Task:
    """Return the block as a task, as important as the task that it belongs to."""
    mine = task_of(block.key, [task.id for task in instance.tasks])
    task = next((t for t in instance.tasks if t.id == mine), None)
    return replace(
        Task.of_block(block),
        priority=_priority_of(block, task),
        one_thing=task is not None and task.one_thing and block.key == task.id,
    )


def _priority_of(block: Resolved, task: Task | None) -> int:
    if is_shutdown(block.key):
        return 5
    return 1 if block.event.type is ET.REGENERATION else _USUAL if task is None else task.priority


def _with_times(plan: TBPlan, timed: Iterable[tuple[TBEvent, datetime, timedelta]]) -> TBPlan:
    """Return the plan in time order, each block at a fixed start, since its neighbors may have moved."""
    return plan.replace(
        replace(event, timing=to_timing(BlockPlace(start, max(duration, timedelta(minutes=1))), plan))
        for event, start, duration in sorted(timed, key=lambda each: each[1].timestamp())
    )
