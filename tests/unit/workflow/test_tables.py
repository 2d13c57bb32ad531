"""The tables of what each kind of rule means, cell by cell (S126-S131, S143): x and y are actions; on, p, q states."""

from __future__ import annotations

import pytest
from tests.unit.workflow.rule_checks import ask_engine, verdict

from fateforger.workflow.conformance import Verdict, combine_verdicts


@pytest.mark.parametrize(
    ("rule", "line", "expected"),
    [
        ("BEFORE x: p", "x+p", "satisfied"),
        ("BEFORE x: p", "x", "violated"),
        ("BEFORE x: p", "x+p?", "unknown"),
        ("BEFORE x: y", "y x", "satisfied"),
        ("BEFORE x: y", "x+y", "violated"),
        ("BEFORE x: y", "x y", "violated"),
        ("BEFORE x: y", "y", "vacuous"),
        # A state has to hold still; an action counts from then on.
        ("BEFORE x: p", "p x", "violated"),
        ("BEFORE x: y", "y . x x", "satisfied"),
        ("BEFORE x: p AND y", "y+p x+p", "satisfied"),
        ("BEFORE x: p AND y", "y+p x", "violated"),
        ("BEFORE x: p OR y", "p x+p", "satisfied"),
        ("BEFORE x: NOT y", "x y", "satisfied"),
        ("BEFORE x: NOT y", "y x", "violated"),
        ("BEFORE x AND NOT on: p", "x+on x+p", "satisfied"),
    ],
)
def test_before(rule: str, line: str, expected: str) -> None:
    """S126. On an open trace it is the same: BEFORE never pends."""
    assert (verdict(rule, line), verdict(rule, line, closed=False)) == (expected, expected)


@pytest.mark.parametrize(
    ("rule", "line", "closed", "still_open"),
    [
        ("AFTER x: y", "y x", "violated", "pending"),
        ("AFTER x: y", "x+y", "violated", "pending"),
        ("AFTER x: y", "x y", "satisfied", "satisfied"),
        ("AFTER x: y", "x", "violated", "pending"),
        ("AFTER x: p", "x p", "satisfied", "satisfied"),
        ("AFTER x: p", "x p?", "unknown", "unknown"),
        ("AFTER x: p", "x+p?", "violated", "pending"),
        ("AFTER x: y", "y", "vacuous", "vacuous"),
        ("AFTER x: y", "x x y", "satisfied", "satisfied"),
        ("AFTER x: y", "x y x", "violated", "pending"),
    ],
)
def test_after(rule: str, line: str, closed: str, still_open: str) -> None:
    """S127. One answer serves several triggers."""
    assert (verdict(rule, line), verdict(rule, line, closed=False)) == (closed, still_open)


@pytest.mark.parametrize(
    ("rule", "line", "expected"),
    [
        ("ALWAYS: p", "p p", "satisfied"),
        ("ALWAYS: p", "p .", "violated"),
        ("ALWAYS: p", "p p?", "unknown"),
        ("ALWAYS: p", "", "vacuous"),
        ("ALWAYS: p OR q", "p q", "satisfied"),
        ("NEVER: x", "y .", "satisfied"),
        ("NEVER: x", "y x", "violated"),
        ("NEVER: p", ". p?", "unknown"),
        ("NEVER: p", "", "vacuous"),
        ("NEVER: x AND p", "x p", "satisfied"),
    ],
)
def test_always_and_never(rule: str, line: str, expected: str) -> None:
    """S128, S129: every step counts, so only the empty trace is vacuous; they never pend."""
    assert (verdict(rule, line), verdict(rule, line, closed=False)) == (expected, expected)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("p+q", "satisfied"),
        ("p", "violated"),
        ("p+q?", "unknown"),
        ("q", "vacuous"),
        (".", "vacuous"),
        ("q?", "vacuous"),
        ("p?+q", "vacuous"),
        ("p?", "unknown"),
        ("p?+q?", "unknown"),
        ("q p", "violated"),
        ("p q", "violated"),
    ],
)
def test_if_with_states(line: str, expected: str) -> None:
    """S130: three values of each side; the consequence belongs to the same step."""
    assert [verdict("IF p THEN q", line, closed=closed) for closed in (True, False)] == [expected, expected]


@pytest.mark.parametrize(
    ("line", "closed", "still_open"),
    [
        ("y p", "violated", "pending"),
        ("p+y", "satisfied", "satisfied"),
        ("p y", "satisfied", "satisfied"),
        ("p p y", "satisfied", "satisfied"),
        ("p", "violated", "pending"),
        ("y", "vacuous", "vacuous"),
        ("p?", "unknown", "unknown"),
        ("p? y", "vacuous", "vacuous"),
    ],
)
def test_if_with_actions(line: str, closed: str, still_open: str) -> None:
    """S130: an action may follow later, and serves several triggers."""
    assert (verdict("IF p THEN y", line), verdict("IF p THEN y", line, closed=False)) == (closed, still_open)


@pytest.mark.parametrize(
    ("rule", "line", "closed", "still_open"),
    [
        ("ON on: INVOKE y", "y on", "violated", "pending"),
        ("ON on: INVOKE y", "on+y", "satisfied", "satisfied"),
        ("ON on: INVOKE y", "on . y", "satisfied", "satisfied"),
        ("ON on: INVOKE y", "on", "violated", "pending"),
        ("ON on: INVOKE y", ". y", "vacuous", "vacuous"),
        # A state fires when it begins to hold, not for as long as it does.
        ("ON on: INVOKE y", "on on y", "satisfied", "satisfied"),
        ("ON on: INVOKE y", "on . on y", "violated", "violated"),
        ("ON on: INVOKE y", "on . on+y", "violated", "violated"),
        ("ON on: INVOKE y", "on+y . on", "violated", "pending"),
        ("ON on: INVOKE y", "on? .", "unknown", "unknown"),
        ("ON on: INVOKE y", "on? y", "vacuous", "vacuous"),
        # An action fires each time; one answer serves one of them.
        ("ON x: INVOKE y", "x y x y", "satisfied", "satisfied"),
        ("ON x: INVOKE y", "x x y", "violated", "violated"),
        ("ON x: INVOKE y", "x+y x+y", "satisfied", "satisfied"),
        ("ON x: INVOKE y", "x x", "violated", "violated"),
    ],
)
def test_on(rule: str, line: str, closed: str, still_open: str) -> None:
    """S131."""
    assert (verdict(rule, line), verdict(rule, line, closed=False)) == (closed, still_open)


@pytest.mark.parametrize(
    ("rule", "line", "expected"),
    [
        ("BEFORE x: p", "x x+p x", [0, 2]),
        ("AFTER x: y", "x y x .", [2]),
        ("ALWAYS: p", ". p .", [0, 2]),
        ("NEVER: x", "x . x", [0, 2]),
        ("IF p THEN q", "p p+q p", [0, 2]),
        ("ON x: INVOKE y", "x x y x", [0, 3]),
    ],
)
def test_a_violation_names_rule_kind_step_and_remedy(rule: str, line: str, expected: list[int]) -> None:
    """S139: steps are those at which the rule was activated, counted from 0."""
    answer = ask_engine(rule, line)
    assert (answer["rule"], answer["type"], answer["violations"]) == (
        rule,
        rule.partition(" ")[0].rstrip(":"),
        expected,
    )
    assert answer["remedy"].endswith(".")


def test_what_passes_has_no_remedy() -> None:
    answers = [ask_engine("BEFORE x: p", line) for line in ("x+p", "y")]
    assert [(a["verdict"], a["remedy"]) for a in answers] == [("satisfied", None), ("vacuous", None)]


def test_the_verdict_of_several_is_the_one_that_weighs_most() -> None:
    """Violated, unknown, pending, satisfied, vacuous."""
    order = [Verdict.VIOLATED, Verdict.UNKNOWN, Verdict.PENDING, Verdict.SATISFIED, Verdict.VACUOUS]
    assert [combine_verdicts(order[at:]) for at in range(len(order))] == order
    assert combine_verdicts([]) is Verdict.VACUOUS
    assert verdict("BEFORE x: p", "x+p? x", closed=False) == "violated"
    assert verdict("AFTER x: p", "x p? x", closed=False) == "unknown"


def test_any_order_that_keeps_the_rules_passes() -> None:
    """S133: order alone never fails."""
    assert {verdict("BEFORE x: y", line) for line in ("y x other", "y other x", "other y x")} == {"satisfied"}
