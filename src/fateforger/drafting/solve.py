"""Draft an instance: construct a placement, improve it, and report what does not fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fateforger.drafting.bound import at_least
from fateforger.drafting.check import breaches
from fateforger.drafting.compile import compiled
from fateforger.drafting.conflict import conflict_of
from fateforger.drafting.costs import points
from fateforger.drafting.feasible import NODES, Verdict, feasible
from fateforger.drafting.ground import Ground, ground_of
from fateforger.drafting.instance import Instance
from fateforger.drafting.layout import Layout
from fateforger.drafting.leftover import left_out
from fateforger.drafting.model import Broken, Conflict, Draft
from fateforger.drafting.naming import must_ids
from fateforger.drafting.outcome import blocks_of, plans_of
from fateforger.drafting.problem import Placed, Problem
from fateforger.drafting.reasons import reasons_of
from fateforger.drafting.search import Found, first, improved

STEPS = 44_000
"""Default number of looks for a place: about a third of a second."""
LONG = 10 * NODES
"""Steps of a feasibility check when the usual ones do not decide; one day in thousands needs it."""
Stop = Callable[[], bool]
Seen = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Solved:
    """The solved problem, its placement, and the musts given up for it."""

    ground: Ground
    problem: Problem
    found: Found
    conflict: Conflict | None
    relaxed: tuple[str, ...]


def draft_instance(
    instance: Instance,
    *,
    steps: int = STEPS,
    stop: Stop | None = None,
    seen: Seen | None = None,
    reasons: bool = False,
) -> Draft:
    """Return a plan for the instance.

    The same instance and ``steps`` give the same plan everywhere. ``stop`` may end the search early; the draft then
    says that it is not finished. ``seen`` is called with the number of looks taken. ``reasons`` adds the reasons of
    each block.

    Raises :class:`fateforger.errors.BadInput` for an instance that makes no day.
    """
    return told(solved(ground_of(instance), steps=steps, stop=stop, seen=seen), reasons=reasons)


def solved(ground: Ground, *, steps: int = STEPS, stop: Stop | None = None, seen: Seen | None = None) -> Solved:
    """Search a placement; musts in conflict are given up one by one."""
    relaxed: tuple[str, ...] = ()
    conflict: Conflict | None = None
    while True:
        problem = compiled(ground, frozenset(relaxed))
        layout = first(problem)
        if lacks(problem, layout.placed):
            found = _kept(problem)
            if found is None:
                clash = conflict_of(ground, frozenset(relaxed))
                if clash is None and (found := _kept(problem, LONG)) is None:
                    clash = conflict_of(ground, frozenset(relaxed), LONG)
                if clash is not None:
                    conflict = conflict or clash
                    relaxed = (*relaxed, clash.relax)
                    continue
                if found is None and conflict is not None and (missing := _missing(ground, problem, layout.placed)):
                    relaxed = (*relaxed, *missing)
                    continue
            layout = found or layout
        return Solved(ground, problem, improved(problem, layout, steps, stop, seen), conflict, relaxed)


def lacks(problem: Problem, placed: Placed) -> bool:
    """Check whether a placement misses a hard rule."""
    return any(item.required and not placed[item.index] for item in problem.items) or bool(problem.short_of(placed))


def _missing(ground: Ground, problem: Problem, placed: Placed) -> tuple[str, ...]:
    """Return the musts that a placement does not keep although no conflict could be proved."""
    gone = {item.id for item in problem.items if item.required and not placed[item.index]}
    return tuple(must for must in must_ids(ground) if must in gone.union(problem.short_of(placed)))


def _kept(problem: Problem, nodes: int = NODES) -> Layout | None:
    """Return a layout with everything that is required, and all else that fits."""
    verdict, placed = feasible(problem, nodes)
    if verdict is not Verdict.YES or placed is None:
        return None
    layout = Layout(problem, placed)
    for item in sorted(problem.items, key=lambda i: (-i.rank, i.index)):
        if not layout.placed[item.index]:
            layout.insert(item)
    return layout


def told(result: Solved, *, reasons: bool = False) -> Draft:
    """Return the draft for a solved problem."""
    ground, problem, placed = result.ground, result.problem, result.found.placed
    blocks = blocks_of(ground, problem, placed)
    plans = plans_of(ground, problem, blocks)
    reached, least = points(Layout(problem, placed)), at_least(problem)
    worth = sum(item.reward for item in problem.items)
    return Draft(
        plan=plans[0],
        unplaced=left_out(ground, problem, placed),
        later=plans[1:],
        placed=blocks,
        conflict=result.conflict,
        relaxed=result.relaxed,
        optimal=reached <= least,
        gap=0.0 if reached <= least else round((reached - least) / max(1, worth - least), 4),
        finished=result.found.finished,
        reasons=reasons_of(ground, problem, placed, blocks) if reasons else (),
        broken=tuple(
            Broken(b.rule.id, b.rule.words, b.text) for b in breaches(ground, blocks) if b.rule.id not in result.relaxed
        ),
    )
