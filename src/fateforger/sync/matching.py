"""Which block of the plan is which event on the calendar (S77).

The key decides first. Of the rest, pairs that show exactly the same come next: such a pair costs nothing, and
taking a most of them never costs an op elsewhere. What is left is paired by one optimal assignment: as many pairs
as possible (each saves a create and a delete for an update), then the least change. A pair is thinkable when

- titles are the same, at any distance: then it is the same thing, moved;
- at least half of the words are the same, and so is the type, or the two share time or start within 20 minutes of each
  other: "Write report" that became "Write the report". Words alone say too little: "Call the bank" as a task of the
  morning is not "Call the team" as a meeting of the afternoon;
- the time is the same to the second, and so is the type: a rename.

The last two are guesses about meaning, so they are made only for an event that is as we left it. One that a person made
their own (a place, guests, reminders, an attachment, words or a time of theirs) keeps its meaning: only a block of the
same title can be it. Turning Lunch into Deep work would save an op and be wrong, and the dentist must not inherit the
guests of a meeting. A wrong guess costs a create and a delete; a wrong pair costs what a person typed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from fateforger.plan import ET, type_of_color
from fateforger.sync.assignment import assign
from fateforger.sync.canonical import Canon, normalized_title

_WORD = re.compile(r"[^\W_]+")
_ALIKE = 0.5
_FIELD_WEIGHT = 1_000
_SECOND_WEIGHT = 10 * _FIELD_WEIGHT
_NEAR_SECONDS = 20 * 60
_FARTHEST = 4 * 24 * 3600
_TITLE_WEIGHT = 2 * _FARTHEST * _SECOND_WEIGHT
_ANOTHER_TITLE = 100 * _TITLE_WEIGHT
"""Change counts in this order: the title, the time moved, notes and colour, the place in the day."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One side of a pair: a block (``id`` is its key) or an event (``id`` is its event id)."""

    id: str
    canon: Canon
    type: ET
    own: bool = False
    """Whether a person made the event their own, so that nothing is guessed about it."""

    @property
    def rank(self) -> tuple[datetime, str, str]:
        """A total order that does not depend on where the candidate stood in its list."""
        return self.canon.start, self.canon.summary, self.id


def event_candidate(event_id: str, canon: Canon, *, own: bool = False) -> Candidate:
    """Return an event as a candidate; its colour says its type."""
    return Candidate(event_id, canon, type_of_color(canon.color_id), own)


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
    titles = {event.canon.summary for event in events}
    distances = {title: _title_distances(title, titles) for title in {block.canon.summary for block in blocks}}
    shapes = [_shape(event) for event in events]
    costs = [_costs(row, _shape(block), distances[block.canon.summary], shapes) for row, block in enumerate(blocks)]
    chosen = assign(costs, len(events))
    return {b.id: events[c].id for b, c in zip(blocks, chosen, strict=True) if c is not None}


_Shape = tuple[str, ET, int, int, tuple[str, str | None], bool]
"""Title, type, start and end in seconds, notes and colour, whether it is a person's own: what is looked at for every
pair."""


def _shape(candidate: Candidate) -> _Shape:
    shape = candidate.canon
    start, end = int(shape.start.timestamp()), int(shape.end.timestamp())
    return shape.summary, candidate.type, start, end, (shape.description, shape.color_id), candidate.own


def _costs(row: int, ours: _Shape, distances: Mapping[str, int], shapes: Sequence[_Shape]) -> dict[int, int]:
    """What it would take to make each thinkable event this block."""
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


def _title_distances(title: str, others: Collection[str]) -> dict[str, int]:
    """What another title costs, by the share of words that are not common, for each that has at least half of them."""
    normal = normalized_title(title)
    words = frozenset(_WORD.findall(normal))
    distances: dict[str, int] = {}
    for other in others:
        other_normal = normalized_title(other)
        other_words = frozenset(_WORD.findall(other_normal))
        union = len(words | other_words)
        likeness = 1.0 if normal == other_normal else len(words & other_words) / union if union else 0.0
        if likeness >= _ALIKE:
            distances[other] = round(100 * (1 - likeness)) * _TITLE_WEIGHT
    return distances
