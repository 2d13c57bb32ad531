"""Solution of the integer program of a day, in the process of the optimizer."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

from fateforger.adapters.optimizer.translation import Translation
from fateforger.drafting.compilation import compile_problem
from fateforger.drafting.context import build_context
from fateforger.drafting.instance import read_instance
from fateforger.drafting.placement import Placement, points
from fateforger.drafting.problem import Placed, Problem
from fateforger.drafting.solver import Optimum


@dataclass(frozen=True, slots=True)
class Limits:
    """Most ``work`` of CP-SAT, about a second of a fast processor for each unit, and most memory."""

    work: float = 0.5
    megabytes: int = 1_024


def solve(problem: Problem, hint: Placed, work: float) -> Optimum:
    """Return the best placement found with at most that much work, and the least points that any costs."""
    from ortools.sat import cp_model_pb2, sat_parameters_pb2  # noqa: PLC0415  optional, and slow to import
    from ortools.sat.python.cp_model_helper import SolveWrapper  # noqa: PLC0415  the same

    translation = Translation(problem)
    wrapper: Any = SolveWrapper()
    wrapper.set_parameters(
        sat_parameters_pb2.SatParameters(
            num_workers=1,
            random_seed=1,
            max_deterministic_time=work,
            # Bounds come from the linear relaxation; looking for symmetries and probing take longer than they save.
            linearization_level=2,
            add_lp_constraints_lazily=False,
            symmetry_level=0,
            cp_model_probing_level=0,
        )
    )
    response = wrapper.solve(translation.message(hint))
    if response.status not in {cp_model_pb2.FEASIBLE, cp_model_pb2.OPTIMAL}:
        return Optimum(hint, 0)
    placed = translation.read(response.solution)
    reached = points(Placement(problem, placed))
    # Costs that items share are only bounded from below, so a solution that was not polished may count more.
    if round(response.objective_value) < reached:
        raise AssertionError(f"the program counts {response.objective_value} points, and the placement {reached}")
    # A bound is a floating-point number; all points are whole.
    return Optimum(placed, min(reached, ceil(response.best_objective_bound - 1e-6)))


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a request, both as JSON values."""
    problem = compile_problem(build_context(read_instance(request["instance"])), frozenset(request["relaxed"]))
    hint: Placed = [tuple((start, length) for start, length in pieces) for pieces in request["placed"]]
    found = solve(problem, hint, request["work"])
    return {"placed": found.placed, "least": found.least}
