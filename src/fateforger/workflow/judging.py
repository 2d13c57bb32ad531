"""Judge a rule on a trace."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, assert_never

from fateforger.workflow.expressions import Expression, names_in
from fateforger.workflow.rules import Rule, RuleKind
from fateforger.workflow.trace import Timeline
from fateforger.workflow.truth import (
    Truth,
    mark_eventually,
    mark_now_or_eventually,
    mark_yesterday,
    negate,
    next_until,
    steps_in,
    truth_of,
)


class Verdict(StrEnum):
    """Verdict, from the heaviest to the lightest."""

    VIOLATED = "violated"
    """Final, even if the trace continues."""
    UNKNOWN = "unknown"
    """Depends on facts that are not known."""
    PENDING = "pending"
    """Not yet satisfied, but still possible; only for a trace that may continue."""
    SATISFIED = "satisfied"
    VACUOUS = "vacuous"
    """The rule was never activated."""

    @property
    def passes(self) -> bool:
        """True if there is nothing to object to."""
        return self in {Verdict.SATISFIED, Verdict.VACUOUS}


WEIGHT = {verdict: weight for weight, verdict in enumerate(Verdict)}


def combine_verdicts(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the heaviest verdict, or vacuous if there are none."""
    return min(verdicts, key=WEIGHT.__getitem__, default=Verdict.VACUOUS)


@dataclass(frozen=True, slots=True)
class Judgement:
    """Verdict, with the steps (counted from 0) at which the rule was activated, grouped by their own verdict."""

    verdict: Verdict
    violations: tuple[int, ...] = ()
    unknown: tuple[int, ...] = ()
    pending: tuple[int, ...] = ()


class _Answer(NamedTuple):
    """Steps at which the target certainly comes, certainly fails, or is still awaited; elsewhere it is unknown."""

    comes: int
    fails: int
    waits: int = 0


def judge(rule: Rule, timeline: Timeline, *, closed: bool = True) -> Judgement:
    """Judge a rule. A trace that is not ``closed`` may continue."""
    full = timeline.full
    activation, answer = _find_activations(rule, timeline, closed=closed)
    violated = activation.sure & answer.fails
    pending = activation.sure & answer.waits
    satisfied = activation.sure & answer.comes
    unknown = activation.maybe & ~(answer.comes | violated | pending) & full
    verdicts = (
        (Verdict.VIOLATED, violated),
        (Verdict.UNKNOWN, unknown),
        (Verdict.PENDING, pending),
        (Verdict.SATISFIED, satisfied),
    )
    verdict = next((verdict for verdict, steps in verdicts if steps), Verdict.VACUOUS)
    if not violated | unknown | pending:
        return Judgement(verdict)
    return Judgement(verdict, *(steps_in(steps, timeline.numbers) for steps in (violated, unknown, pending)))


def _find_activations(rule: Rule, timeline: Timeline, *, closed: bool) -> tuple[Truth, _Answer]:
    """Return the steps that activate the rule, and the outcome of its target at each step."""
    full = timeline.full
    if rule.activation is None:
        wanted = truth_of(rule.target, timeline.values, full)
        held = negate(wanted, full) if rule.kind is RuleKind.NEVER else wanted
        return Truth(full, full), _at_once(held, full)
    activation = truth_of(rule.activation, timeline.values, full)
    if rule.kind is RuleKind.BEFORE:
        return activation, _at_once(truth_of(rule.target, timeline.beforehand, full), full)
    target = truth_of(rule.target, timeline.values, full)
    match rule.kind:
        case RuleKind.AFTER:
            reached = Truth(mark_eventually(target.sure, full), mark_eventually(target.maybe, full))
            return activation, _in_time(reached, full, closed=closed)
        case RuleKind.IF:
            if not _has_action(rule.target, timeline):
                return activation, _at_once(target, full)
            reached = Truth(mark_now_or_eventually(target.sure, full), mark_now_or_eventually(target.maybe, full))
            return activation, _in_time(reached, full, closed=closed)
        case RuleKind.ON:
            if all(map(timeline.is_action, names_in(rule.activation))):
                firing = activation
            else:
                firing = Truth(
                    activation.sure & ~mark_yesterday(activation.maybe),
                    activation.maybe & ~mark_yesterday(activation.sure),
                )
            return firing, _before_the_next(firing, target, full, closed=closed)
        case RuleKind.ALWAYS | RuleKind.NEVER:
            raise ValueError(f"{rule.kind} has no activation")
        case _:
            assert_never(rule.kind)


def _at_once(held: Truth, full: int) -> _Answer:
    return _Answer(held.sure, full & ~held.maybe)


def _in_time(reached: Truth, full: int, *, closed: bool) -> _Answer:
    missing = full & ~reached.maybe
    return _Answer(reached.sure, missing) if closed else _Answer(reached.sure, 0, missing)


def _before_the_next(firing: Truth, target: Truth, full: int, *, closed: bool) -> _Answer:
    """Evaluate a target that must come in the same step, or later but before the next firing."""
    quiet = negate(firing, full)
    sure = next_until(quiet.sure, target.sure & quiet.sure, full, at_end=False)
    maybe = next_until(quiet.maybe, target.maybe & quiet.maybe, full, at_end=False)
    comes = target.sure | sure
    may_come = target.maybe | maybe
    if closed:
        return _Answer(comes, full & ~may_come)
    # In a trace that continues, a target that is still open at the end may come later.
    left_open = next_until(quiet.sure, 0, full, at_end=True)
    may_be_left_open = next_until(quiet.maybe, 0, full, at_end=True)
    return _Answer(comes, full & ~(may_come | may_be_left_open), left_open & ~may_come)


def _has_action(expression: Expression, timeline: Timeline) -> bool:
    return any(map(timeline.is_action, names_in(expression)))
