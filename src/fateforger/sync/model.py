"""What the sync engine talks about: events as they are, blocks as they should be, and ops between them.

All times are aware instants; ``start``/``end`` of an all-day event are dates. Everything here is a frozen value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from fateforger.plan import ET

OWNED_PREFIX = "fftb"
_OWNED_ID = re.compile(r"fftb[0-9a-v]{32}")


class OwnedId(str):
    """The id of an event that this program made: ``fftb`` and 32 characters of base32hex, nothing else.

    The calendar port writes only to ids of this type, and no other id can become one: not a foreign event's,
    not an occurrence of a series (``fftb..._20250616T...``), not a copy made in the calendar's own page.
    """

    __slots__ = ()

    def __new__(cls, value: str) -> Self:
        if not _OWNED_ID.fullmatch(value):
            raise ValueError(f"“{value}” is not the id of an event made by fateforger")
        return super().__new__(cls, value)

    @staticmethod
    def is_one(value: str) -> bool:
        """Whether the text has the form of an owned id."""
        return _OWNED_ID.fullmatch(value) is not None


def _aware(value: datetime) -> datetime:
    if value.tzinfo is None:
        raise ValueError("an instant needs a time zone")
    return value.astimezone(UTC)


Instant = Annotated[datetime, AfterValidator(_aware)]
"""An aware datetime, kept in UTC so that equal instants are equal values."""


class Marker(BaseModel):
    """Private properties that make each write of ours recognisable in the event itself."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    key: str
    generation: int = Field(ge=0)
    day: date
    op_id: str

    def properties(self) -> dict[str, str]:
        """``ffu`` block key, ``ffg`` generation, ``ffd`` day of the plan, ``ffo`` op that wrote last."""
        return {"ffu": self.key, "ffg": str(self.generation), "ffd": self.day.isoformat(), "ffo": self.op_id}

    @classmethod
    def read(cls, properties: Mapping[str, str]) -> Marker | None:
        """The marker in an event's private properties, or ``None`` when there is none of ours."""
        try:
            return cls(
                key=properties["ffu"],
                generation=int(properties["ffg"]),
                day=date.fromisoformat(properties["ffd"]),
                op_id=properties["ffo"],
            )
        except (KeyError, ValueError):
            return None

    @staticmethod
    def day_in(properties: Mapping[str, str]) -> date | None:
        """The day in a complete marker of ours, and ``None`` when there is none: :meth:`read` for those who only
        want to know."""
        try:
            day = date.fromisoformat(properties["ffd"])
            whole = int(properties["ffg"]) >= 0 and "ffu" in properties and "ffo" in properties
        except (KeyError, ValueError):
            return None
        return day if whole else None


class EventFields(BaseModel):
    """The managed fields of an event: the only ones that count as a change and that are ever written (S81)."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    summary: str
    description: str = ""
    start: Instant
    end: Instant
    color_id: str | None = None


MANAGED = ("summary", "description", "start", "end", "color_id")


class EventImage(BaseModel):
    """An event as it was read from a calendar. ``raw`` is the calendar's whole answer, kept for undo."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    id: str
    summary: str = ""
    description: str = ""
    start: Instant | date
    end: Instant | date
    color_id: str | None = None
    status: Literal["confirmed", "tentative", "cancelled"] = "confirmed"
    busy: bool = True
    """False for events shown as free and for invitations the person declined."""
    organized_by_me: bool = True
    series_id: str | None = None
    event_type: str = "default"
    properties: Mapping[str, str] = Field(default_factory=dict)
    version: str | None = None
    """ETag where the calendar has one; otherwise its time stamp of the last change."""
    enriched: bool = False
    """True when people added what we never write: guests, a conference, attachments."""
    html_link: str | None = None
    calendar: str | None = None
    """The name of the calendar it is on, when that is not the one that is written to."""
    raw: Mapping[str, Any] = Field(default_factory=dict)

    @property
    def all_day(self) -> bool:
        return not isinstance(self.start, datetime)

    @property
    def gone(self) -> bool:
        return self.status == "cancelled"

    @property
    def fields(self) -> EventFields:
        """The managed fields of a timed event. Raises ``ValueError`` for an all-day one."""
        if not isinstance(self.start, datetime) or not isinstance(self.end, datetime):
            raise ValueError(f"“{self.summary}” is an all-day event and has no instants")  # noqa: TRY004  a value, not a type
        return EventFields(
            summary=self.summary,
            description=self.description,
            start=self.start,
            end=self.end,
            color_id=self.color_id,
        )

    @property
    def marker(self) -> Marker | None:
        return Marker.read(self.properties)

    def elsewhere(self, calendar_id: str, calendar: str) -> EventImage:
        """The event as one of another calendar, which nothing can take for ours: its id has the calendar's before it
        (no :class:`OwnedId` has a slash), it bears no marker, and is nobody's that could be written to. Without this,
        a block of ours that the person moved to another calendar would look like one that is still on this one."""
        return self.model_copy(
            update={
                "id": f"{calendar_id}/{self.id}",
                "series_id": None if self.series_id is None else f"{calendar_id}/{self.series_id}",
                "organized_by_me": False,
                "properties": {},
                "calendar": calendar,
                "raw": {name: self.raw[name] for name in ("iCalUID",) if name in self.raw},
            }
        )


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
    head that was not among them, what asking for it by id gave (``None``: the calendar knows no such event)."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    day: date
    tz: str
    events: tuple[EventImage, ...]
    fetched: Mapping[str, EventImage | None] = Field(default_factory=dict)


class Verb(StrEnum):
    """What happens to one block. Only the first three write to the calendar."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    ADOPT = "adopt"
    """The calendar already is as it should be, or the person's own change stands: only our record changes."""
    RELEASE = "release"
    """The person made it theirs: leave it alone from now on."""
    FORGET = "forget"
    """It is gone from the calendar, and nobody wants it back."""
    NOOP = "noop"
    """Nothing to do: the calendar shows it already."""
    SKIP = "skip"
    """Not done on purpose; the reason says why."""


WRITES = frozenset({Verb.CREATE, Verb.UPDATE, Verb.DELETE})
RECORDS = frozenset({Verb.ADOPT, Verb.RELEASE, Verb.FORGET})
"""Verbs that change what we know, and nothing on the calendar."""


class SyncOp(BaseModel):
    """One step. ``before`` is the event as it was when this was decided, and is never missing for an update or a
    delete; ``after`` are the managed fields as they shall be; ``changes`` maps each field that differs to both, as
    text for people and programs (instants in RFC 3339, in the zone of the plan; ``None`` where there is no event).

    ``head_before`` is what was known of the block, ``head_after`` what is to be known once the op took effect.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    op_id: str
    verb: Verb
    key: str
    event_id: str
    generation: int = 0
    seed: str | None = None
    """What the id was minted from, for a create; generations are counted per seed."""
    summary: str
    changes: Mapping[str, tuple[Any, Any]] = Field(default_factory=dict)
    before: EventImage | None = None
    after: EventFields | None = None
    head_before: Head | None = None
    head_after: Head | None = None
    reason: str = ""


class Adopted(BaseModel):
    """The person's own change on the calendar, which the plan does not have yet. ``field`` is a managed field, or
    ``deleted`` when they deleted the block."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    key: str
    summary: str
    field: Literal["summary", "description", "start", "end", "color_id", "deleted"]
    plan: str | None
    calendar: str | None


class BrakeKind(StrEnum):
    """What looks so unlike a person's doing that nothing is written before somebody says yes."""

    EMPTIED_CALENDAR = "emptied_calendar"
    VANISHED_BLOCKS = "vanished_blocks"
    MASS_DELETION = "mass_deletion"
    DUPLICATE_BLOCK = "duplicate_block"


class Brake(BaseModel):
    """A named reason to stop and ask, with a sentence for the person."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: BrakeKind
    sentence: str


class Merged(BaseModel):
    """A field that both the person (on the calendar) and the plan changed, and who won; ``deleted`` as in
    :class:`Adopted`. ``open``: nobody chose, so it stays as the calendar shows it. Values as in ``changes``."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    key: str
    summary: str
    field: str
    base: str | None
    calendar: str | None
    plan: str | None
    winner: Literal["calendar", "plan", "open"]


class SyncPlan(BaseModel):
    """Everything that will be done, decided before anything is. ``adopted`` are the person's own edits on the
    calendar that flow back into the plan; ``warnings`` are sentences for the person; with ``brakes``, nothing is
    written unless each of them was confirmed."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    day: date
    tz: str
    ops: tuple[SyncOp, ...]
    merged: tuple[Merged, ...] = ()
    adopted: tuple[Adopted, ...] = ()
    brakes: tuple[Brake, ...] = ()
    warnings: tuple[str, ...] = ()
    snapshot_fingerprint: str

    @property
    def writes(self) -> tuple[SyncOp, ...]:
        """The ops that change the calendar."""
        return tuple(op for op in self.ops if op.verb in WRITES)

    @property
    def idle(self) -> bool:
        """Whether nothing is to be written and nothing to be noted."""
        return not any(op.verb in WRITES or op.verb in RECORDS for op in self.ops)

    def counts(self) -> dict[str, int]:
        """``create, update, delete, noop, skip``; bookkeeping verbs count as noop."""
        counts = dict.fromkeys(("create", "update", "delete", "noop", "skip"), 0)
        for op in self.ops:
            counts[op.verb.value if op.verb.value in counts else "noop"] += 1
        return counts
