"""Match the blocks of the plan with the events on the calendar (S77).

The key decides first. Of the rest, identical pairs come next: such a pair costs nothing, and pairing as many of them as
possible never costs an op elsewhere. What is left is paired by one optimal assignment: as many pairs as possible (each
replaces a create and a delete by an update), then the least change. A pair is possible when

- the titles are the same, at any distance: it is the same thing, moved;
- at least half of the words are the same, and the type is the same or the two share time or start within 20 minutes of
  each other: "Write report" that became "Write the report". Words alone are not enough: "Call the bank" as a task in
  the morning is not "Call the team" as a meeting in the afternoon;
- the time is the same to the second, and so is the type: a rename.

The last two are guesses about meaning, so they apply only to an event that is as we left it. An event that a person
made their own (with a place, guests, reminders, an attachment, or a text or time of theirs) keeps its meaning: it
matches only a block of the same title. Turning Lunch into Deep work would save an op and be wrong, and the dentist must
not inherit the guests of a meeting. A missed match costs a create and a delete; a wrong one costs the person's input.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from fateforger.plan import ET, type_of_color
from fateforger.sync.assignment import assign
from fateforger.sync.canonical import Canon, normalize_title

_WORD = re.compile(r"[^\W_]+")
_ALIKE = 0.5
_FIELD_WEIGHT = 1_000
_SECOND_WEIGHT = 10 * _FIELD_WEIGHT
_NEAR_SECONDS = 20 * 60
_FARTHEST = 4 * 24 * 3600
_TITLE_WEIGHT = 2 * _FARTHEST * _SECOND_WEIGHT
_ANOTHER_TITLE = 100 * _TITLE_WEIGHT
"""The weights order the changes: title, time moved, notes and colour, place in the day."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One side of a pair: a block (``id`` is its key) or an event (``id`` is its event id)."""

    id: str
    canon: Canon
    type: ET
    own: bool = False
    """True if a person made the event their own, so that nothing is guessed about it."""

    @property
    def rank(self) -> tuple[datetime, str, str]:
        """A total order that does not depend on the input order."""
        return self.canon.start, self.canon.summary, self.id


def build_candidate(event_id: str, canon: Canon, *, own: bool = False) -> Candidate:
    """Return an event as a candidate; its colour gives its type."""
    return Candidate(event_id, canon, type_of_color(canon.color_id), own)


def pair_equal(blocks: Sequence[Candidate], events: Sequence[Candidate]) -> dict[str, str]:
    """Pair blocks with identical events, by block key, independent of the order of both."""
    waiting: dict[Canon, list[str]] = {}
    for event in sorted(events, key=lambda c: c.id, reverse=True):
        waiting.setdefault(event.canon, []).append(event.id)
    return {b.id: waiting[b.canon].pop() for b in sorted(blocks, key=lambda c: c.id) if waiting.get(b.canon)}


def pair_alike(blocks: Sequence[Candidate], events: Sequence[Candidate]) -> dict[str, str]:
    """Pair blocks with similar events, by block key: the optimal assignment of possible pairs.

    Ties prefer to keep the order of the day; the result is independent of the order of both.
    """
    if not blocks or not events:
        return {}
    blocks, events = sorted(blocks, key=lambda c: c.rank), sorted(events, key=lambda c: c.rank)
    titles = {event.canon.summary for event in events}
    distances = {title: _compute_title_distances(title, titles) for title in {block.canon.summary for block in blocks}}
    shapes = [_to_shape(event) for event in events]
    costs = [
        _compute_costs(row, _to_shape(block), distances[block.canon.summary], shapes)
        for row, block in enumerate(blocks)
    ]
    chosen = assign(costs, len(events))
    return {b.id: events[c].id for b, c in zip(blocks, chosen, strict=True) if c is not None}


_Shape = tuple[str, ET, int, int, tuple[str, str | None], bool]
"""Title, type, start and end in seconds, notes and colour, and whether it is a person's own: what each pair
compares."""


def _to_shape(candidate: Candidate) -> _Shape:
    shape = candidate.canon
    start, end = int(shape.start.timestamp()), int(shape.end.timestamp())
    return shape.summary, candidate.type, start, end, (shape.description, shape.color_id), candidate.own


def _compute_costs(row: int, ours: _Shape, distances: Mapping[str, int], shapes: Sequence[_Shape]) -> dict[int, int]:
    """Return the cost of turning each possible event into this block."""
    _, kind, start, end, dress, own = ours
    costs: dict[int, int] = {}
    for column, (title, other_kind, other_start, other_end, other_dress, other_own) in enumerate(shapes):
        cost = distances.get(title)
        if cost != 0 and (own or other_own):
            continue
        near = (start < other_end and other_start < end) or abs(start - other_start) <= _NEAR_SECONDS
        if cost is None or not (cost == 0 or kind is other_kind or near):
            if start != other_start or end != other_end or kind is not other_kind:
                continue
            cost = _ANOTHER_TITLE
        if (seconds := abs(start - other_start) + abs(end - other_end)) > _FARTHEST:
            seconds = _FARTHEST
        if dress != other_dress:
            cost += _FIELD_WEIGHT * ((dress[0] != other_dress[0]) + (dress[1] != other_dress[1]))
        costs[column] = cost + seconds * _SECOND_WEIGHT + abs(row - column)
    return costs


def _compute_title_distances(title: str, others: Collection[str]) -> dict[str, int]:
    """Return the cost of each other title that shares at least half of the words.

    The cost is proportional to the share of words that are not common.
    """
    normal = normalize_title(title)
    words = frozenset(_WORD.findall(normal))
    distances: dict[str, int] = {}
    for other in others:
        other_normal = normalize_title(other)
        other_words = frozenset(_WORD.findall(other_normal))
        union = len(words | other_words)
        likeness = 1.0 if normal == other_normal else len(words & other_words) / union if union else 0.0
        if likeness >= _ALIKE:
            distances[other] = round(100 * (1 - likeness)) * _TITLE_WEIGHT
    return distances
