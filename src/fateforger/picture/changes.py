"""Classify the change of each block between two versions of a day."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC
from typing import Literal

from fateforger.picture.model import DayView, PlannedBlock

Change = Literal["new", "moved", "longer", "shorter", "renamed"]


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes of a day.

    ``of`` maps a block's key to its change. ``was`` maps it to the block before. ``removed`` are the blocks that no
    longer exist, in time order.
    """

    of: dict[str, Change]
    was: dict[str, PlannedBlock]
    removed: tuple[PlannedBlock, ...]

    @property
    def ghosts(self) -> tuple[PlannedBlock, ...]:
        """Earlier places of blocks that were moved, resized, or removed, in time order."""
        placed = (block for key, block in self.was.items() if self.of[key] in {"moved", "longer", "shorter"})
        return tuple(sorted((*placed, *self.removed), key=lambda b: (b.start.astimezone(UTC), b.key)))


def changes_of(view: DayView) -> Changes:
    """Return the changes from the day before to now; none when there is no earlier version."""
    if view.before is None:
        return Changes({}, {}, ())
    earlier = {block.key: block for block in view.before}
    kept = {block.key for block in view.blocks}
    of: dict[str, Change] = {}
    was: dict[str, PlannedBlock] = {}
    for block in view.blocks:
        old = earlier.get(block.key)
        change = "new" if old is None else _classify_change(old, block)
        if change is not None:
            of[block.key] = change
        if old is not None and change is not None:
            was[block.key] = old
    return Changes(of, was, _removed_blocks(view.before, kept))


def _removed_blocks(before: Iterable[PlannedBlock], kept: set[str]) -> tuple[PlannedBlock, ...]:
    return tuple(block for block in before if block.key not in kept)


def _classify_change(old: PlannedBlock, new: PlannedBlock) -> Change | None:
    if old.start != new.start:
        return "moved"
    if old.end != new.end:
        return "longer" if new.end > old.end else "shorter"
    return "renamed" if (old.title, old.kind) != (new.title, new.kind) else None
