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
from fateforger.sync.canonical import Canon, canonicalize, get_duration, get_overlap, normalize_title
from fateforger.sync.model import DesiredBlock, EventImage
from fateforger.sync.words import format_clock, quote_title

_NEAR_SECONDS = 20 * 60
_SHARED = 0.8
_MOST_WARNINGS = 5


def link_events(blocks: Sequence[DesiredBlock], foreign: Sequence[EventImage]) -> dict[str, EventImage]:
    """Return the foreign events that cover blocks, by block key, independent of the order of both.

    Events of the same title are paired one to one; each remaining block gets the event that takes up most of it.
    """
    found = match_same_events(blocks, foreign)
    columns = _sort_events(foreign)
    shapes = [canonicalize(event) for event in columns]
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
    shapes = [canonicalize(event) for event in columns]
    costs = [
        {
            c: cost
            for c, shape in enumerate(shapes)
            if (cost := _compute_cost(canonicalize(block.fields), shape)) is not None
        }
        for block in rows
    ]
    chosen = assign(costs, len(columns))
    return {b.key: columns[c] for b, c in zip(rows, chosen, strict=True) if c is not None}


def _sort_events(foreign: Sequence[EventImage]) -> list[EventImage]:
    return sorted(foreign, key=lambda e: (canonicalize(e).start, e.summary, e.id))


def _find_covering(block: DesiredBlock, shapes: Sequence[Canon]) -> int | None:
    """Return the position of the event that takes up most of the block's time, the first of several.

    Returns ``None`` if none takes up enough.
    """
    ours = canonicalize(block.fields)
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
    theirs = canonicalize(event)
    when = format_clock(theirs.start, theirs.end, tz)
    if normalize_title(block.fields.summary) == normalize_title(event.summary):
        return f"{quote_title(event.summary)} is on your calendar already, {when}."
    taken = f"{quote_title(event.summary)} takes up the same time on your calendar, {when}"
    return f"I did not add {quote_title(block.fields.summary)}: {taken}."


def warn_about_links(links: Iterable[tuple[DesiredBlock, EventImage]], tz: ZoneInfo) -> list[str]:
    """Return one sentence for each block that is not written, up to a limit; none for an identical event."""
    warnings = [warning for block, event in links if (warning := _warn_about_link(block, event, tz))]
    more = len(warnings) - _MOST_WARNINGS
    if more <= 0:
        return warnings
    rest = f"I did not add {more} more {'block' if more == 1 else 'blocks'}: your calendar has events at their time."
    return [*warnings[:_MOST_WARNINGS], rest]


def _warn_about_link(block: DesiredBlock, event: EventImage, tz: ZoneInfo) -> str | None:
    ours, theirs = canonicalize(block.fields), canonicalize(event)
    if normalize_title(ours.summary) != normalize_title(theirs.summary):
        return explain_link(block, event, tz)
    if ours[2:4] == theirs[2:4]:
        return None
    return f"I did not add {quote_title(ours.summary)}: {explain_link(block, event, tz)}"


def warn_about_overlaps(blocks: Iterable[DesiredBlock], foreign: Sequence[EventImage], tz: ZoneInfo) -> list[str]:
    """Return one sentence for each block that shares time with a foreign event, up to a limit."""
    if not foreign:
        return []
    shapes = [canonicalize(event) for event in foreign]
    warnings: list[str] = []
    for block in blocks:
        ours = canonicalize(block.fields)
        met = next((shape for shape in shapes if shape.start < ours.end and ours.start < shape.end), None)
        if met is not None and block.type is not ET.BACKGROUND:
            mine, other = (
                f"{quote_title(shape.summary)}, {format_clock(shape.start, shape.end, tz)}," for shape in (ours, met)
            )
            warnings.append(f"{mine} overlaps {other[:-1]}.")
    more = len(warnings) - _MOST_WARNINGS
    return warnings if more <= 0 else [*warnings[:_MOST_WARNINGS], f"{more} more blocks overlap events of yours."]
