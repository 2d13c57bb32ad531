"""Random rules and traces. An expression is a tuple, as ``tests.laws.ltlf`` reads it."""

from __future__ import annotations

from random import Random
from typing import Any

ACTIONS = ("write", "test", "commit")
STATES = ("ready", "green", "late")
Rule = tuple[str, tuple[Any, ...] | None, tuple[Any, ...]]
"""A kind, what activates it (nothing for ALWAYS and NEVER), and what it wants."""
KINDS = ("BEFORE", "AFTER", "ALWAYS", "NEVER", "IF", "ON")


def expression(random: Random, atoms: tuple[tuple[str, str], ...], size: int = 2) -> tuple[Any, ...]:
    """Draw an expression of these atoms, not deeper than ``size`` operators."""
    if size == 0 or random.random() < 0.4:
        return random.choice(atoms)
    operator = random.choice(("not", "and", "or"))
    if operator == "not":
        return ("not", expression(random, atoms, size - 1))
    return (operator, *(expression(random, atoms, size - 1) for _ in range(random.randint(2, 3))))


def rule(random: Random) -> Rule:
    """Draw a rule of any kind, over actions, states or both, as far as the kind takes them (R6, R7)."""
    actions = tuple(("action", name) for name in ACTIONS)
    states = tuple(("state", name) for name in STATES)
    pools = (actions, states, actions + states)
    kind = random.choice(KINDS)
    activation = None if kind in {"ALWAYS", "NEVER"} else expression(random, random.choice(pools), random.randint(0, 2))
    wanted = {"IF": pools[:2], "ON": pools[:1]}.get(kind, pools)
    return kind, activation, expression(random, random.choice(wanted), random.randint(0, 2))


def trace(random: Random, longest: int = 12) -> list[dict[str, list[str]]]:
    """Draw steps with few actions; some states are unknown in some of the traces."""
    unknown = random.choice((0.0, 0.1, 0.3))
    steps = []
    for _ in range(random.randint(0, longest)):
        step: dict[str, list[str]] = {"do": [a for a in ACTIONS if random.random() < 0.25], "true": [], "unknown": []}
        for state in STATES:
            if random.random() < unknown:
                step["unknown"].append(state)
            elif random.random() < 0.5:
                step["true"].append(state)
        steps.append(step)
    return steps


def text(kind: str, activation: tuple[Any, ...] | None, target: tuple[Any, ...]) -> str:
    """Return the rule as a person would write it, with all parentheses."""
    wanted, when = words(target), "" if activation is None else words(activation)
    return {
        "BEFORE": f"BEFORE {when}: {wanted}",
        "AFTER": f"AFTER {when}: {wanted}",
        "ALWAYS": f"ALWAYS: {wanted}",
        "NEVER": f"NEVER: {wanted}",
        "IF": f"IF {when} THEN {wanted}",
        "ON": f"ON {when}: INVOKE {wanted}",
    }[kind]


def words(formula: tuple[Any, ...]) -> str:
    """Return an expression as text."""
    match formula:
        case ("action" | "state", name):
            return str(name)
        case ("not", of):
            return f"NOT {words(of)}"
        case (operator, *parts):
            return "(" + f" {operator.upper()} ".join(words(part) for part in parts) + ")"
        case _:
            raise AssertionError(formula)
