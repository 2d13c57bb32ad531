"""The fewest possible ops, by trying every pairing.

It shares no code with the engine. The rule for which events may be one block is written here a second time.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from fateforger.calendar.event import EventFields
from fateforger.calendar.model import DesiredBlock

Shown = tuple[str, str, datetime, datetime, str | None]


def select_visible(fields: EventFields) -> Shown:
    """Return the fields as a person sees them, without outer space and parts of a second."""
    start, end = (moment.replace(microsecond=0) for moment in (fields.start, fields.end))
    return fields.summary.strip(), fields.description.strip(), start, end, fields.color_id


def may_be_one(one: Shown, other: Shown) -> bool:
    """Check for the same title but for case and space, and shared time or a start within 20 minutes."""
    titles = {" ".join(title.split()).casefold() for title in (one[0], other[0])}
    together = one[2] < other[3] and other[2] < one[3]
    near = together or abs((one[2] - other[2]).total_seconds()) <= 20 * 60
    return len(titles) == 1 and near


def fewest_ops(blocks: Sequence[DesiredBlock], events: Sequence[EventFields]) -> int:
    """Return the number of creates, updates and deletes in the best of all pairings, when no block is known by its key.

    ``best[taken]`` is the fewest ops for the blocks seen so far when just those events (as bits) were taken for them.
    """
    there = [select_visible(event) for event in events]
    best = {0: 0}
    for block in blocks:
        wanted = select_visible(block.fields)
        after = {taken: ops + 1 for taken, ops in best.items()}
        for place, event in enumerate(there):
            if not may_be_one(wanted, event):
                continue
            for taken, ops in best.items():
                if not taken >> place & 1:
                    reached = taken | 1 << place
                    after[reached] = min(after.get(reached, 99), ops + (wanted != event))
        best = after
    return min(ops + len(there) - taken.bit_count() for taken, ops in best.items())
