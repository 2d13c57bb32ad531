"""Map time to height.

Long free times are compressed, and short blocks get room for a line of text, so hours differ in height. The hour
lines follow, and later is always lower.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise

PIXELS_PER_SECOND = 54 / 3600
LONGEST_GAP = 75 * 60
"""Seconds of free time drawn at full height."""
FLATTENED = 0.15
"""Share of the height that free time beyond that keeps."""


class Scale:
    """Heights of instants, given as whole seconds since the epoch, between the first and the last."""

    def __init__(self, spans: Sequence[tuple[int, int]], first: int, last: int, *, least: float) -> None:
        """Compute the scale; each of ``spans`` gets at least the height ``least``."""
        edges = sorted({first, last, *(edge for span in spans for edge in span)})
        heights = [_height(start, end, spans) for start, end in pairwise(edges)]
        at = {edge: n for n, edge in enumerate(edges)}
        for start, end in sorted(spans, key=lambda span: (span[1] - span[0], span)):
            inside = range(at[start], at[end])
            missing = least - sum(heights[n] for n in inside)
            if missing > 0:
                for n in inside:
                    heights[n] += missing * (edges[n + 1] - edges[n]) / (end - start)
        self._edges = edges
        self._tops = [0.0, *accumulate(heights)]

    @property
    def height(self) -> float:
        """Total height."""
        return self._tops[-1]

    def y(self, second: int) -> float:
        """Return the distance of an instant from the top, clamped to the range."""
        if second <= self._edges[0]:
            return 0.0
        if second >= self._edges[-1]:
            return self.height
        n = bisect_right(self._edges, second) - 1
        part = (second - self._edges[n]) / (self._edges[n + 1] - self._edges[n])
        return self._tops[n] + part * (self._tops[n + 1] - self._tops[n])


def _height(start: int, end: int, spans: Sequence[tuple[int, int]]) -> float:
    seconds = end - start
    if any(a < end and start < b for a, b in spans) or seconds <= LONGEST_GAP:
        return seconds * PIXELS_PER_SECOND
    return (LONGEST_GAP + (seconds - LONGEST_GAP) * FLATTENED) * PIXELS_PER_SECOND
