"""Compare two JSON values field by field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

NOTHING: Final = None
"""Value of a field or item that one side does not have."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Difference between two JSON values.

    ``part`` is session, plan, effects, outcome or prompts; ``where`` is a path within it, such as ``events[1].n``;
    ``was`` and ``now`` are JSON, ``None`` if absent.
    """

    part: str
    where: str
    was: Any
    now: Any


def differences(part: str, was: Any, now: Any, where: str = "") -> Iterator[Difference]:
    """Yield every difference between two JSON values, as deep as possible."""
    if isinstance(was, dict) and isinstance(now, dict):
        for name in (*was, *(name for name in now if name not in was)):
            path = f"{where}.{name}" if where else str(name)
            yield from differences(part, was.get(name, NOTHING), now.get(name, NOTHING), path)
    elif isinstance(was, list) and isinstance(now, list):
        for place in range(max(len(was), len(now))):
            left, right = (side[place] if place < len(side) else NOTHING for side in (was, now))
            yield from differences(part, left, right, f"{where}[{place}]")
    elif was != now or type(was) is not type(now):
        yield Difference(part, where, was, now)
