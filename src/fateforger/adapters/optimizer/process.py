"""Proof that a draft is the best one, or a better one, by CP-SAT in a process of its own.

The same draft gives the same result on every machine: CP-SAT counts its own work instead of time, works with one
thread, and begins with a fixed seed. OR-tools is optional: ``pip install 'fateforger[solver]'``.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import logging
import resource
import subprocess
import sys
from dataclasses import dataclass
from math import ceil
from typing import Any

from fateforger.adapters.optimizer.translation import Translation
from fateforger.drafting.compilation import compile_problem
from fateforger.drafting.context import build_context
from fateforger.drafting.instance import read_instance
from fateforger.drafting.placement import Placement, points
from fateforger.drafting.problem import Placed, Problem
from fateforger.drafting.solver import Optimum, Solution


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


log = logging.getLogger(__name__)


def is_installed() -> bool:
    """Check whether OR-tools is installed."""
    return importlib.util.find_spec("ortools") is not None


_COMMAND = (sys.executable, "-m", "fateforger.adapters.optimizer.process")
_LIMITS = Limits()


async def optimize(solution: Solution, limits: Limits = _LIMITS) -> Optimum | None:
    """Return the best placement found and how good any can be, or ``None`` when the process failed.

    The process is killed when the caller is canceled.
    """
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*_COMMAND, stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        output, errors = await process.communicate(_write_request(solution, limits))
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return _read_answer(process.returncode, output, errors)


def optimize_now(solution: Solution, limits: Limits = _LIMITS) -> Optimum | None:
    """Return what :func:`optimize` does, for a program without an event loop."""
    done = subprocess.run(_COMMAND, input=_write_request(solution, limits), capture_output=True, check=False)  # noqa: S603  our own module
    return _read_answer(done.returncode, done.stdout, done.stderr)


def _write_request(solution: Solution, limits: Limits) -> bytes:
    request = {
        "instance": solution.context.instance.model_dump(mode="json", by_alias=True, exclude_none=True),
        "relaxed": solution.relaxed,
        "placed": solution.placed,
        "work": limits.work,
        "megabytes": limits.megabytes,
    }
    return json.dumps(request).encode()


def _read_answer(code: int | None, output: bytes, errors: bytes) -> Optimum | None:
    if code != 0:
        # The last line names the error; what follows its name could quote the person.
        kind = errors.decode(errors="replace").strip().rpartition("\n")[2].partition(":")[0]
        log.warning("the optimizer ended with code %s (%s)", code, kind)
        return None
    answer = json.loads(output)
    return Optimum([tuple((start, length) for start, length in pieces) for pieces in answer["placed"]], answer["least"])


if __name__ == "__main__":  # the process: a request from standard input, its answer to standard output
    _request = json.load(sys.stdin)
    _most = _request["megabytes"] << 20
    resource.setrlimit(resource.RLIMIT_AS, (_most, _most))
    json.dump(answer(_request), sys.stdout)
