"""Input of the picture: one day with its blocks, its meetings, and optionally its earlier blocks."""

from __future__ import annotations

from datetime import UTC
from datetime import date as Date  # noqa: N812  the field is called ``date`` and would hide the type
from zoneinfo import ZoneInfo

from pydantic import AwareDatetime, BaseModel, ConfigDict

from fateforger.plan import ET, TBPlan, resolve, zone

_FROZEN = ConfigDict(frozen=True, extra="forbid")


class PlannedBlock(BaseModel):
    """A planned block, as instants.

    ``key`` identifies it across a change.
    """

    model_config = _FROZEN
    key: str
    title: str
    kind: ET
    start: AwareDatetime
    end: AwareDatetime

    @property
    def minutes(self) -> int:
        """Elapsed minutes, rounded down."""
        return int((self.end.astimezone(UTC) - self.start.astimezone(UTC)).total_seconds() // 60)


class Meeting(BaseModel):
    """An immovable event.

    One that is not ``busy`` is shown but blocks nothing. ``calendar`` is the name of its calendar, where that
    matters.
    """

    model_config = _FROZEN
    title: str
    start: AwareDatetime
    end: AwareDatetime
    busy: bool = True
    calendar: str | None = None


class DayView(BaseModel):
    """One local day in one IANA zone.

    ``start`` and ``end`` are the frame of the day, if any. ``before`` are the blocks from before a change, if it is
    to be shown. ``now`` draws a line.
    """

    model_config = _FROZEN
    date: Date
    tz: str
    start: AwareDatetime | None = None
    end: AwareDatetime | None = None
    blocks: tuple[PlannedBlock, ...] = ()
    meetings: tuple[Meeting, ...] = ()
    all_day: tuple[str, ...] = ()
    before: tuple[PlannedBlock, ...] | None = None
    now: AwareDatetime | None = None

    @property
    def zone(self) -> ZoneInfo:
        return zone(self.tz)


def planned_blocks(plan: TBPlan) -> tuple[PlannedBlock, ...]:
    """Return the blocks of a plan as instants, in time order.

    Raises ``PlanInvalid`` as :func:`fateforger.plan.resolve` does.
    """
    found = (
        PlannedBlock(key=r.key, title=r.event.name, kind=r.event.type, start=r.start, end=r.end) for r in resolve(plan)
    )
    return tuple(sorted(found, key=lambda block: (block.start.astimezone(UTC), block.end.astimezone(UTC), block.key)))
