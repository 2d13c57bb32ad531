"""Place entries that share time in adjacent lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lane:
    """Place of an entry: lane ``at`` of ``of``."""

    at: int
    of: int


def assign_lanes(spans: Sequence[tuple[int, int]]) -> tuple[Lane, ...]:
    """Return a lane for each span (start, end), in the order given.

    Spans that share time get different lanes. Spans that are linked by sharing time, directly or through others, have
    the same width.
    """
    order = sorted(range(len(spans)), key=lambda n: (spans[n][0], -spans[n][1], n))
    found: dict[int, Lane] = {}
    group: list[int] = []
    ends: list[int] = []
    place: dict[int, int] = {}
    for n in order:
        start, end = spans[n]
        if group and start >= max(ends):
            found.update({one: Lane(place[one], len(ends)) for one in group})
            group, ends = [], []
        free = next((lane for lane, until in enumerate(ends) if until <= start), len(ends))
        if free == len(ends):
            ends.append(end)
        ends[free] = end
        place[n] = free
        group.append(n)
    found.update({one: Lane(place[one], len(ends)) for one in group})
    return tuple(found[n] for n in range(len(spans)))
