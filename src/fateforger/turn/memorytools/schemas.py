"""What the tools take and what they give."""

from __future__ import annotations

from datetime import date as Date  # noqa: N812  as elsewhere
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from fateforger.constraints.kinds import Necessity, Scope, Source, Status
from fateforger.constraints.record import Label, Uid

_CLOSED = ConfigDict(frozen=True, extra="forbid")
LISTED = 20
"""Constraints that a list holds unless more are asked for."""


class MemoryTool(StrEnum):
    """The names of the tools."""

    LIST = "memory_list_constraints"
    GET = "memory_get_constraint"
    UPDATE = "memory_update_constraint"
    ARCHIVE = "memory_archive_constraint"
    SUPERSEDE = "memory_supersede_constraint"


class MemoryConstraintItem(BaseModel):
    """A constraint as a tool gives it. ``description`` holds the person's own words, said on ``said_on``; ``seq`` is
    the version that was looked at; ``when`` and ``times`` are empty if it is always."""

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
    """Why a tool did nothing, with a sentence for the person."""

    model_config = _CLOSED
    kind: Literal["not_found", "bad_arguments", "bad_patch"]
    message: str


class MemoryToolResult(BaseModel):
    """What a tool came to. ``total`` counts all that a list could hold. When it is not ``ok``, nothing was changed and
    ``trouble`` says why."""

    model_config = _CLOSED
    tool: MemoryTool
    ok: bool
    items: tuple[MemoryConstraintItem, ...] = ()
    total: int = 0
    trouble: MemoryTrouble | None = None


class ListConstraints(BaseModel):
    """All of those in force that fit; an empty filter selects nothing. ``text`` is looked for in name, words and
    topics, whatever the case of its letters. ``statuses`` can ask for what was put away, too."""

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
    """``patch`` is a JSON object with the parts of the record that shall be different, group by group."""

    model_config = _CLOSED
    uid: Uid
    patch: Annotated[str, Field(max_length=100_000)]


class ArchiveConstraint(BaseModel):
    model_config = _CLOSED
    uid: Uid
    reason: Annotated[str, Field(max_length=2_000)] | None = None


class SupersedeConstraint(BaseModel):
    """``record`` is a JSON object: the whole record that takes the place of the old one."""

    model_config = _CLOSED
    uid: Uid
    record: Annotated[str, Field(max_length=100_000)]
