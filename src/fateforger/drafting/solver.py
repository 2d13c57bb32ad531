"""Solver of an instance: a placement, improved, as blocks and plans, and a report of what does not fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from fateforger.drafting.axis import GRID, clock_at
from fateforger.drafting.compilation import compile_problem
from fateforger.drafting.context import DraftContext, build_context, must_ids, task_of
from fateforger.drafting.explanations import find_left_out, reasons_of
from fateforger.drafting.feasibility import NODES, Feasibility, check_feasibility, find_conflict
from fateforger.drafting.instance import Instance
from fateforger.drafting.items import Item
from fateforger.drafting.model import Block, BrokenRule, Draft, MustConflict
from fateforger.drafting.neighbourhood_search import SearchResult, greedy_layout, improve_layout, lower_bound
from fateforger.drafting.placement import Layout, points
from fateforger.drafting.problem import Placed, Problem
from fateforger.drafting.violations import find_violations
from fateforger.planning.plan import MAX_NAME, TBEvent, TBPlan
from fateforger.planning.timing import FixedStart, zone
from fateforger.values import replace


def blocks_of(ground: DraftContext, problem: Problem, placed: Placed) -> tuple[Block, ...]:
    """Return all blocks of the plan in time order: the past, commutes, and placed items."""
    ids = [task.id for task in ground.instance.tasks]
    fixed = [
        Block(task_of(b.key, ids) or b.key, b.key, b.event.name, b.event.type, b.start, b.minutes) for b in ground.past
    ]
    for way in ground.ways:
        if not way.late:
            minutes = int((way.end - way.start).total_seconds() // 60)
            fixed.append(Block(way.id, way.id, way.title, way.kind, way.start, minutes))
    used = {block.key for block in fixed} | {i.key for i in problem.items if i.pinned and i.key}
    loose: list[Block] = []
    for item in problem.items:
        loose += _pieces(problem, item, placed, used)
    numbered = _number_pieces([*fixed, *loose], {b.key for b in fixed} | {i.key for i in problem.items if i.key}, ids)
    local = zone(ground.instance.tz)
    blocks = (replace(b, start=b.start.astimezone(local)) for b in numbered)
    return tuple(sorted(blocks, key=lambda b: (b.start.timestamp(), b.key)))


def _pieces(problem: Problem, item: Item, placed: Placed, used: set[str]) -> Iterator[Block]:
    """Yield the blocks of an item.

    A piece that did not move keeps its key; the others get the free ones in order.
    """
    pieces = placed[item.index]
    names = {was: key for was, key in zip(item.previous, item.previous_keys, strict=True) if was in pieces}
    names = {was: key for was, key in names.items() if key not in used}
    used |= set(names.values())
    free = _free_keys(item, used)
    for number, piece in enumerate(pieces, 1):
        key = names.get(piece) or item.key or next(free)
        used.add(key)
        start, length = piece
        minutes = length * GRID - (item.over if number == len(pieces) else 0)
        yield Block(item.task or item.id, key, item.title, item.kind, problem.axis.when(start), minutes)


def _free_keys(item: Item, used: set[str]) -> Iterator[str]:
    number = 1
    while True:
        key = item.id if number == 1 else f"{item.id}-{number}"
        if key not in used:
            yield key
        number += 1


def _number_pieces(blocks: list[Block], named: set[str], ids: list[str]) -> Iterator[Block]:
    """Number the pieces of each task in their titles; earlier blocks keep their names."""
    pieces: dict[str, list[Block]] = {}
    for block in sorted(blocks, key=lambda b: b.start):
        pieces.setdefault(block.id if block.id in ids else block.key, []).append(block)
    for same in pieces.values():
        for number, block in enumerate(same, 1):
            if len(same) > 1 and block.key not in named:
                part = f" ({number}/{len(same)})"
                yield replace(block, title=f"{block.title[: MAX_NAME - len(part)]}{part}")
            else:
                yield block


def plans_of(ground: DraftContext, problem: Problem, blocks: tuple[Block, ...]) -> tuple[TBPlan, ...]:
    """Return a plan for each day, its blocks in time order."""
    notes = {item.task or item.id: item.notes for item in problem.items}
    kept = {b.key: b.event for b in ground.past}
    plans = []
    for number, day in enumerate(ground.days):
        events = []
        for block in blocks:
            if problem.day_of(problem.axis.slot(block.start)) == number:
                timing = FixedStart(
                    start=clock_at(block.start, day.date, ground.instance.tz),
                    duration=timedelta(minutes=block.minutes),
                )
                was = kept.get(block.key)
                described = was.description if was is not None else notes.get(block.id, "")
                events.append(
                    TBEvent(name=block.title, description=described, type=block.type, timing=timing, key=block.key)
                )
        plans.append(TBPlan(date=day.date, tz=ground.instance.tz, events=tuple(events)))
    return tuple(plans)


STEPS = 44_000
"""Default number of looks for a place: about a third of a second."""
LONG = 10 * NODES
"""Steps of a feasibility check when the usual ones do not decide; one day in thousands needs it."""
ShouldStop = Callable[[], bool]
OnProgress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Solution:
    """The solved problem, its placement, and the musts given up for it."""

    ground: DraftContext
    problem: Problem
    found: SearchResult
    conflict: MustConflict | None
    relaxed: tuple[str, ...]


def draft_instance(
    instance: Instance,
    *,
    steps: int = STEPS,
    stop: ShouldStop | None = None,
    seen: OnProgress | None = None,
    reasons: bool = False,
) -> Draft:
    """Return a plan for the instance.

    The same instance and ``steps`` give the same plan everywhere. ``stop`` may end the search early; the draft then
    says that it is not finished. ``seen`` is called with the number of looks taken. ``reasons`` adds the reasons of
    each block.

    Raises :class:`fateforger.errors.BadInput` for an instance that makes no day.
    """
    return to_draft(solve_context(build_context(instance), steps=steps, stop=stop, seen=seen), reasons=reasons)


def solve_context(
    ground: DraftContext, *, steps: int = STEPS, stop: ShouldStop | None = None, seen: OnProgress | None = None
) -> Solution:
    """Search a placement; musts in conflict are given up one by one."""
    relaxed: tuple[str, ...] = ()
    conflict: MustConflict | None = None
    while True:
        problem = compile_problem(ground, frozenset(relaxed))
        layout = greedy_layout(problem)
        if lacks_required(problem, layout.placed):
            found = _find_feasible(problem)
            if found is None:
                clash = find_conflict(ground, frozenset(relaxed))
                if clash is None and (found := _find_feasible(problem, LONG)) is None:
                    clash = find_conflict(ground, frozenset(relaxed), LONG)
                if clash is not None:
                    conflict = conflict or clash
                    relaxed = (*relaxed, clash.relax)
                    continue
                if (
                    found is None
                    and conflict is not None
                    and (missing := _unkept_musts(ground, problem, layout.placed))
                ):
                    relaxed = (*relaxed, *missing)
                    continue
            layout = found or layout
        return Solution(ground, problem, improve_layout(problem, layout, steps, stop, seen), conflict, relaxed)


def lacks_required(problem: Problem, placed: Placed) -> bool:
    """Check whether a placement misses a hard rule."""
    return any(item.required and not placed[item.index] for item in problem.items) or bool(
        problem.violated_caps(placed)
    )


def _unkept_musts(ground: DraftContext, problem: Problem, placed: Placed) -> tuple[str, ...]:
    """Return the musts that a placement does not keep although no conflict could be proved."""
    gone = {item.id for item in problem.items if item.required and not placed[item.index]}
    return tuple(must for must in must_ids(ground) if must in gone.union(problem.violated_caps(placed)))


def _find_feasible(problem: Problem, nodes: int = NODES) -> Layout | None:
    """Return a layout with everything that is required, and all else that fits."""
    verdict, placed = check_feasibility(problem, nodes)
    if verdict is not Feasibility.YES or placed is None:
        return None
    layout = Layout(problem, placed)
    for item in sorted(problem.items, key=lambda i: (-i.rank, i.index)):
        if not layout.placed[item.index]:
            layout.insert(item)
    return layout


def to_draft(result: Solution, *, reasons: bool = False) -> Draft:
    """Return the draft for a solved problem."""
    ground, problem, placed = result.ground, result.problem, result.found.placed
    blocks = blocks_of(ground, problem, placed)
    plans = plans_of(ground, problem, blocks)
    reached, least = points(Layout(problem, placed)), lower_bound(problem)
    worth = sum(item.reward for item in problem.items)
    return Draft(
        plan=plans[0],
        unplaced=find_left_out(ground, problem, placed),
        later=plans[1:],
        placed=blocks,
        conflict=result.conflict,
        relaxed=result.relaxed,
        optimal=reached <= least,
        gap=0.0 if reached <= least else round((reached - least) / max(1, worth - least), 4),
        finished=result.found.finished,
        reasons=reasons_of(ground, problem, placed, blocks) if reasons else (),
        broken=tuple(
            BrokenRule(b.rule.id, b.rule.words, b.text)
            for b in find_violations(ground, blocks)
            if b.rule.id not in result.relaxed
        ),
    )
