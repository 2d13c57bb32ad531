"""Ids of tasks: short, typeable, and without letters that look like others."""

from __future__ import annotations

from collections.abc import Callable

PREFIX = "ff-"
LETTERS = "23456789bcdfghjkmnpqrstvwxz"
"""No 0 1 i l o y, and no vowels, so that no id is a word."""
LENGTH = 6


def new_task_id(pick: Callable[[str], str]) -> str:
    """An id, made with what picks one of the letters it is given."""
    return PREFIX + "".join(pick(LETTERS) for _ in range(LENGTH))


def read_task_id(text: str) -> str | None:
    """The id that somebody typed, with or without its prefix, whatever the case; ``None`` if it cannot be one."""
    bare = text.strip().strip("`*_<>“”\"'").lower().removeprefix(PREFIX)
    if len(bare) != LENGTH or any(letter not in LETTERS for letter in bare):
        return None
    return PREFIX + bare
