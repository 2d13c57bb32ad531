"""One local day: what the calendar should show, what it shows, and our last writes."""

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
    """The ownership of an event of ours."""

    HELD = "held"
    """Ours, and on the calendar as far as we know."""
    RELEASED = "released"
    """The person made it theirs; it stays as it is."""
    DELETED = "deleted"
    """The person deleted it while the plan still has the block; it stays deleted until the plan asks for something
    else."""
    REMOVED = "removed"
    """Neither plan nor calendar has it. If it shows up again, the person brought it back."""


class Head(BaseModel):
    """Our last write of a block: the base of every merge.

    ``base`` is what the calendar showed right after; ``wanted`` is what the plan had asked for (``None``: the same).
    They differ where the calendar rewrites its input, and where the person's own edit was kept. "The person changed it"
    therefore compares the calendar with ``base``, and "the plan changed it" compares the plan with ``wanted``.
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
    """Ids of the deleted events that this one brought back, the latest first: an undo creates a new event, on which
    changes to the old ones can still be undone."""
    extras: EventExtras | None = None
    """The extras of the event when it was created; any difference from them is the person's. ``None``: written by a
    version that did not record them."""
    unrestored: tuple[str, ...] = ()
    """Managed fields in which an undo had to leave our value, because the calendar cannot remove it. As long as the
    calendar shows ``base`` there, the value is ours rather than a change of the person's."""

    @property
    def asked(self) -> EventFields:
        """The fields that the plan had asked for."""
        return self.base if self.wanted is None else self.wanted


class Ledger(BaseModel):
    """Our known writes to one calendar for one day, and the used generations.

    ``generations`` maps a seed (``date|name|start|index``, see S73) to the highest generation ever minted from it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    heads: tuple[Head, ...] = ()
    generations: Mapping[str, int] = Field(default_factory=dict)


class Snapshot(BaseModel):
    """The current state of the calendar.

    ``events`` are those of the window around the day. ``fetched`` holds, for each head not among them, the result of a
    request by id (``None``: there is no such event). ``left_out`` are titles of recurring events that could not be
    expanded in time.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    day: date
    tz: str
    events: tuple[EventImage, ...]
    fetched: Mapping[str, EventImage | None] = Field(default_factory=dict)
    left_out: tuple[str, ...] = ()
