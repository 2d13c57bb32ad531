"""The result of a comparison: ops, and what the person is told about them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from fateforger.sync.model.day import Head
from fateforger.sync.model.event import EventFields, EventImage
from fateforger.sync.model.extras import EventExtras


class Verb(StrEnum):
    """The treatment of one block. Only the first three write to the calendar."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    ADOPT = "adopt"
    """The calendar already is as it should be, or the person's own change is kept: only our record changes."""
    RELEASE = "release"
    """The person made it theirs: leave it alone from now on."""
    FORGET = "forget"
    """It is gone from the calendar, and not wanted back."""
    NOOP = "noop"
    """Nothing to do: the calendar shows it already."""
    SKIP = "skip"
    """Not done on purpose; ``reason`` says why."""


WRITES = frozenset({Verb.CREATE, Verb.UPDATE, Verb.DELETE})
RECORDS = frozenset({Verb.ADOPT, Verb.RELEASE, Verb.FORGET})
"""Verbs that change our records, and nothing on the calendar."""


class SyncOp(BaseModel):
    """One step.

    ``before`` is the event at the time of the decision, and never missing for an update or a delete. ``after`` are the
    desired managed fields. ``changes`` maps each field that differs to both values, as text (instants in RFC 3339, in
    the zone of the plan; ``None`` where there is no event). ``head_before`` is the known record of the block,
    ``head_after`` its record once the op took effect.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    op_id: str
    verb: Verb
    key: str
    event_id: str
    generation: int = 0
    seed: str | None = None
    """The seed of the id, for a create; generations are counted per seed."""
    summary: str
    changes: Mapping[str, tuple[Any, Any]] = Field(default_factory=dict)
    before: EventImage | None = None
    after: EventFields | None = None
    extras: EventExtras | None = None
    """The extras that a create restores, as far as the calendar accepts them."""
    head_before: Head | None = None
    head_after: Head | None = None
    reason: str = ""


class Adopted(BaseModel):
    """The person's own change on the calendar, which the plan does not have yet.

    ``field`` is a managed field, or ``deleted`` if they deleted the block.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    key: str
    summary: str
    field: Literal["summary", "description", "start", "end", "color_id", "deleted"]
    plan: str | None
    calendar: str | None


class SafetyCheckKind(StrEnum):
    """A change so unlikely to be intended that nothing is written before the person confirms it."""

    EMPTIED_CALENDAR = "emptied_calendar"
    VANISHED_BLOCKS = "vanished_blocks"
    MASS_DELETION = "mass_deletion"
    DUPLICATE_BLOCK = "duplicate_block"


class SafetyCheck(BaseModel):
    """A named reason to stop and ask, with a sentence for the person."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: SafetyCheckKind
    sentence: str


class Merged(BaseModel):
    """A field that both the person (on the calendar) and the plan changed, and the winner.

    ``deleted`` is used as in :class:`Adopted`. ``open``: undecided, so the calendar's value stays. Values are written
    as in ``changes``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    key: str
    summary: str
    field: str
    base: str | None
    calendar: str | None
    plan: str | None
    winner: Literal["calendar", "plan", "open"]


class SyncPlan(BaseModel):
    """All ops, decided before anything is written.

    ``adopted`` are the person's own edits on the calendar that flow back into the plan. ``warnings`` are sentences for
    the person. With ``brakes``, nothing is written unless each of them is confirmed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    day: date
    tz: str
    ops: tuple[SyncOp, ...]
    merged: tuple[Merged, ...] = ()
    adopted: tuple[Adopted, ...] = ()
    brakes: tuple[SafetyCheck, ...] = ()
    warnings: tuple[str, ...] = ()
    snapshot_fingerprint: str

    @property
    def writes(self) -> tuple[SyncOp, ...]:
        """The ops that change the calendar."""
        return tuple(op for op in self.ops if op.verb in WRITES)

    @property
    def idle(self) -> bool:
        """Check whether there is nothing to write and nothing to record."""
        return not any(op.verb in WRITES or op.verb in RECORDS for op in self.ops)

    def counts(self) -> dict[str, int]:
        """Return counts of ``create, update, delete, noop, skip``; bookkeeping verbs count as noop."""
        counts = dict.fromkeys(("create", "update", "delete", "noop", "skip"), 0)
        for op in self.ops:
            counts[op.verb.value if op.verb.value in counts else "noop"] += 1
        return counts
