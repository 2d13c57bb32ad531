"""Columns for the events of one day."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Place(NamedTuple):
    """A column, how many columns its group has, and how many of them the event may fill to its right."""

    column: int
    columns: int
    width: int


def side_by_side(spans: Sequence[tuple[int, int]]) -> list[Place]:
    """Give overlapping spans (start, end; any unit) their own columns.

    Spans that touch each other directly or through others form a group and share its number of columns. Each takes the
    first free column, then widens over columns that stay free next to it.
    """
    order = sorted(range(len(spans)), key=lambda n: (spans[n][0], -spans[n][1], n))
    places: dict[int, Place] = {}
    group: list[int] = []
    group_end = 0
    for n in order:
        start, end = spans[n]
        if group and start >= group_end:
            places |= _place_group(group, spans)
            group = []
        group.append(n)
        group_end = end if len(group) == 1 else max(group_end, end)
    places |= _place_group(group, spans)
    return [places[n] for n in range(len(spans))]


def _place_group(group: list[int], spans: Sequence[tuple[int, int]]) -> dict[int, Place]:
    column_of: dict[int, int] = {}
    ends: list[int] = []
    for n in group:
        start, end = spans[n]
        column = next((c for c, taken in enumerate(ends) if taken <= start), len(ends))
        ends[column : column + 1] = [end]
        column_of[n] = column
    return {n: Place(column_of[n], len(ends), _width(n, column_of, spans, len(ends))) for n in group}


def _width(n: int, column_of: dict[int, int], spans: Sequence[tuple[int, int]], columns: int) -> int:
    start, end = spans[n]
    following = [
        column for other, column in column_of.items()
        if column > column_of[n] and spans[other][0] < end and start < spans[other][1]
    ]  # fmt: skip
    return min(following, default=columns) - column_of[n]
