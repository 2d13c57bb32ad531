"""Linear temporal logic on finite traces, evaluated as its definition says it: the witness for the rule engine.

It knows nothing of the engine. A formula is a tuple, a value one of F(alse), P(ending), U(nknown), T(rue); a trace is a
list of steps ``{"do", "true", "unknown"}``. ``X`` and ``Y`` are the strong next and yesterday. After the end of a
closed trace nothing is so; after the end of an open one anything may still be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Formula = tuple[Any, ...]
Trace = Sequence[Mapping[str, Sequence[str]]]
NOT = {"F": "T", "P": "P", "U": "U", "T": "F"}


class TraceValues:
    """Values of formulas on one trace."""

    def __init__(self, trace: Trace, *, closed: bool) -> None:
        self.trace = trace
        self.end = "F" if closed else "P"
        self.known: dict[tuple[Formula, int], str] = {}

    def value(self, formula: Formula, at: int) -> str:
        """Return the value of a formula at a step; steps before the first are false."""
        if at < 0:
            return "F"
        if at >= len(self.trace):
            return self.end
        if (formula, at) not in self.known:
            self.known[formula, at] = self._value(formula, at)
        return self.known[formula, at]

    def _value(self, formula: Formula, at: int) -> str:
        match formula:
            case ("action" | "state" as kind, name):
                return self._fact(kind, name, at)
            case ("not", of):
                return NOT[self.value(of, at)]
            case ("and" | "or" as operator, *parts):
                return strongest([self.value(part, at) for part in parts], "FUPT" if operator == "and" else "TUPF")
            case ("X" | "Y" as where, of):
                return self.value(of, at + (1 if where == "X" else -1))
            case ("O", of):
                return self.value(("or", of, ("Y", formula)), at)
            case ("F", of):
                return self.value(("or", of, ("X", formula)), at)
            case ("U", hold, goal):
                return self.value(("or", goal, ("and", hold, ("X", formula))), at)
            case _:
                raise AssertionError(formula)

    def _fact(self, kind: str, name: str, at: int) -> str:
        step = self.trace[at]
        if name in step.get("do" if kind == "action" else "true", ()):
            return "T"
        return "U" if kind == "state" and name in step.get("unknown", ()) else "F"


def strongest(values: Sequence[str], order: str) -> str:
    """Return the value that comes first in the order."""
    return min(values, key=order.index)


def atoms(formula: Formula) -> set[str]:
    """Return the kinds of atoms in a formula: ``action`` and ``state``."""
    if formula[0] in {"action", "state"}:
        return {formula[0]}
    return set().union(*(atoms(part) for part in formula[1:]))


def done_before(formula: Formula) -> Formula:
    """Return the formula with ``Y O a`` in the place of each action a."""
    if formula[0] == "action":
        return ("Y", ("O", formula))
    return formula if formula[0] == "state" else (formula[0], *(done_before(part) for part in formula[1:]))


def demand(kind: str, activation: Formula | None, target: Formula) -> tuple[Formula | None, Formula]:
    """Return the formula that activates a rule (``None``: every step) and the one that must hold at that step."""
    match kind:
        case "BEFORE":
            return activation, done_before(target)
        case "AFTER":
            return activation, ("X", ("F", target))
        case "ALWAYS":
            return None, target
        case "NEVER":
            return None, ("not", target)
        case "IF":
            return activation, ("F", target) if "action" in atoms(target) else target
        case "ON":
            assert activation is not None
            edge = ("and", activation, ("not", ("Y", activation)))
            fires = activation if atoms(activation) == {"action"} else edge
            later = ("X", ("U", ("not", fires), ("and", target, ("not", fires))))
            return fires, ("or", target, later)
        case _:
            raise AssertionError(kind)


def judge_rule(
    kind: str, activation: Formula | None, target: Formula, trace: Trace, *, closed: bool
) -> tuple[str, list[int]]:
    """Return the verdict of a rule and the steps at which it is violated."""
    witness = TraceValues(trace, closed=closed)
    when, what = demand(kind, activation, target)
    found = [
        _verdict("T" if when is None else witness.value(when, at), witness.value(what, at)) for at in range(len(trace))
    ]
    order = ["violated", "unknown", "pending", "satisfied", "vacuous"]
    return min(found, key=order.index, default="vacuous"), [
        at for at, verdict in enumerate(found) if verdict == order[0]
    ]


def _verdict(activated: str, comes: str) -> str:
    if activated == "F":
        return "vacuous"
    if activated == "T":
        return {"T": "satisfied", "F": "violated", "U": "unknown", "P": "pending"}[comes]
    return "vacuous" if comes == "T" else "unknown"
