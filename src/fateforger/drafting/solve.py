"""Draft an instance: construct a placement, improve it, and report what does not fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fateforger.drafting.bound import lower_bound
from fateforger.drafting.check import find_violations
from fateforger.drafting.compile import compile_problem
from fateforger.drafting.conflict import find_conflict
from fateforger.drafting.costs import points
from fateforger.drafting.feasible import NODES, Feasibility, check_feasibility
from fateforger.drafting.ground import DraftContext, build_context
from fateforger.drafting.instance import Instance
from fateforger.drafting.layout import Layout
from fateforger.drafting.leftover import find_left_out
from fateforger.drafting.model import BrokenRule, Draft, MustConflict
from fateforger.drafting.naming import must_ids
from fateforger.drafting.outcome import blocks_of, plans_of
from fateforger.drafting.problem import Placed, Problem
from fateforger.drafting.reasons import reasons_of
from fateforger.drafting.search import SearchResult, greedy_layout, improve_layout

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
