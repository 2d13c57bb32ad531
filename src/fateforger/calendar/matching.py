"""Matching of the blocks of a plan with the events on the calendar (S77-S79).

The key decides first. Of the rest, identical pairs come next: such a pair costs nothing, and pairing as many of them as
possible never costs an op elsewhere. What is left is paired by one optimal assignment: as many pairs as possible (each
replaces a create and a delete by an update), then the least change. A pair is possible only when both have the same
title, but for case and space, and share time or start within 20 minutes of each other (S78). Nothing is guessed about
meaning: "Write report" and "Write the report" may be two things. A missed match costs a create and a delete; a wrong
one costs what the person added to the event.

The assignment is found by the Hungarian method with shortest augmenting paths over the columns that a row may take,
plus an implicit "no partner" column per row. Pure Python on purpose: plans have tens of blocks.

The person's own events may already cover a block (S78, S79). A foreign event is never written. It covers a block, so
that no second one is added, when

- both show the same title at the same instants,
- both have the same title and share time, or start within 20 minutes of each other, or
- it takes up at least 80 % of *the block*, whatever their titles.

The share is measured on the block because a person cannot be in two places: an hour of Deep work inside a workshop of a
day has no time of its own. An event covers one block of its own title at most, but takes up the time of any number of
blocks. Only the first two reasons apply to a background block, which overlaps by nature. Every covered block stays in
the sync plan with its reason: nothing is dropped silently. A mere overlap is a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from fateforger.calendar.event import (
    Canon,
    EventImage,
)
from fateforger.calendar.model import DesiredBlock, format_clock, get_duration, get_overlap, normalize_title
from fateforger.planning.plan import ET
from fateforger.text import gettext as _
from fateforger.text import limit_items, ngettext, quote_title

_FAR = 1 << 62


def assign(costs: Sequence[Mapping[int, int]], columns: int) -> list[int | None]:
    """Return the column of each row, or ``None``. ``costs[row]`` maps the columns it may take to costs >= 0.

    The same input gives the same answer; of several best pairings, the order of rows decides.
    """
    pairing = _Pairing(costs, columns)
    for row, options in enumerate(costs):
        if options:
            pairing.seat(row)
    return pairing.partner


class _Pairing:
    """A pairing of the rows seated so far, and the prices that prove it optimal.

    No pair costs less than the prices of its two sides, chosen pairs cost exactly that, and a vacant column has price
    zero.
    """

    def __init__(self, costs: Sequence[Mapping[int, int]], columns: int) -> None:
        self.alone = 1 + sum(max(row.values(), default=0) for row in costs)
        """Staying unpaired costs more than any pairing, so the number of pairs comes first."""
        self.costs = costs = _reduce(costs, columns)
        self.holder: dict[int, int] = {}
        self.partner: list[int | None] = [None] * len(costs)
        self.row_price = [0] * len(costs)
        self.column_price = [0] * columns
        self.vacant = [sorted(row, key=row.__getitem__, reverse=True) for row in costs]
        """The columns of each row, the best one last; taken ones are dropped when they reach the end."""

    def seat(self, root: int) -> None:
        """Find the cheapest place for one more row, moving others if needed (Dijkstra on reduced costs)."""
        price = self.column_price
        distance = dict.fromkeys(self.holder, _FAR)
        came_from: dict[int, int] = {}
        done: dict[int, int] = {}
        reached: list[tuple[int, int]] = []
        total, last, free = _FAR, root, None
        row, base = root, 0
        while True:
            reached.append((row, base))
            options, offset = self.costs[row], base - self.row_price[row]
            place, cost = self._vacancy(row)
            if offset + cost < total:
                total, last, free = offset + cost, row, place
            nearest, base = None, total
            for column, known in distance.items():
                reach = offset + options.get(column, _FAR) - price[column]
                if reach < known:
                    distance[column], came_from[column] = reach, row
                else:
                    reach = known
                if reach < base:
                    nearest, base = column, reach
            if nearest is None:
                break
            done[nearest] = distance.pop(nearest)
            row = self.holder[nearest]
        for seen, at in reached:
            self.row_price[seen] += total - at
        for column, at in done.items():
            price[column] -= total - at
        self._shift(root, last, free, came_from)

    def _vacancy(self, row: int) -> tuple[int | None, int]:
        """Return the best vacant column for a row, or ``None``, and its cost."""
        vacant = self.vacant[row]
        while vacant and vacant[-1] in self.holder:
            vacant.pop()
        if not vacant:
            return None, self.alone
        return vacant[-1], self.costs[row][vacant[-1]]

    def _shift(self, root: int, last: int, free: int | None, came_from: Mapping[int, int]) -> None:
        """Walk the found path back and move each row on it to the next column."""
        row, column = last, free
        while True:
            previous = self.partner[row]
            self.partner[row] = column
            if column is not None:
                self.holder[column] = row
            if row == root or previous is None:
                return
            column, row = previous, came_from[previous]


def _reduce(costs: Sequence[Mapping[int, int]], columns: int) -> Sequence[Mapping[int, int]]:
    """Subtract each column's minimum where every column is sure to be taken.

    The same pairing is best, and fewer rows have to move on the way to it.
    """
    if columns > len(costs) or any(len(row) < columns for row in costs):
        return costs
    least = [min(row[column] for row in costs) for column in range(columns)]
    return [{column: cost - least[column] for column, cost in row.items()} for row in costs]


_FIELD_WEIGHT = 1_000
_SECOND_WEIGHT = 10 * _FIELD_WEIGHT
"""The weights order the changes: time moved, notes and color, place in the day."""
_NEAR_SECONDS = 20 * 60


@dataclass(frozen=True, slots=True)
class Candidate:
    """One side of a pair: a block (``id`` is its key) or an event (``id`` is its event id)."""

    id: str
    canon: Canon

    @property
    def rank(self) -> tuple[datetime, str, str]:
        """A total order that does not depend on the input order."""
        return self.canon.start, self.canon.summary, self.id


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
    shapes = [_to_shape(event) for event in events]
    costs = [_compute_costs(row, _to_shape(block), shapes) for row, block in enumerate(blocks)]
    chosen = assign(costs, len(events))
    return {b.id: events[c].id for b, c in zip(blocks, chosen, strict=True) if c is not None}


_Shape = tuple[str, int, int, tuple[str, str | None]]
"""Normal title, start and end in seconds, and notes and color: what each pair compares."""


def _to_shape(candidate: Candidate) -> _Shape:
    shape = candidate.canon
    start, end = int(shape.start.timestamp()), int(shape.end.timestamp())
    return normalize_title(shape.summary), start, end, (shape.description, shape.color_id)


def _compute_costs(row: int, ours: _Shape, shapes: Sequence[_Shape]) -> dict[int, int]:
    """Return the cost of turning each possible event into this block."""
    title, start, end, dress = ours
    costs: dict[int, int] = {}
    for column, (other_title, other_start, other_end, other_dress) in enumerate(shapes):
        near = (start < other_end and other_start < end) or abs(start - other_start) <= _NEAR_SECONDS
        if title != other_title or not near:
            continue
        seconds = abs(start - other_start) + abs(end - other_end)
        fields = (dress[0] != other_dress[0]) + (dress[1] != other_dress[1])
        costs[column] = seconds * _SECOND_WEIGHT + fields * _FIELD_WEIGHT + abs(row - column)
    return costs


_SHARED = 0.8
_MOST_WARNINGS = 5


def link_events(blocks: Sequence[DesiredBlock], foreign: Sequence[EventImage]) -> dict[str, EventImage]:
    """Return the foreign events that cover blocks, by block key, independent of the order of both.

    Events of the same title are paired one to one; each remaining block gets the event that takes up most of it.
    """
    found = match_same_events(blocks, foreign)
    columns = _sort_events(foreign)
    shapes = [event.canon for event in columns]
    for block in blocks:
        if block.key not in found and (place := _find_covering(block, shapes)) is not None:
            found[block.key] = columns[place]
    return found


def match_same_events(blocks: Sequence[DesiredBlock], foreign: Sequence[EventImage]) -> dict[str, EventImage]:
    """Return the foreign events that are the same as a block, by block key, one to one.

    The result is independent of the order of both.
    """
    rows = sorted(blocks, key=lambda b: (b.fields.start, b.fields.summary, b.key))
    columns = _sort_events(foreign)
    shapes = [event.canon for event in columns]
    costs = [
        {c: cost for c, shape in enumerate(shapes) if (cost := _compute_cost(block.fields.canon, shape)) is not None}
        for block in rows
    ]
    chosen = assign(costs, len(columns))
    return {b.key: columns[c] for b, c in zip(rows, chosen, strict=True) if c is not None}


def _sort_events(foreign: Sequence[EventImage]) -> list[EventImage]:
    return sorted(foreign, key=lambda e: (e.canon.start, e.summary, e.id))


def _find_covering(block: DesiredBlock, shapes: Sequence[Canon]) -> int | None:
    """Return the position of the event that takes up most of the block's time, the first of several.

    Returns ``None`` if none takes up enough.
    """
    ours = block.fields.canon
    if block.type is ET.BACKGROUND or not shapes:
        return None
    shares = [get_overlap(ours, theirs) / get_duration(ours) for theirs in shapes]
    best = max(range(len(shapes)), key=lambda place: (shares[place], -place))
    return best if shares[best] >= _SHARED else None


def _compute_cost(ours: Canon, theirs: Canon) -> int | None:
    """Return the distance between two events of the same title, 0 for the same event; ``None`` if they do not match."""
    apart = abs((ours.start - theirs.start).total_seconds()) + abs((ours.end - theirs.end).total_seconds())
    shared = get_overlap(ours, theirs)
    if normalize_title(ours.summary) != normalize_title(theirs.summary):
        return None
    near = abs((ours.start - theirs.start).total_seconds()) <= _NEAR_SECONDS
    return int(apart) if shared > 0 or near else None


def explain_link(block: DesiredBlock, event: EventImage, tz: ZoneInfo) -> str:
    """Return the reason the block is not written, which names the block if the event has another title."""
    theirs = event.canon
    when = format_clock(theirs.start, theirs.end, tz)
    if normalize_title(block.fields.summary) == normalize_title(event.summary):
        return _("{title} is on your calendar already, {time}.", title=quote_title(event.summary), time=when)
    return _(
        "I did not add {title}: {other} takes up the same time on your calendar, {time}.",
        title=quote_title(block.fields.summary),
        other=quote_title(event.summary),
        time=when,
    )


def warn_about_links(links: Iterable[tuple[DesiredBlock, EventImage]], tz: ZoneInfo) -> list[str]:
    """Return one sentence for each block that is not written, up to a limit; none for an identical event."""
    warnings = [warning for block, event in links if (warning := _warn_about_link(block, event, tz))]
    return limit_items(
        warnings,
        _MOST_WARNINGS,
        lambda more: ngettext(
            "I did not add {count} more block: your calendar has events at their time.",
            "I did not add {count} more blocks: your calendar has events at their time.",
            more,
        ),
    )


def _warn_about_link(block: DesiredBlock, event: EventImage, tz: ZoneInfo) -> str | None:
    ours, theirs = block.fields.canon, event.canon
    if normalize_title(ours.summary) != normalize_title(theirs.summary):
        return explain_link(block, event, tz)
    if ours[2:4] == theirs[2:4]:
        return None
    reason = explain_link(block, event, tz)
    return _("I did not add {title}: {reason}", title=quote_title(ours.summary), reason=reason)


def warn_about_overlaps(blocks: Iterable[DesiredBlock], foreign: Sequence[EventImage], tz: ZoneInfo) -> list[str]:
    """Return one sentence for each block that shares time with a foreign event, up to a limit."""
    if not foreign:
        return []
    shapes = [event.canon for event in foreign]
    warnings: list[str] = []
    for block in blocks:
        ours = block.fields.canon
        met = next((shape for shape in shapes if shape.start < ours.end and ours.start < shape.end), None)
        if met is not None and block.type is not ET.BACKGROUND:
            warnings.append(
                _(
                    "{title}, {time}, overlaps {other}, {other_time}.",
                    title=quote_title(ours.summary),
                    time=format_clock(ours.start, ours.end, tz),
                    other=quote_title(met.summary),
                    other_time=format_clock(met.start, met.end, tz),
                )
            )
    return limit_items(
        warnings,
        _MOST_WARNINGS,
        lambda more: ngettext(
            "{count} more block overlaps an event of yours.", "{count} more blocks overlap events of yours.", more
        ),
    )
