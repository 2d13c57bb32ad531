"""The integer program of a day costs what the engine says, to the point, so that a proof is about the engine's plans."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import pytest
from ortools.sat import cp_model_pb2, sat_parameters_pb2
from ortools.sat.python.cp_model_helper import SolveWrapper
from tests.factories.instances import any_day, day_of

from fateforger.adapters.optimizer.process import Limits, optimize, solve
from fateforger.adapters.optimizer.translation import Translation
from fateforger.drafting.axis import slots_of
from fateforger.drafting.compilation import compile_problem
from fateforger.drafting.context import build_context
from fateforger.drafting.instance import read_instance
from fateforger.drafting.placement import Placement, points
from fateforger.drafting.problem import Item, Placed, Problem
from fateforger.drafting.solver import lacks_required, solve_context, to_draft, with_optimum
from fateforger.values import replace

pytestmark = pytest.mark.extra  # a campaign of many random cases

DAYS = 150
"""Days of the law; each is placed at random several times."""
SHARES = 9
"""The first share is looked at with every change. It has a day of the benchmark or two, which take the longest."""
SMALL = 60
"""Days that are solved to the end."""


def problem_of(seed: int) -> Problem:
    """Return a strange small day, and sometimes one of the benchmark or a day that is drafted again."""
    if seed % 10 == 0:
        return solve_context(build_context(read_instance(day_of("typical", seed))), steps=0).problem
    document = any_day(seed)
    if seed % 3 == 0:
        plan = to_draft(solve_context(build_context(read_instance(document)), steps=0)).plan
        document = {**read_instance(document).model_dump(mode="json"), "previous": plan.model_dump(mode="json")}
    return compile_problem(build_context(read_instance(document)))


def random_pieces(item: Item, lot: Random) -> list[tuple[int, int]]:
    lengths = [lot.choice(item.lengths)[0]]
    while len(lengths) < item.bounds.most and lengths[-1] >= 2 * item.bounds.shortest and lot.random() < 0.6:
        first = lot.randint(item.bounds.shortest, lengths[-1] - item.bounds.shortest)
        lengths[-1:] = [first, lengths[-1] - first]
    return [(lot.choice(there), n) for n in lengths if (there := list(slots_of(item.starts(n))))]


def placed_at_random(problem: Problem, lot: Random) -> Placed:
    """Return items at random places that satisfy the hard rules, with the required ones placed first."""
    placement = Placement(problem)
    for item in sorted(problem.items, key=lambda i: (not i.required, lot.random())):
        for _ in range(40):
            pieces = tuple(sorted(random_pieces(item, lot)))
            if pieces and sum(n for _, n in pieces) in {n for n, _ in item.lengths} and placement.fits(item, pieces):
                placement.take(item, pieces)
                break
        if item.required and not placement.placed[item.index]:
            placement.insert(item)
    return placement.placed


def cost_in_program(problem: Problem, placed: Placed) -> int | None:
    translation = Translation(problem)
    for pieces, there in zip(translation.items, placed, strict=True):
        for piece, variable in pieces.at.items():
            translation.model.within([(variable, 1)], int(piece in there), int(piece in there))
    wrapper: Any = SolveWrapper()
    wrapper.set_parameters(sat_parameters_pb2.SatParameters(num_workers=1))
    response = wrapper.solve(translation.message(placed))
    return round(response.objective_value) if response.status == cp_model_pb2.OPTIMAL else None


@pytest.mark.parametrize("share", [0, *(pytest.param(share, marks=pytest.mark.extra) for share in range(1, SHARES))])
def test_a_placement_costs_the_same_in_the_program(share: int) -> None:
    """S256"""
    compared = 0
    for seed in range(share, DAYS, SHARES):
        problem, lot = problem_of(seed), Random(seed)
        for _ in range(3):
            placed = placed_at_random(problem, lot)
            expected = None if lacks_required(problem, placed) else points(Placement(problem, placed))
            assert cost_in_program(problem, placed) == expected, f"day {seed}: {placed}"
            compared += expected is not None
    assert compared > DAYS // SHARES


@pytest.mark.parametrize("seed", [3, 5, 8, 11, 20])
def test_a_proof_is_never_above_a_plan_and_its_plan_keeps_the_hard_rules(seed: int) -> None:
    first = solve_context(build_context(read_instance(any_day(seed))), steps=0)
    searched = solve_context(build_context(read_instance(any_day(seed))))
    found = solve(first.problem, first.placed, 2)
    best = points(Placement(first.problem, found.placed))
    assert found.least <= best <= points(Placement(first.problem, first.placed))
    assert found.least <= points(Placement(searched.problem, searched.placed))
    rest = Placement(first.problem)
    for item, pieces in zip(first.problem.items, found.placed, strict=True):
        if pieces:
            assert rest.spots(item, pieces[0][1]) >> pieces[0][0] & 1
            rest.take(item, pieces)


def test_a_draft_is_called_the_best_one_once_the_process_proved_it() -> None:
    """S256: The orders of a good day are what makes a proof slow; without them it takes a few seconds."""
    document = day_of("light", 3)
    document["policy"] = {**document.get("policy", {}), "one_thing_early": False, "shutdown": 0}
    light = solve_context(build_context(read_instance(document)), steps=0)
    loose = [item.index for item in light.problem.items if not item.required]
    empty = replace(light, placed=Placement(light.problem, light.placed).remove_items(loose).placed)
    assert not to_draft(empty).optimal
    found = asyncio.run(optimize(empty, Limits(work=4)))
    assert found is not None
    assert asyncio.run(optimize(empty, Limits(work=4))) == found, "the same draft gave another result"
    assert to_draft(with_optimum(empty, found)).optimal
    assert points(Placement(light.problem, found.placed)) < points(Placement(light.problem, empty.placed))


def test_a_process_that_needs_too_much_memory_ends_and_the_draft_stays() -> None:
    light = solve_context(build_context(read_instance(day_of("light", 3))), steps=0)
    assert asyncio.run(optimize(light, Limits(megabytes=64))) is None
