"""Find blocks that the person's own events already cover (S78, S79).

A foreign event is never written. It covers a block, so that no second one is added, when

- both show the same title at the same instants,
- both have the same title and share time, or start within 20 minutes of each other, or
- it takes up at least 80 % of *the block*, whatever their titles.

The share is measured on the block because a person cannot be in two places: an hour of Deep work inside a workshop of a
day has no time of its own. An event covers one block of its own title at most, but takes up the time of any number of
blocks. Only the first two reasons apply to a background block, which overlaps by nature. Every covered block stays in
the sync plan with its reason: nothing is dropped silently. A mere overlap is a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from zoneinfo import ZoneInfo

from fateforger.plan import ET
from fateforger.sync.assignment import assign
from fateforger.sync.canonical import Canon, canon, duration, normalized_title, overlap
from fateforger.sync.model import DesiredBlock, EventImage
from fateforger.sync.words import clock, quoted

_NEAR_SECONDS = 20 * 60
_SHARED = 0.8
_MOST_WARNINGS = 5


def linked(blocks: Sequence[DesiredBlock], foreign: Sequence[EventImage]) -> dict[str, EventImage]:
    """Return the foreign events that cover blocks, by block key, independent of the order of both.

    Events of the same title are paired one to one; each remaining block gets the event that takes up most of it.
    """
    found = same_events(blocks, foreign)
    columns = _in_order(foreign)
    shapes = [canon(event) for event in columns]
    for block in blocks:
        if block.key not in found and (place := _taken_up_by(block, shapes)) is not None:
            found[block.key] = columns[place]
    return found


def same_events(blocks: Sequence[DesiredBlock], foreign: Sequence[EventImage]) -> dict[str, EventImage]:
    """Return the foreign events that are the same as a block, by block key, one to one.

    The result is independent of the order of both.
    """
    rows = sorted(blocks, key=lambda b: (b.fields.start, b.fields.summary, b.key))
    columns = _in_order(foreign)
    shapes = [canon(event) for event in columns]
    costs = [
        {c: cost for c, shape in enumerate(shapes) if (cost := _cost(canon(block.fields), shape)) is not None}
        for block in rows
    ]
    chosen = assign(costs, len(columns))
    return {b.key: columns[c] for b, c in zip(rows, chosen, strict=True) if c is not None}


def _in_order(foreign: Sequence[EventImage]) -> list[EventImage]:
    return sorted(foreign, key=lambda e: (canon(e).start, e.summary, e.id))


def _taken_up_by(block: DesiredBlock, shapes: Sequence[Canon]) -> int | None:
    """Return the position of the event that takes up most of the block's time, the first of several.

    Returns ``None`` if none takes up enough.
    """
    ours = canon(block.fields)
    if block.type is ET.BACKGROUND or not shapes:
        return None
    shares = [overlap(ours, theirs) / duration(ours) for theirs in shapes]
    best = max(range(len(shapes)), key=lambda place: (shares[place], -place))
    return best if shares[best] >= _SHARED else None


def _cost(ours: Canon, theirs: Canon) -> int | None:
    """Return the distance between two events of the same title, 0 for the same event; ``None`` if they do not match."""
    apart = abs((ours.start - theirs.start).total_seconds()) + abs((ours.end - theirs.end).total_seconds())
    shared = overlap(ours, theirs)
    if normalized_title(ours.summary) != normalized_title(theirs.summary):
        return None
    near = abs((ours.start - theirs.start).total_seconds()) <= _NEAR_SECONDS
    return int(apart) if shared > 0 or near else None


def link_reason(block: DesiredBlock, event: EventImage, tz: ZoneInfo) -> str:
    """Return the reason the block is not written, which names the block if the event has another title."""
    theirs = canon(event)
    when = clock(theirs.start, theirs.end, tz)
    if normalized_title(block.fields.summary) == normalized_title(event.summary):
        return f"{quoted(event.summary)} is on your calendar already, {when}."
    taken = f"{quoted(event.summary)} takes up the same time on your calendar, {when}"
    return f"I did not add {quoted(block.fields.summary)}: {taken}."


def link_warnings(links: Iterable[tuple[DesiredBlock, EventImage]], tz: ZoneInfo) -> list[str]:
    """Return one sentence for each block that is not written, up to a limit; none for an identical event."""
    warnings = [warning for block, event in links if (warning := _link_warning(block, event, tz))]
    more = len(warnings) - _MOST_WARNINGS
    if more <= 0:
        return warnings
    rest = f"I did not add {more} more {'block' if more == 1 else 'blocks'}: your calendar has events at their time."
    return [*warnings[:_MOST_WARNINGS], rest]


def _link_warning(block: DesiredBlock, event: EventImage, tz: ZoneInfo) -> str | None:
    ours, theirs = canon(block.fields), canon(event)
    if normalized_title(ours.summary) != normalized_title(theirs.summary):
        return link_reason(block, event, tz)
    if ours[2:4] == theirs[2:4]:
        return None
    return f"I did not add {quoted(ours.summary)}: {link_reason(block, event, tz)}"


def overlap_warnings(blocks: Iterable[DesiredBlock], foreign: Sequence[EventImage], tz: ZoneInfo) -> list[str]:
    """Return one sentence for each block that shares time with a foreign event, up to a limit."""
    if not foreign:
        return []
    shapes = [canon(event) for event in foreign]
    warnings: list[str] = []
    for block in blocks:
        ours = canon(block.fields)
        met = next((shape for shape in shapes if shape.start < ours.end and ours.start < shape.end), None)
        if met is not None and block.type is not ET.BACKGROUND:
            mine, other = (f"{quoted(shape.summary)}, {clock(shape.start, shape.end, tz)}," for shape in (ours, met))
            warnings.append(f"{mine} overlaps {other[:-1]}.")
    more = len(warnings) - _MOST_WARNINGS
    return warnings if more <= 0 else [*warnings[:_MOST_WARNINGS], f"{more} more blocks overlap events of yours."]
