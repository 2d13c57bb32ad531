"""One local day: what the calendar should show, what it shows, and what we last wrote."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from fateforger.plan import ET
from fateforger.sync.model.event import EventFields, EventImage
from fateforger.sync.model.extras import EventExtras


class DesiredBlock(BaseModel):
    """A block of the plan as the calendar should show it. ``index`` is its place in the plan (S73)."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    key: str
    index: int
    type: ET
    fields: EventFields


class DesiredDay(BaseModel):
    """All blocks that the calendar should show for one local day."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    day: date
    tz: str
    blocks: tuple[DesiredBlock, ...]


class Standing(StrEnum):
    """Whose an event of ours is now."""

    HELD = "held"
    """Ours, and on the calendar as far as we know."""
    RELEASED = "released"
    """The person made it theirs; it stays as it is."""
    DELETED = "deleted"
    """The person deleted it while the plan still has the block; it stays deleted until the plan asks for something
    else."""
    REMOVED = "removed"
    """Neither plan nor calendar has it. When it shows up again, the person brought it back."""


class Head(BaseModel):
    """What we last wrote for a block: the base of every merge.

    ``base`` is how the calendar showed it right after; ``wanted`` is what the plan had asked for (``None``: the
    same). They differ where the calendar rewrites what it is given, and where the person's own edit was kept. So
    "the person changed it" is calendar against ``base``, and "the plan changed it" is plan against ``wanted``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    key: str
    event_id: str
    generation: int
    day: date
    base: EventFields
    wanted: EventFields | None = None
    standing: Standing = Standing.HELD
    version: str | None = None
    restores: tuple[str, ...] = ()
    """Ids of the deleted events that this one brought back, the latest first: an undo makes a new event, and what was
    done to the old ones can still be taken back on it."""
    extras: EventExtras | None = None
    """What the event held beyond the managed fields when it was created: whatever differs from it is the person's.
    ``None``: written by a version that did not look."""
    unrestored: tuple[str, ...] = ()
    """Managed fields in which an undo had to leave our value, because the calendar cannot take it away. As long as the
    calendar shows ``base`` there, the value is ours and no change of the person's."""

    @property
    def asked(self) -> EventFields:
        """What the plan had asked for."""
        return self.base if self.wanted is None else self.wanted


class Ledger(BaseModel):
    """Everything we know to have written to one calendar for one day, and which generations are used up.

    ``generations`` maps a seed (``date|name|start|index``, see S73) to the highest generation ever minted from it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    heads: tuple[Head, ...] = ()
    generations: Mapping[str, int] = Field(default_factory=dict)


class Snapshot(BaseModel):
    """What the calendar shows now. ``events`` are those of the window around the day; ``fetched`` holds, for each
    head that was not among them, what asking for it by id gave (``None``: the calendar knows no such event).
    ``left_out`` are titles of events that repeat in a way that could not be worked out in time."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    day: date
    tz: str
    events: tuple[EventImage, ...]
    fetched: Mapping[str, EventImage | None] = Field(default_factory=dict)
    left_out: tuple[str, ...] = ()
