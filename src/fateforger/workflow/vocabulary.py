"""Names that rules may use: states, which hold or not as a step begins, and actions, which are done in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Protocol

from fateforger.errors import BadInput

KEYWORDS = frozenset({"BEFORE", "AFTER", "ALWAYS", "NEVER", "IF", "THEN", "ON", "INVOKE", "AND", "OR", "NOT"})
MOST_LETTERS = 80
_INNER = frozenset("_-.")


class AtomKind(StrEnum):
    STATE = "state"
    ACTION = "action"


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
            return AtomKind.ACTION
        return AtomKind.STATE if name in self.states else None

    def near(self, name: str) -> tuple[str, ...]:
        """Suggest similar names. See :meth:`Vocabulary.near`."""
        return tuple(get_close_matches(name, sorted(self.actions | self.states), n=3))


def declare_names(actions: Iterable[str], states: Iterable[str]) -> Names:
    """Create a vocabulary. Raises :class:`BadInput` for an invalid name, or one that is both a state and an action."""
    names = Names(frozenset(actions), frozenset(states))
    for name in sorted(names.actions | names.states):
        if not is_name(name):
            raise BadInput(f"“{name[:MOST_LETTERS]}” cannot be a name: {NAMING}.", where=name[:MOST_LETTERS])
    for name in sorted(names.actions & names.states):
        raise BadInput(f"“{name}” is declared both as an action and as a state; it can be one of them.", where=name)
    return names


NAMING = "a name begins with a letter, goes on with letters, digits, “_”, “-” and “.”, and is no keyword of the rules"


def is_name(text: str) -> bool:
    """Check whether a text can be the name of a state or an action."""
    if not text or len(text) > MOST_LETTERS or text in KEYWORDS:
        return False
    return (text[0].isalpha() or text[0] == "_") and all(is_name_letter(letter) for letter in text[1:])


def is_name_letter(letter: str) -> bool:
    """Check whether a character may occur inside a name."""
    return letter.isalnum() or letter in _INNER
