"""Suggest a fix for a violated rule whose author wrote none."""

from __future__ import annotations

from typing import assert_never

from fateforger.workflow.expressions import And, Atom, Expression, Not, Or
from fateforger.workflow.rules import Rule, RuleKind


def suggest_remedy(rule: Rule) -> str:
    """Suggest a fix in one sentence."""
    target = describe_expression(rule.target)
    activation = "" if rule.activation is None else describe_expression(rule.activation)
    match rule.kind:
        case RuleKind.BEFORE:
            return f"See to {target} before {activation}."
        case RuleKind.AFTER:
            return f"See to {target} after {activation}."
        case RuleKind.ALWAYS:
            return f"See to {target} in every step."
        case RuleKind.NEVER:
            return f"Leave out {target}."
        case RuleKind.IF:
            return f"See to {target} whenever there is {activation}."
        case RuleKind.ON:
            return f"Each time there is {activation}, go on with {target} before it comes again."
        case _:
            assert_never(rule.kind)


def describe_expression(expression: Expression, *, inside: bool = False) -> str:
    """Describe an expression in words, with names in quotation marks."""
    match expression:
        case Atom(name):
            return f"“{name}”"
        case Not(of):
            return f"not {describe_expression(of, inside=True)}"
        case And(parts):
            text = " and ".join(describe_expression(part, inside=True) for part in parts)
        case Or(parts):
            text = " or ".join(describe_expression(part, inside=True) for part in parts)
        case _:
            assert_never(expression)
    return f"({text})" if inside else text
