"""Ids of tasks: short, typeable, and without letters that look alike."""

from __future__ import annotations

from collections.abc import Callable

PREFIX = "ff-"
LETTERS = "23456789bcdfghjkmnpqrstvwxz"
"""Alphabet without 0 1 i l o y, and without vowels, so that no id is a word."""
LENGTH = 6


def new_task_id(pick: Callable[[str], str]) -> str:
    """Return an id; ``pick`` chooses one of the given letters."""
    return PREFIX + "".join(pick(LETTERS) for _ in range(LENGTH))


def read_task_id(text: str) -> str | None:
    """Return the id that a person typed, or ``None`` if it cannot be one.

    The prefix is optional, and case is ignored.
    """
    bare = text.strip().strip("`*_<>“”\"'").lower().removeprefix(PREFIX)
    if len(bare) != LENGTH or any(letter not in LETTERS for letter in bare):
        return None
    return PREFIX + bare
