"""Move blocks of a plan to other times, as ops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from fateforger.drafting.clock import clock_at
from fateforger.ops import UpdateBlock
from fateforger.plan import ET, FixedStart, Resolved, TBPlan, resolve
from fateforger.plan.timing import is_anchored


@dataclass(frozen=True, slots=True)
class BlockPlace:
    """Place of a block: an aware start, and elapsed time."""

    start: datetime
    duration: timedelta

    @property
    def end(self) -> datetime:
        return self.start.astimezone(UTC) + self.duration


def place_of(block: Resolved) -> BlockPlace:
    """Return the current place of a block, in UTC."""
    return BlockPlace(block.start.astimezone(UTC), block.duration)


def retime_blocks(plan: TBPlan, places: Mapping[str, BlockPlace]) -> tuple[UpdateBlock, ...]:
    """Return the ops that put blocks of ``plan`` at these places, by key.

    A block that depends on a neighbor is fixed at its current time, so that nothing else moves. A block that is
    already at its place gets no op.
    """
    updates = []
    for block in resolve(plan):
        now = place_of(block)
        place = places.get(block.key, now)
        leans = not is_anchored(block.event.timing) and block.event.type is not ET.BACKGROUND
        if place != now or leans:
            updates.append(UpdateBlock(key=block.key, timing=to_timing(place, plan)))
    return tuple(updates)


def to_timing(place: BlockPlace, plan: TBPlan) -> FixedStart:
    """Return a place as the timing of a block.

    Raises pydantic's ``ValidationError`` for one that no block can have.
    """
    return FixedStart(start=clock_at(place.start, plan.date, plan.tz), duration=place.duration)
