"""Laws for every rule and every trace (S126-S133, S138, S143).

``RULE_CASES=200000 pytest tests/laws/test_workflow_laws.py`` draws more.
"""

from __future__ import annotations

import os
from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from tests.factories import rules as draw
from tests.laws import ltlf

from fateforger.workflow.conformance import check_case
from fateforger.workflow.parser import read_rule
from fateforger.workflow.rules import (
    And,
    Atom,
    Expression,
    Not,
    Or,
    Rule,
    RuleKind,
    all_of,
    any_of,
    declare_names,
    is_satisfiable,
    names_in,
    write_rule,
)

CASES = int(os.environ.get("RULE_CASES", "8000"))
NAMES = declare_names(draw.ACTIONS, draw.STATES)
DECLARED = {"actions": list(draw.ACTIONS), "states": list(draw.STATES)}


def test_an_independent_evaluator_agrees() -> None:
    """S126-S131: the engine's verdict and steps are those of the formula of each rule, evaluated by definition; and the
    draw really reaches each verdict of each kind that it can have."""
    seen: Counter[tuple[str, str, bool]] = Counter()
    for seed in range(CASES):
        random = Random(seed)
        rule, trace, closed = draw.rule(random), draw.trace(random), random.random() < 0.6
        document = {"rules": [draw.text(*rule)], **DECLARED, "closed": closed, "trace": trace}
        [result] = check_case(document)["rules"]
        expected = ltlf.judge_rule(*rule, trace, closed=closed)
        assert (result["verdict"], result["violations"]) == expected, (seed, document)
        seen[rule[0], result["verdict"], closed] += 1
    pends = {"AFTER", "IF", "ON"}
    rare = [
        (kind, verdict, closed)
        for kind in draw.KINDS
        for verdict in ("violated", "unknown", "pending", "satisfied", "vacuous")
        for closed in (True, False)
        if (verdict != "pending" or (kind in pends and not closed)) and not (verdict == "violated" and kind == "AFTER")
        if seen[kind, verdict, closed] < 5
    ]
    assert rare == []
    assert {key for key in seen if key[1] == "pending"} == {(kind, "pending", False) for kind in pends}
    assert seen["AFTER", "violated", True] > 50
    assert seen["AFTER", "violated", False] == 0


def test_what_an_open_trace_violates_no_continuation_mends() -> None:
    """A violation of an open trace is final; anything that a continuation can repair is not called a violation."""
    final = mended = 0
    for seed in range(CASES // 4):
        random = Random(seed)
        rule, trace = draw.rule(random), draw.trace(random, 6)
        document = {"rules": [draw.text(*rule)], **DECLARED, "closed": False, "trace": trace}
        result = check_case(document)
        longer = {**document, "closed": True, "trace": trace + draw.trace(random, 4)}
        if result["verdict"] == "violated":
            final += 1
            assert check_case(longer)["verdict"] == "violated", (seed, document)
        if result["verdict"] == "pending":
            assert check_case({**document, "closed": True})["verdict"] == "violated", (seed, document)
            mended += check_case(longer)["verdict"] == "satisfied"
    assert min(final, mended) > 20


def test_a_known_fact_never_turns_a_verdict_around() -> None:
    """A verdict given with facts missing stays true once they are known: only ``unknown`` may change."""
    decided = 0
    for seed in range(CASES // 4):
        random = Random(seed)
        rule, trace = draw.rule(random), draw.trace(random, 6)
        document = {"rules": [draw.text(*rule)], **DECLARED, "trace": trace}
        [before] = check_case(document)["rules"]
        known = [
            {**step, "true": [*step["true"], *(s for s in step["unknown"] if random.random() < 0.5)], "unknown": []}
            for step in trace
        ]
        [after] = check_case({**document, "trace": known})["rules"]
        if before["verdict"] in {"satisfied", "vacuous"}:
            assert after["verdict"] in {"satisfied", "vacuous"}, (seed, document)
        assert set(before["violations"]) <= set(after["violations"]), (seed, document)
        assert set(after["violations"]) <= {*before["violations"], *before["unknown"]}, (seed, document)
        decided += before["verdict"] == "unknown"
    assert decided > 50


def expressions_over(*names: str) -> st.SearchStrategy[Expression]:
    return st.recursive(
        st.sampled_from(names).map(Atom),
        lambda inner: st.one_of(
            inner.map(Not),
            st.lists(inner, min_size=2, max_size=3).map(all_of),
            st.lists(inner, min_size=2, max_size=3).map(any_of),
        ),
        max_leaves=12,
    )


expressions = expressions_over(*draw.ACTIONS, *draw.STATES)
of_actions, of_states = expressions_over(*draw.ACTIONS), expressions_over(*draw.STATES)
TARGETS = {RuleKind.IF: of_actions | of_states, RuleKind.ON: of_actions}


@st.composite
def some_rules(pick: st.DrawFn) -> Rule:
    kind = pick(st.sampled_from(RuleKind))
    activation = None if kind in {RuleKind.ALWAYS, RuleKind.NEVER} else pick(expressions)
    return Rule(kind, pick(TARGETS.get(kind, expressions)), activation)


@given(some_rules())
def test_a_written_rule_reads_as_the_same_rule(rule: Rule) -> None:
    assert read_rule(write_rule(rule), NAMES) == rule


@given(some_rules(), st.randoms(use_true_random=False))
def test_spaces_and_needless_parentheses_mean_nothing(rule: Rule, random: Random) -> None:
    """Written with all parentheses and random spaces it is still the same rule, written the same."""
    kind, activation, target = rule.kind.value, rule.activation, rule.target
    loose = draw.text(kind, None if activation is None else to_tuple(activation), to_tuple(target))
    for mark in "():":
        loose = loose.replace(mark, f"{' ' * random.randrange(3)}{mark}{random.choice((' ', '', '  '))}")
    spaced = loose.replace(":", ": ").replace(" ", random.choice((" ", "  ", "\n ")))
    assert read_rule(spaced, NAMES) == rule
    assert write_rule(read_rule(spaced, NAMES)) == write_rule(rule)


@given(expressions)
def test_the_conflict_check_agrees_with_the_whole_truth_table(expression: Expression) -> None:
    """S143."""
    names = sorted(names_in(expression))
    table = [{name: bool(row >> at & 1) for at, name in enumerate(names)} for row in range(2 ** len(names))]
    assert is_satisfiable(expression) == any(truth(expression, row) for row in table)


def truth(expression: Expression, row: dict[str, bool]) -> bool:
    match expression:
        case Atom(name):
            return row[name]
        case Not(of):
            return not truth(of, row)
        case And(parts):
            return all(truth(part, row) for part in parts)
        case Or(parts):
            return any(truth(part, row) for part in parts)


def to_tuple(expression: Expression) -> tuple[object, ...]:
    match expression:
        case Atom(name):
            return ("state", name)
        case Not(of):
            return ("not", to_tuple(of))
        case And(parts):
            return ("and", *map(to_tuple, parts))
        case Or(parts):
            return ("or", *map(to_tuple, parts))
