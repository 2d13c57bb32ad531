"""The six kinds of rules."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from fateforger.workflow.expressions import Expression, names_in, write_expression


class RuleKind(StrEnum):
    """What a rule demands of a trace. X activates the rule, Y is what it wants."""

    BEFORE = "BEFORE"
    """``BEFORE X: Y``. Whenever X is so, the states of Y hold and its actions were done in an earlier step."""
    AFTER = "AFTER"
    """``AFTER X: Y``. Whenever X was so, Y is so in a later step; one Y may answer several X."""
    ALWAYS = "ALWAYS"
    """``ALWAYS: Y``. In each step."""
    NEVER = "NEVER"
    """``NEVER: Y``. In no step."""
    IF = "IF"
    """``IF X THEN Y``. Y of states: in the same step. With an action in Y: then or later."""
    ON = "ON"
    """``ON X: INVOKE Y``. Each time that X begins to be so (or is done, if it has actions only), Y is so then, or later
    and before the next time."""


@dataclass(frozen=True, slots=True)
class Rule:
    """``activation`` is X and ``target`` is Y; ALWAYS and NEVER have no activation, because every step is one."""

    kind: RuleKind
    target: Expression
    activation: Expression | None = None

    @property
    def names(self) -> frozenset[str]:
        """All names that it speaks of."""
        return names_in(self.target) | (frozenset() if self.activation is None else names_in(self.activation))


def write_rule(rule: Rule) -> str:
    """Its text; reading that gives the same rule."""
    target = write_expression(rule.target)
    activation = "" if rule.activation is None else write_expression(rule.activation)
    match rule.kind:
        case RuleKind.BEFORE | RuleKind.AFTER:
            return f"{rule.kind} {activation}: {target}"
        case RuleKind.ALWAYS | RuleKind.NEVER:
            return f"{rule.kind}: {target}"
        case RuleKind.IF:
            return f"IF {activation} THEN {target}"
        case RuleKind.ON:
            return f"ON {activation}: INVOKE {target}"
        case _:
            assert_never(rule.kind)
