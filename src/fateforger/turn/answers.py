"""Extract the JSON from a model's answer: bare, fenced, or surrounded by prose (S70)."""

from __future__ import annotations

import json
from typing import Any, NoReturn
from unicodedata import category

LONGEST = 200_000
"""Longest answer accepted, in characters; expected answers are far shorter."""
_FENCE = "```"
_DECODER = json.JSONDecoder(
    object_hook=lambda found: {name: _strip_invisible(value) for name, value in found.items()},
    parse_constant=lambda name: _reject(f"{name} is not a number that JSON knows"),
)
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Bidirectional control characters, which reorder the text that follows them."""


def extract_json(text: str) -> Any:
    """Parse the first JSON object or list in a model's answer.

    Raises ``ValueError`` with a sentence that the model can act on. A second object is an error, because there is no
    way to tell which one is right.
    """
    if len(text) > LONGEST:
        _reject("The answer is far too long")
    body = _strip_fence(text.strip().lstrip("\ufeff"))
    start = min((at for at in (body.find("{"), body.find("[")) if at >= 0), default=-1)
    if start < 0:
        _reject("There is no JSON in the answer; answer with one JSON object and nothing else")
    try:
        value, end = _DECODER.raw_decode(body, start)
    except json.JSONDecodeError as error:
        _reject(f"The JSON breaks off or is malformed at character {error.pos}: {error.msg}")
    except RecursionError:
        _reject("The JSON is nested too deeply")
    if body.find("{", end) >= 0:
        _reject("There is more than one JSON object; answer with exactly one")
    return value


def _strip_invisible(value: Any) -> Any:
    """Strip invisible characters from a string, because a calendar or database may reject them.

    Other values are returned unchanged.
    """
    if not isinstance(value, str):
        return value
    return "".join(c for c in value if c in "\n\t" or (c not in _TURNING and category(c) not in {"Cc", "Cs"}))


def _strip_fence(text: str) -> str:
    """Return the text inside the first pair of fences, or the whole text if there is none."""
    before, fence, rest = text.partition(_FENCE)
    if not fence or "{" in before or "[" in before:
        return text
    inside, fence, after = rest.partition(_FENCE)
    return inside if not fence else f"{inside}{after}"


def _reject(sentence: str) -> NoReturn:
    raise ValueError(f"{sentence}.")
