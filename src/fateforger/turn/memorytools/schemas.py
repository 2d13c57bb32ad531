"""Arguments and results of the memory tools."""

from __future__ import annotations

from datetime import date as Date  # noqa: N812  as elsewhere
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from fateforger.constraints.kinds import Necessity, Scope, Source, Status
from fateforger.constraints.record import Label, Uid

_CLOSED = ConfigDict(frozen=True, extra="forbid")
LISTED = 20
"""Default length of a list."""


class MemoryTool(StrEnum):
    """Names of the tools."""

    LIST = "memory_list_constraints"
    GET = "memory_get_constraint"
    UPDATE = "memory_update_constraint"
    ARCHIVE = "memory_archive_constraint"
    SUPERSEDE = "memory_supersede_constraint"


class MemoryConstraintItem(BaseModel):
    """Constraint as returned by a tool.

    ``description`` holds the person's own words, said on ``said_on``; ``seq`` is the version that was read; ``when``
    and ``times`` are empty if the constraint always applies.
    """

    model_config = _CLOSED
    uid: str
    seq: int
    name: str
    description: str
    necessity: Necessity
    status: Status
    scope: Scope
    source: Source
    confidence: float | None
    topics: tuple[str, ...]
    said_on: Date
    when: str
    times: str
    needs_confirmation: bool
    used_this_session: bool


class MemoryTrouble(BaseModel):
    """Reason why a tool did nothing, with a sentence for the person."""

    model_config = _CLOSED
    kind: Literal["not_found", "bad_arguments", "bad_patch"]
    message: str


class MemoryToolResult(BaseModel):
    """Result of a tool.

    ``total`` counts all matches of a list. If not ``ok``, nothing was changed and ``trouble`` says why.
    """

    model_config = _CLOSED
    tool: MemoryTool
    ok: bool
    items: tuple[MemoryConstraintItem, ...] = ()
    total: int = 0
    trouble: MemoryTrouble | None = None


class ListConstraints(BaseModel):
    """List the matching constraints; empty filters match everything.

    ``text`` is searched in name, words and topics, ignoring case. ``statuses`` can include retired constraints.
    """

    model_config = _CLOSED
    text: Annotated[str, Field(max_length=400)] | None = None
    statuses: tuple[Status, ...] = (Status.LOCKED, Status.PROPOSED)
    scopes: tuple[Scope, ...] = ()
    necessities: tuple[Necessity, ...] = ()
    tags: tuple[Label, ...] = ()
    limit: int = Field(LISTED, ge=1, le=500)


class GetConstraint(BaseModel):
    model_config = _CLOSED
    uid: Uid


class UpdateConstraint(BaseModel):
    """Change a constraint. ``patch`` is a JSON object with the changed fields of the record, by group."""

    model_config = _CLOSED
    uid: Uid
    patch: Annotated[str, Field(max_length=100_000)]


class ArchiveConstraint(BaseModel):
    model_config = _CLOSED
    uid: Uid
    reason: Annotated[str, Field(max_length=2_000)] | None = None


class SupersedeConstraint(BaseModel):
    """Replace a constraint. ``record`` is a JSON object: the whole record that replaces the old one."""

    model_config = _CLOSED
    uid: Uid
    record: Annotated[str, Field(max_length=100_000)]
