"""What is to be done about the difference: ops, and what the person hears of them."""

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
    extras: EventExtras | None = None
    """What a create brings back beyond ``after``, as far as the calendar takes it."""
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
