"""Extract the entries from a tool's answer.

The answer is structured content, or JSON as text; a list, or an object around one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

AROUND = ("tasks", "items", "data", "result")
"""The names under which an object may hold the list."""
DEEPEST = 4
"""The deepest nesting of objects, and texts that are JSON, around a list."""


def extract_entries(structured: object, texts: Sequence[str]) -> list[Any]:
    """Return the entries of the list in an answer, unchanged. Raises ``ValueError`` when it contains no list."""
    if structured is not None and (found := _find_list(structured)) is not None:
        return found
    if not texts and structured is None:
        return []  # an empty list, each entry of which would have been a separate text
    parsed = [_parse(text) for text in texts]
    if len(parsed) == 1 and (found := _find_list(parsed[0])) is not None:
        return found
    if parsed and all(isinstance(each, dict) and "title" in each for each in parsed):
        return parsed
    raise ValueError("the answer holds no list of tasks")


def _find_list(value: object, deep: int = 0) -> list[Any] | None:
    if isinstance(value, list):
        return value
    if deep == DEEPEST:
        return None
    if isinstance(value, str):
        return _find_list(_parse(value), deep + 1)
    if isinstance(value, dict):
        inside = (_find_list(value[name], deep + 1) for name in AROUND if name in value)
        return next((found for found in inside if found is not None), None)
    return None


def _parse(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
