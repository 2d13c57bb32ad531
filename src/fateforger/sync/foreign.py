"""Blocks that the person's own events already stand for (S78, S79).

A foreign event is never written. It stands for a block, so that no second one is put beside it, when

- both show the same title at the same instants,
- both have the same title and share time, or start within 20 minutes of each other, or
- they share at least 80 % of *the longer of the two*, whatever their titles.

The longer one is the measure because a short block inside a long event is no duplicate of it: half an hour of Deep
work inside eight "Office hours" shares 6 % and is written. Each event stands for one block at most, a background
block (which overlaps by nature) only for the first two reasons, and every such block stays in the sync plan with its
reason: nothing is dropped silently. A mere overlap is a warning.
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
_GRADE = 10_000_000
_MOST_WARNINGS = 5


def linked(blocks: Sequence[DesiredBlock], foreign: Sequence[EventImage]) -> dict[str, EventImage]:
    """Block keys to the foreign events that stand for them, one to one; independent of the order of both."""
    rows = sorted(blocks, key=lambda b: (b.fields.start, b.fields.summary, b.key))
    columns = sorted(foreign, key=lambda e: (canon(e).start, e.summary, e.id))
    shapes = [canon(e) for e in columns]
    costs = [
        {c: cost for c, shape in enumerate(shapes) if (cost := _cost(block, canon(block.fields), shape)) is not None}
        for block in rows
    ]
    chosen = assign(costs, len(columns))
    return {b.key: columns[c] for b, c in zip(rows, chosen, strict=True) if c is not None}


def _cost(block: DesiredBlock, ours: Canon, theirs: Canon) -> int | None:
    """The grade of the reason (best 0), then how far the two are apart; ``None`` when there is no reason."""
    apart = abs((ours.start - theirs.start).total_seconds()) + abs((ours.end - theirs.end).total_seconds())
    shared = overlap(ours, theirs)
    if normalized_title(ours.summary) == normalized_title(theirs.summary):
        if apart == 0:
            return 0
        near = abs((ours.start - theirs.start).total_seconds()) <= _NEAR_SECONDS
        return _GRADE + int(apart) if shared > 0 or near else None
    longer = max(duration(ours), duration(theirs))
    if block.type is not ET.BACKGROUND and longer > 0 and shared / longer >= _SHARED:
        return 2 * _GRADE + int(apart)
    return None


def link_reason(block: DesiredBlock, event: EventImage, tz: ZoneInfo) -> str:
    """Why the block is not written, as a sentence."""
    theirs = canon(event)
    when = clock(theirs.start, theirs.end, tz)
    if normalized_title(block.fields.summary) == normalized_title(event.summary):
        return f"{quoted(event.summary)} is on your calendar already, {when}."
    return f"{quoted(event.summary)} takes up the same time on your calendar, {when}."


def link_warning(block: DesiredBlock, event: EventImage, tz: ZoneInfo) -> str | None:
    """What the person should know about a block that is not written: nothing when it is just the same event."""
    ours, theirs = canon(block.fields), canon(event)
    if (normalized_title(ours.summary), *ours[2:4]) == (normalized_title(theirs.summary), *theirs[2:4]):
        return None
    return f"I did not add {quoted(ours.summary)}: {link_reason(block, event, tz)}"


def overlap_warnings(blocks: Iterable[DesiredBlock], foreign: Sequence[EventImage], tz: ZoneInfo) -> list[str]:
    """One sentence for each of the blocks that shares time with a foreign event, up to a handful."""
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
