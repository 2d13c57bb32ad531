"""Models of the changes to a plan.

Blocks are addressed by key; list positions exist only on the wire.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from fateforger.plan import ET, TBEvent, Timing

_FROZEN = ConfigDict(frozen=True, extra="forbid")


class AddBlocks(BaseModel):
    """Insert blocks after the block ``after``, or at the front when that is ``None``."""

    model_config = _FROZEN
    kind: Literal["add"] = "add"
    events: tuple[TBEvent, ...] = Field(min_length=1)
    after: str | None


class RemoveBlock(BaseModel):
    """Remove a block."""

    model_config = _FROZEN
    kind: Literal["remove"] = "remove"
    key: str


class UpdateBlock(BaseModel):
    """Change the given fields of a block; ``None`` leaves a field as it is."""

    model_config = _FROZEN
    kind: Literal["update"] = "update"
    key: str
    name: str | None = None
    description: str | None = None
    type: ET | None = None
    timing: Timing | None = None


class MoveBlock(BaseModel):
    """Move a block behind another one, or to the front when ``after`` is ``None``."""

    model_config = _FROZEN
    kind: Literal["move"] = "move"
    key: str
    after: str | None


class ReplaceAll(BaseModel):
    """Replace all blocks of the plan."""

    model_config = _FROZEN
    kind: Literal["replace"] = "replace"
    events: tuple[TBEvent, ...] = Field(min_length=1)


Op = Annotated[AddBlocks | RemoveBlock | UpdateBlock | MoveBlock | ReplaceAll, Field(discriminator="kind")]


class Patch(BaseModel):
    """Changes in the order in which they are applied.

    An empty patch changes nothing.
    """

    model_config = _FROZEN
    ops: tuple[Op, ...]
