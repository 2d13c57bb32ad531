"""Format a block as one line for people."""

from __future__ import annotations

from fateforger.plan import Resolved


def format_block(block: Resolved) -> str:
    """Return ``09:00–10:30  Write report  (deep work, 90 min)``.

    An end on another day is marked. If the clock changes in between, each end names its zone.
    """
    clocks = f"{block.start:%H:%M}", f"{block.end:%H:%M}"
    if block.start.utcoffset() != block.end.utcoffset():
        clocks = f"{clocks[0]} {block.start:%Z}", f"{clocks[1]} {block.end:%Z}"
    end = clocks[1] + ("⁺¹" if block.end.date() > block.start.date() else "")
    return f"{clocks[0]}–{end:<7} {block.event.name}  ({block.event.type.words}, {block.minutes} min)"
