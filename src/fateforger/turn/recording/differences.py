"""Two JSON values side by side, field by field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

NOTHING: Final = None
"""What stands for a field or an entry that one side does not have."""


@dataclass(frozen=True, slots=True)
class Difference:
    """``part`` is session, plan, effects, outcome or prompts; ``where`` a path within it like ``events[1].n``; ``was``
    and ``now`` are JSON, ``None`` for what is not there."""

    part: str
    where: str
    was: Any
    now: Any


def differences(part: str, was: Any, now: Any, where: str = "") -> Iterator[Difference]:
    """Every place where two JSON values differ, the deepest that tells them apart."""
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
