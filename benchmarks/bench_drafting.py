"""Measure the cost and the quality of drafts on fixed sets of days, in processor time.

The days are in ``instances/``, written by ``--write`` from ``tests/factories/instances.py``.

The worth of a plan is the worth of its placed tasks less its penalties. With ``--best``, its gap is the distance to
the best known plan: the best of this run and of three searches four to six times as long. The peer, in the same run,
fills the day once in the order of the list, as a person would. Another peer is OR-tools' CP-SAT, if it is installed,
on a simpler day (each task in one piece, no breaks between blocks), with its import.

``--exact N`` compares N new days of each class with the proven optimum: the optimum of the whole objective by CP-SAT,
started from the best plan known, or the best bound that ``EXACT_WORK`` of its work gives.
"""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tests.factories.instances import day_of
from tests.factories.moved_meetings import moved_share

from fateforger.drafting import weights
from fateforger.drafting.axis import slots_of
from fateforger.drafting.compilation import compile_problem
from fateforger.drafting.context import DraftContext, build_context, must_ids
from fateforger.drafting.feasibility import find_conflict
from fateforger.drafting.instance import Instance, read_instance
from fateforger.drafting.model import write_draft
from fateforger.drafting.placement import Placement, cost, points
from fateforger.drafting.problem import Placed, Problem
from fateforger.drafting.solver import STEPS, Solution, draft_instance, solve_context, to_draft

TRIES = 3
SETS = {"light": 20, "typical": 30, "heavy": 20, "crowded": 5, "week": 3}
LONG = (4, 5, 6)
MOVING_DAYS = 40
MOVING_TARGET = 0.15
RUNS = 100
INSTANCES = Path(__file__).parent / "instances"
TARGETS_MS = {
    "typical": {"first_p95": 40, "final_p95": 400},
    "heavy": {"first_p95": 60, "final_p95": 400, "conflict_p95": 300},
    "crowded": {"final_p95": 600},
    "week": {"final_p95": 5_000},
}


def format_lines(family: str) -> str:
    """Return the lines of a family's file."""
    lines = (json.dumps(day_of(family, seed), ensure_ascii=False) for seed in range(SETS[family]))
    return "".join(f"{line}\n" for line in lines)


def days(family: str) -> Iterator[dict[str, Any]]:
    for line in (INSTANCES / f"{family}.jsonl").read_text().splitlines():
        yield json.loads(line)


def measure_time(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the milliseconds of the best of a few tries, since a machine may have other work, and the result."""
    took = []
    for _ in range(TRIES):
        started = time.process_time()
        result = work()
        took.append((time.process_time() - started) * 1_000)
    return min(took), result


def worth(problem: Problem, placed: Placed) -> float:
    return sum(item.reward for item in problem.items) - cost(Placement(problem, placed)) / weights.SCALE


def as_listed(problem: Problem) -> float:
    """Draft as the peer: each task where it is cheapest, in the order of the list, without a second look."""
    placement = Placement(problem)
    for item in problem.items:
        placement.insert(item)
    return worth(problem, placement.placed)


def _place_as_listed(instance: Instance) -> float:
    return as_listed(compile_problem(build_context(instance)))


def measure_family(family: str, *, look_for_best: bool) -> dict[str, Any]:
    first, final, peer, gaps, unkept = [], [], [], [], 0
    for document in days(family):
        instance = read_instance(document)
        ms, early = measure_time(partial(_whole, instance, 0))
        first.append(ms)
        ms, late = measure_time(partial(_whole, instance, STEPS))
        final.append(ms)
        ms, listed = measure_time(partial(_place_as_listed, instance))
        peer.append(ms)
        unkept += late.conflict is not None
        if look_for_best:
            longer = [solve_context(build_context(instance), steps=STEPS * times) for times in LONG]
            known = (*(worth(r.problem, r.placed) for r in (late, early)), listed)
            best = max(*known, *(worth(r.problem, r.placed) for r in longer))
            gaps.append([1 - each / best for each in known])
    return {
        "days": len(final),
        "first_ms": percentiles(first),
        "final_ms": percentiles(final),
        "peer_as_listed_ms": percentiles(peer),
        "conflicts": unkept,
        **(_gaps_to_best(gaps) if gaps else {}),
    }


def _gaps_to_best(gaps: list[list[float]]) -> dict[str, Any]:
    """Return the gaps of the final plan, of the first one, and of the peer, by day."""
    final, first, peer = zip(*gaps, strict=True)
    return {
        "within_1_percent_of_the_best_known": sum(gap <= 0.01 for gap in final) / len(final),
        "gap": {"mean": statistics.mean(final), "worst": max(final)},
        "gap_of_the_first_plan": statistics.mean(first),
        "gap_of_the_peer": statistics.mean(peer),
    }


def conflicts() -> dict[str, float]:
    """Measure the time for a smallest conflict, on heavy days on which more is required than fits."""
    took = []
    for document in days("heavy"):
        strict = {**document, "tasks": [{**t, "required": True} for t in document["tasks"]]}
        context: DraftContext = build_context(read_instance(strict))
        ms, conflict = measure_time(partial(find_conflict, context))
        if conflict is not None:
            took.append(ms)
        assert len(must_ids(context)) >= len(document["tasks"])
    return {"days": len(took), **percentiles(took)}


def moving() -> dict[str, Any]:
    """Move a meeting to eleven on drafted days and measure the share of other blocks that move.

    The result has the number of days above the target for which fewer moves would do (by the exact search).
    """
    shares, blocks, moves, avoidable = [], 0, 0, []
    for seed in range(MOVING_DAYS):
        share = moved_share(day_of("typical", seed), STEPS)
        shares.append(len(share.moved) / max(1, len(share.clear)))
        blocks += len(share.clear)
        moves += len(share.moved)
        if shares[-1] > MOVING_TARGET and share.fewer_would_do(MOVING_TARGET):
            avoidable.append(seed)
    return {
        "days": len(shares),
        "median": statistics.median(shares),
        "of_all_blocks": moves / blocks,
        "days_above_the_target": sum(share > MOVING_TARGET for share in shares),
        "of_these_avoidable": avoidable,
    }


def same_plan() -> dict[str, Any]:
    """Count the different plans of one day, drafted several times and in processes with other hash seeds."""
    lines = [json.dumps(next(days(family))) for family in ("typical", "heavy")]
    plans = {_plans(lines) for _ in range(RUNS)}
    program = "import sys; from benchmarks.bench_drafting import _plans; print(_plans(sys.stdin.read().splitlines()))"
    for seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        given: Any = {"input": "\n".join(lines), "env": env, "capture_output": True, "text": True}
        plans.add(subprocess.run([sys.executable, "-c", program], check=True, **given).stdout.rstrip("\n"))
    return {"runs": RUNS, "processes": 3, "different_plans": len(plans)}


def _plans(lines: list[str]) -> str:
    return json.dumps([write_draft(draft_instance(read_instance(json.loads(line)))) for line in lines])


def _whole(instance: Instance, steps: int) -> Solution:
    """Run everything in a draft but the reasons: the search, and the explanation of tasks without a place."""
    result = solve_context(build_context(instance), steps=steps)
    to_draft(result)
    return result


def percentiles(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {"p50": statistics.median(times), "p95": ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]}


def cp_sat(family: str) -> dict[str, Any]:
    """Run the peer that is a real solver: one literal for each start, no slot taken twice; proof or ten seconds."""
    started = time.process_time()
    from ortools.sat.python import cp_model

    imported = (time.process_time() - started) * 1_000
    firsts, proofs, proved = [], [], 0
    for document in list(days(family))[:8]:
        problem = compile_problem(build_context(read_instance(document)))
        model, solver = cp_model.CpModel(), cp_model.CpSolver()
        solver.parameters.num_workers, solver.parameters.max_time_in_seconds = 1, 10
        slots: dict[int, list[Any]] = {}
        points = []
        for item in problem.items:
            chosen = []
            for start in slots_of(item.starts(item.slots)):
                literal = model.new_bool_var("")
                chosen.append(literal)
                points.append(literal * (item.reward - item.points(start, item.slots)))
                for slot in range(start, start + item.slots + item.gap):
                    slots.setdefault(slot, []).append(literal)
            model.add_at_most_one(chosen)
        for literals in slots.values():
            model.add_at_most_one(literals)
        model.maximize(sum(points))
        watch = _FirstSolution(cp_model)
        ms, status = measure_time(partial(solver.solve, model, watch.callback))
        firsts.append(watch.after_ms)
        proofs.append(ms)
        proved += status == cp_model.OPTIMAL
    return {"import_ms": imported, "first_ms": percentiles(firsts), "proof_ms": percentiles(proofs), "proved": proved}


class _FirstSolution:
    def __init__(self, cp_model: Any) -> None:
        started = time.process_time()
        seen = self

        class Callback(cp_model.CpSolverSolutionCallback):  # type: ignore[misc]  # its base is untyped
            def on_solution_callback(self) -> None:
                if seen.after_ms is None:
                    seen.after_ms = (time.process_time() - started) * 1_000

        self.after_ms: Any = None
        self.callback = Callback()


EXACT_WORK = float(os.environ.get("EXACT_WORK", "4"))
"""Most work of CP-SAT on a day: about ten seconds."""
NEW = 10_000
"""First seed of the days that nothing was tuned on."""
SEARCHES = {"first plan": 0, "draft": STEPS, "three times the steps": 3 * STEPS}


def exact(family: str, number: int) -> dict[str, Any]:
    """Return gaps to the proven optimum and the time of search and proof; fail if a plan is below the proof."""
    from fateforger.adapters.optimizer.process import solve

    gaps: dict[str, list[float]] = {name: [] for name in SEARCHES}
    bounds: dict[str, list[float]] = {name: [] for name in SEARCHES}
    times: dict[str, list[float]] = {name: [] for name in (*SEARCHES, "proof")}
    proved = 0
    for seed in range(NEW, NEW + number):
        context = build_context(read_instance(day_of(family, seed)))
        results: dict[str, Solution] = {}
        for name, steps in SEARCHES.items():
            started = time.process_time()
            results[name] = solve_context(context, steps=steps)
            times[name].append((time.process_time() - started) * 1_000)
        reached = {name: points(Placement(r.problem, r.placed)) for name, r in results.items()}
        hint = results[min(reached, key=reached.__getitem__)]
        started = time.process_time()
        found = solve(hint.problem, hint.placed, EXACT_WORK)
        times["proof"].append((time.process_time() - started) * 1_000)
        best = points(Placement(hint.problem, found.placed))
        assert found.least <= best <= min(reached.values()), f"{family} {seed}: a plan is better than the proof"
        whole = sum(item.reward for item in hint.problem.items)
        for name, cost_of_it in reached.items():
            bounds[name].append((cost_of_it - found.least) / max(1, whole - found.least))
            if found.least == best:
                gaps[name].append((cost_of_it - best) / max(1, whole - best))
        proved += found.least == best
        row = {"day": f"{family}-{seed}", **reached, "best": best, "least": found.least, "whole": whole}
        print(json.dumps(row | {f"{name} ms": round(took[-1]) for name, took in times.items()}), file=sys.stderr)
    return {
        "days": number,
        "proved": proved,
        "ms": {name: percentiles(took) for name, took in times.items()},
        "gap_to_the_proven_optimum": {name: _distribution(gap) for name, gap in gaps.items()},
        "most_that_the_gap_can_be_on_all_days": {name: _distribution(gap) for name, gap in bounds.items()},
    }


def _distribution(gaps: list[float]) -> dict[str, float]:
    if not gaps:
        return {}
    ordered = sorted(gaps)
    return {
        "within_1_percent": sum(gap <= 0.01 for gap in gaps) / len(gaps),
        "mean": statistics.mean(gaps),
        "p50": statistics.median(gaps),
        "p90": ordered[min(len(gaps) - 1, int(len(gaps) * 0.9))],
        "worst": ordered[-1],
    }


def memory_mb() -> float:
    """Return the peak memory of a process that drafts only the crowded days."""
    program = "from benchmarks.bench_drafting import drafts_only; drafts_only()"
    out = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    return float(out)


def drafts_only() -> None:
    for document in days("crowded"):
        solve_context(build_context(read_instance(document)), steps=STEPS)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def main() -> int:
    if "--write" in sys.argv:
        INSTANCES.mkdir(exist_ok=True)
        for family in SETS:
            (INSTANCES / f"{family}.jsonl").write_text(format_lines(family))
        return 0
    if "--exact" in sys.argv:
        number = int(sys.argv[sys.argv.index("--exact") + 1])
        families = [name for name in ("light", "typical", "heavy") if name in sys.argv] or ["light", "typical", "heavy"]
        for family in families:
            print(json.dumps({family: exact(family, number)}, indent=2), flush=True)
        return 0
    result: dict[str, Any] = {"targets_ms": TARGETS_MS, "steps": STEPS}
    for family in SETS:
        result[family] = measure_family(family, look_for_best="--best" in sys.argv)
    result["conflict_ms"] = conflicts()
    result["memory_mb"] = memory_mb()
    result["moving_a_meeting"] = moving()
    result["same_plan"] = same_plan()
    if importlib.util.find_spec("ortools"):
        result["cp_sat"] = {family: cp_sat(family) for family in ("light", "typical", "heavy")}
    print(json.dumps(result, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
