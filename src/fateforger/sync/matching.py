"""Which block of the plan is which event on the calendar (S77).

The key decides first. Of the rest, pairs that show exactly the same come next: such a pair costs nothing, and
taking a most of them never costs an op elsewhere. What is left is paired by one optimal assignment: as many pairs
as possible (each saves a create and a delete for an update), then the least change. A pair is thinkable only when
titles are the same, or half of their words, or when it is the same time and type (a rename); turning Lunch into Deep
work would save an op and be wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fateforger.plan import ET, type_of_color
from fateforger.sync.assignment import assign
from fateforger.sync.canonical import Canon, normalized_title
from fateforger.sync.model import MANAGED

_WORD = re.compile(r"[^\W_]+")
_ALIKE = 0.5
_TITLE_WEIGHT = 10_000_000
_MINUTE_WEIGHT = 100
_FIELD_WEIGHT = 10
"""Change counts in this order: the title, the minutes moved, the number of fields, the place in the day."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One side of a pair: a block (``id`` is its key) or an event (``id`` is its event id)."""

    id: str
    canon: Canon
    type: ET

    @property
    def rank(self) -> tuple[str, str, str]:
        """A total order that does not depend on where the candidate stood in its list."""
        return self.canon.start.isoformat(), self.canon.summary, self.id


def event_candidate(event_id: str, canon: Canon) -> Candidate:
    """An event as a candidate; its colour says its type."""
    return Candidate(event_id, canon, type_of_color(canon.color_id))


def pair_equal(blocks: Sequence[Candidate], events: Sequence[Candidate]) -> dict[str, str]:
    """Block keys to the ids of events that show exactly the same; independent of the order of both."""
    waiting: dict[Canon, list[str]] = {}
    for event in sorted(events, key=lambda c: c.id, reverse=True):
        waiting.setdefault(event.canon, []).append(event.id)
    return {b.id: waiting[b.canon].pop() for b in sorted(blocks, key=lambda c: c.id) if waiting.get(b.canon)}


def pair_alike(blocks: Sequence[Candidate], events: Sequence[Candidate]) -> dict[str, str]:
    """Block keys to event ids: the optimal assignment among thinkable pairs. Ties prefer to keep the order of the
    day; independent of the order of both."""
    if not blocks or not events:
        return {}
    blocks, events = sorted(blocks, key=lambda c: c.rank), sorted(events, key=lambda c: c.rank)
    titles = {c.canon.summary for c in (*blocks, *events)}
    normal = {title: normalized_title(title) for title in titles}
    words = {title: frozenset(_WORD.findall(normal[title])) for title in titles}
    distances: dict[tuple[str, str], int | None] = {}

    def title_distance(one: str, other: str) -> int | None:
        if (one, other) not in distances:
            distances[one, other] = 0 if normal[one] == normal[other] else _word_distance(words[one], words[other])
        return distances[one, other]

    costs: list[dict[int, int]] = []
    for row, block in enumerate(blocks):
        options: dict[int, int] = {}
        for column, event in enumerate(events):
            distance = title_distance(block.canon.summary, event.canon.summary)
            if distance is None and _same_slot(block, event):
                distance = 100
            if distance is not None:
                options[column] = distance * _TITLE_WEIGHT + _effort(block.canon, event.canon) + abs(row - column)
        costs.append(options)
    chosen = assign(costs, len(events))
    return {b.id: events[c].id for b, c in zip(blocks, chosen, strict=True) if c is not None}


def _word_distance(one: frozenset[str], other: frozenset[str]) -> int | None:
    """0 to 100 by the share of common words; ``None`` below half of them."""
    union = len(one | other)
    likeness = len(one & other) / union if union else 0.0
    return round(100 * (1 - likeness)) if likeness >= _ALIKE else None


def _same_slot(block: Candidate, event: Candidate) -> bool:
    return block.type is event.type and block.canon.start == event.canon.start and block.canon.end == event.canon.end


def _effort(one: Canon, other: Canon) -> int:
    moved = abs((one.start - other.start).total_seconds()) + abs((one.end - other.end).total_seconds())
    fields = sum(1 for place in range(len(MANAGED)) if one[place] != other[place])
    return min(int(moved // 60), 90_000) * _MINUTE_WEIGHT + fields * _FIELD_WEIGHT
