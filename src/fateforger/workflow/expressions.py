"""Boolean expressions over names, joined by AND, OR and NOT."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never


@dataclass(frozen=True, slots=True)
class Atom:
    """Name of a declared state or action."""

    name: str


@dataclass(frozen=True, slots=True)
class Not:
    of: Expression


@dataclass(frozen=True, slots=True)
class And:
    """Conjunction of at least two parts, none of which is an ``And`` itself; build it with :func:`all_of`."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Disjunction of at least two parts, none of which is an ``Or`` itself; build it with :func:`any_of`."""

    parts: tuple[Expression, ...]


Expression = Atom | Not | And | Or


def all_of(parts: Iterable[Expression]) -> Expression:
    """Return the conjunction of one or more parts."""
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, And) else (part,))]
    return flat[0] if len(flat) == 1 else And(tuple(flat))


def any_of(parts: Iterable[Expression]) -> Expression:
    """Return the disjunction of one or more parts."""
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, Or) else (part,))]
    return flat[0] if len(flat) == 1 else Or(tuple(flat))


def names_in(expression: Expression) -> frozenset[str]:
    """Return the names of all atoms."""
    match expression:
        case Atom(name):
            return frozenset({name})
        case Not(of):
            return names_in(of)
        case And(parts) | Or(parts):
            return frozenset().union(*map(names_in, parts))
        case _:
            assert_never(expression)


def write_expression(expression: Expression) -> str:
    """Return the text of an expression with minimal parentheses. Parsing it yields the same expression."""
    match expression:
        case Atom(name):
            return name
        case Not(of):
            return f"NOT {_inside(of)}"
        case And(parts):
            return " AND ".join(map(_inside, parts))
        case Or(parts):
            return " OR ".join(_inside(part) if isinstance(part, Or) else write_expression(part) for part in parts)
        case _:
            assert_never(expression)


def _inside(part: Expression) -> str:
    text = write_expression(part)
    return f"({text})" if isinstance(part, And | Or) else text
