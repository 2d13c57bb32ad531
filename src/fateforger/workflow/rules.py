"""Rules: their six kinds, the expressions and names in them, and conflicts between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from itertools import combinations
from typing import Literal, Protocol, assert_never

from fateforger.errors import BadInput
from fateforger.limits import MAX_NAME_CHARS

KEYWORDS = frozenset(
    {"BEFORE", "AFTER", "ALWAYS", "NEVER", "IF", "THEN", "ON", "INVOKE", "PROCEED_TO", "AND", "OR", "NOT"}
)
_INNER = frozenset("_-.")


AtomKind = Literal["state", "action"]


class Vocabulary(Protocol):
    """Declared names and their kinds."""

    def kind_of(self, name: str) -> AtomKind | None:
        """Return the kind of a name, or ``None`` if it is not declared."""
        ...

    def near(self, name: str) -> tuple[str, ...]:
        """Return declared names that are similar to a misspelled one, the most likely first."""
        ...


@dataclass(frozen=True, slots=True)
class Names:
    """Vocabulary that lists its names."""

    actions: frozenset[str]
    states: frozenset[str]

    def kind_of(self, name: str) -> AtomKind | None:
        """Return the kind of a name. See :meth:`Vocabulary.kind_of`."""
        if name in self.actions:
            return "action"
        return "state" if name in self.states else None

    def near(self, name: str) -> tuple[str, ...]:
        """Suggest similar names. See :meth:`Vocabulary.near`."""
        return tuple(get_close_matches(name, sorted(self.actions | self.states), n=3))


KIND_WORDS: Mapping[AtomKind, str] = {"action": "an action", "state": "a state"}


def suggest_names(name: str, vocabulary: Vocabulary) -> str:
    """Return a question about similar names, to follow a sentence; empty if there are none."""
    near = vocabulary.near(name)
    return f" Did you mean {' or '.join(near)}?" if near else ""


def declare_names(actions: Iterable[str], states: Iterable[str]) -> Names:
    """Create a vocabulary. Raises :class:`BadInput` for an invalid name, or one that is both a state and an action."""
    names = Names(frozenset(actions), frozenset(states))
    for name in sorted(names.actions | names.states):
        if not is_name(name):
            raise BadInput(f"“{name[:MAX_NAME_CHARS]}” cannot be a name: {NAMING}.", where=name[:MAX_NAME_CHARS])
    for name in sorted(names.actions & names.states):
        raise BadInput(f"“{name}” is declared both as an action and as a state; it can be one of them.", where=name)
    return names


NAMING = "a name begins with a letter of any script, goes on with letters, digits, “_”, “-” and “.”, and is no keyword"


def is_name(text: str) -> bool:
    """Check whether a text can be the name of a state or an action."""
    if not text or len(text) > MAX_NAME_CHARS or text in KEYWORDS:
        return False
    return is_name_start(text[0]) and all(is_name_letter(letter) for letter in text[1:])


def is_name_start(letter: str) -> bool:
    """Check whether a character may begin a name: a letter of any script, or an underscore."""
    return letter.isalpha() or letter == "_"


def is_name_letter(letter: str) -> bool:
    """Check whether a character may occur inside a name."""
    return letter.isalpha() or letter.isdecimal() or letter in _INNER


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

    An X that has only actions counts each time it is done. ``PROCEED_TO`` is another spelling of ``INVOKE``.
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
