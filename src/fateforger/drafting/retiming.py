"""Blocks of a plan at other times, as ops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from fateforger.drafting.clock import clock_at
from fateforger.ops import UpdateBlock
from fateforger.plan import ET, FixedStart, Resolved, TBPlan, resolve
from fateforger.plan.timing import is_anchored


@dataclass(frozen=True, slots=True)
class Place:
    """Where a block lies: an aware instant, and elapsed time."""

    start: datetime
    duration: timedelta

    @property
    def end(self) -> datetime:
        return self.start.astimezone(UTC) + self.duration


def place_of(block: Resolved) -> Place:
    """Where a block lies now, in UTC."""
    return Place(block.start.astimezone(UTC), block.duration)


def retimed(plan: TBPlan, places: Mapping[str, Place]) -> tuple[UpdateBlock, ...]:
    """The ops that put blocks of ``plan`` at these places, by key. What leans on a neighbour gets the time that it has
    now, so that nothing else moves along; a block that lies there already gets no op."""
    updates = []
    for block in resolve(plan):
        now = place_of(block)
        place = places.get(block.key, now)
        leans = not is_anchored(block.event.timing) and block.event.type is not ET.BACKGROUND
        if place != now or leans:
            updates.append(UpdateBlock(key=block.key, timing=fixed(place, plan)))
    return tuple(updates)


def fixed(place: Place, plan: TBPlan) -> FixedStart:
    """A place as a plan writes it. Raises pydantic's ``ValidationError`` for one that is no block's."""
    return FixedStart(start=clock_at(place.start, plan.date, plan.tz), duration=place.duration)
