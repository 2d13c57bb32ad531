"""Measure the cost of checking rules: 1,000 random rules of all six kinds on traces of 1,000 steps, in processor time.

The peer, in the same run and taking turns with us, evaluates the formula of each rule step by step, by definition
(``tests.laws.ltlf``). Since that takes long it gets fewer rules, and its time is multiplied; that both give the same
verdicts and steps is checked. A turn pays for the check of its commit, of the write, and of its end, in Stage 4.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import Any, TypeVar

from tests.factories import rules as draw
from tests.laws import ltlf
from tests.unit.conversation.sessions import plan_session, task

from fateforger.conversation.turn_values import TurnOutcome
from fateforger.conversation.turns import end_turn
from fateforger.session.gate import MOST_STEPS, describe_stage, make_step, objections, record_steps
from fateforger.session.model import Session
from fateforger.session.stages import TimeboxingStage
from fateforger.workflow.conformance import check, wrap_rule
from fateforger.workflow.parser import read_rule
from fateforger.workflow.rules import declare_names
from fateforger.workflow.trace import Step

RULES = 1_000
STEPS = 1_000
ROUNDS = 12
PEER_RULES = 10
TARGET_MS = 100
GATES = 4
"""Times that a turn asks for the state of its stage."""
T = TypeVar("T")


def measure_time(work: Callable[[], T]) -> tuple[float, T]:
    """Return the milliseconds and the result."""
    started = time.process_time()
    result = work()
    return (time.process_time() - started) * 1_000, result


def long_trace(random: Random) -> list[dict[str, list[str]]]:
    steps: list[dict[str, list[str]]] = []
    while len(steps) < STEPS:
        steps += draw.trace(random)
    return steps[:STEPS]


def peer(drawn: Sequence[draw.Rule], trace: Any, *, closed: bool) -> list[tuple[str, list[int]]]:
    return [ltlf.judge_rule(*rule, trace, closed=closed) for rule in drawn]


def turn(before: Session) -> Session:
    """Run the checks of a commit: itself, the write, the end of its turn, and the offers on its card."""
    objections(before, "commit")
    objections(before, "write")
    for _ in range(GATES):
        describe_stage(before)
    outcome = TurnOutcome(session=before, gate=describe_stage(before))
    return end_turn(before, outcome, before, ())[0]


def of_a_turn() -> float:
    """Return the milliseconds, each time with another plan."""
    sessions = [plan_session(TimeboxingStage.REFINE, *(task(f"{n} {m}", 45) for m in range(8))) for n in range(50)]
    for _ in range(MOST_STEPS):
        sessions = [record_steps(each, make_step(each, "write")) for each in sessions]
    return statistics.median(measure_time(partial(turn, each))[0] for each in sessions)


def main() -> int:
    random = Random(3)
    sys.setrecursionlimit(20_000)
    drawn = [draw.rule(random) for _ in range(RULES)]
    names = declare_names(draw.ACTIONS, draw.STATES)
    texts = [draw.text(*rule) for rule in drawn]
    reading, read = measure_time(lambda: [read_rule(text, names) for text in texts])
    rules = [wrap_rule(rule) for rule in read]
    traces: list[Any] = [long_trace(random) for _ in range(ROUNDS)]
    ours: list[float] = []
    theirs: list[float] = []
    differ = 0
    for number, trace in enumerate(traces):
        steps = [Step.model_validate(step) for step in trace]
        some = [(number * PEER_RULES + at) % RULES for at in range(PEER_RULES)]
        for closed in (True, False):
            took, checked = measure_time(partial(check, rules, steps, names, closed=closed))
            ours.append(took)
            took, expected = measure_time(partial(peer, [drawn[at] for at in some], trace, closed=closed))
            theirs.append(took * RULES / PEER_RULES)
            found = [checked[at] for at in some]
            differ += [(each.verdict.value, list(each.violations)) for each in found] != expected
    result = {
        "rules": RULES,
        "steps": STEPS,
        "target_ms": TARGET_MS,
        "ms": {"p50": statistics.median(ours), "p95": statistics.quantiles(ours, n=20)[-1]},
        "peer_ms": statistics.median(theirs),
        "times_faster": statistics.median(theirs) / statistics.median(ours),
        "answers_that_differ": differ,
        "reading_the_rules_ms": reading,
        "a_turn_ms": of_a_turn(),
    }
    print(json.dumps(result, indent=2))
    return 0 if differ == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
