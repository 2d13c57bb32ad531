"""The six kinds of rules."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from fateforger.workflow.expressions import Expression, names_in, write_expression


class RuleKind(StrEnum):
    """Kind of rule. X activates the rule; Y is its target."""

    BEFORE = "BEFORE"
    """``BEFORE X: Y``. Whenever X is true, the states of Y hold and its actions were done in an earlier step."""
    AFTER = "AFTER"
    """``AFTER X: Y``. Whenever X was true, Y is true in a later step; one Y may satisfy several X."""
    ALWAYS = "ALWAYS"
    """``ALWAYS: Y``. Y is true in every step."""
    NEVER = "NEVER"
    """``NEVER: Y``. Y is true in no step."""
    IF = "IF"
    """``IF X THEN Y``. If Y has only states: in the same step. If Y has an action: in the same step or later."""
    ON = "ON"
    """``ON X: INVOKE Y``. Each time X becomes true, Y is true then, or later but before the next time.

    An X that has only actions counts each time it is done.
    """


@dataclass(frozen=True, slots=True)
class Rule:
    """Rule with X as ``activation`` and Y as ``target``.

    ALWAYS and NEVER have no activation, because every step activates them.
    """

    kind: RuleKind
    target: Expression
    activation: Expression | None = None

    @property
    def names(self) -> frozenset[str]:
        """All names in the rule."""
        return names_in(self.target) | (frozenset() if self.activation is None else names_in(self.activation))


def write_rule(rule: Rule) -> str:
    """Return the text of a rule. Parsing it yields the same rule."""
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
