"""Find rules that no trace can satisfy together, such as ALWAYS x with NEVER x."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import assert_never

from fateforger.workflow.expressions import And, Atom, Expression, Not, Or, all_of, names_in
from fateforger.workflow.rules import Rule, RuleKind


def find_conflicts(rules: Sequence[Rule]) -> tuple[tuple[int, int], ...]:
    """Return the pairs of rules, by position, of which every step violates at least one.

    A rule that no step can satisfy is paired with itself.
    """
    demands = [(at, _demand(rule)) for at, rule in enumerate(rules) if rule.activation is None]
    alone = [(at, at) for at, demand in demands if not is_satisfiable(demand)]
    hopeless = {at for at, _ in alone}
    sound = [(at, demand, names_in(demand)) for at, demand in demands if at not in hopeless]
    return (
        *alone,
        *(
            (first, second)
            for (first, one, its), (second, other, theirs) in combinations(sound, 2)
            if not its.isdisjoint(theirs) and not is_satisfiable(all_of((one, other)))
        ),
    )


def is_satisfiable(expression: Expression) -> bool:
    """Check whether an expression is true in some row of its truth table.

    Rows that an earlier name already decides are skipped.
    """
    return _is_true_somewhere(expression, sorted(names_in(expression)), {})


def _demand(rule: Rule) -> Expression:
    return Not(rule.target) if rule.kind is RuleKind.NEVER else rule.target


def _is_true_somewhere(expression: Expression, names: Sequence[str], row: Mapping[str, bool]) -> bool:
    value = _evaluate(expression, row)
    if value is not None:
        return value
    name, *rest = names
    return any(_is_true_somewhere(expression, rest, {**row, name: choice}) for choice in (True, False))


def _evaluate(expression: Expression, row: Mapping[str, bool]) -> bool | None:
    """Evaluate an expression; return ``None`` while the names in the row do not decide it."""
    match expression:
        case Atom(name):
            return row.get(name)
        case Not(of):
            value = _evaluate(of, row)
            return None if value is None else not value
        case And(parts):
            return _combine([_evaluate(part, row) for part in parts], decisive=False)
        case Or(parts):
            return _combine([_evaluate(part, row) for part in parts], decisive=True)
        case _:
            assert_never(expression)


def _combine(values: Sequence[bool | None], *, decisive: bool) -> bool | None:
    if decisive in values:
        return decisive
    return None if None in values else not decisive
