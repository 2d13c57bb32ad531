"""Commands that change a plan or ask about its blocks."""

from __future__ import annotations

from datetime import time
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from fateforger.ops import Patch
from fateforger.plan import TBPlan
from fateforger.session.commands.envelope import SessionCommandBase
from fateforger.session.model import Depth


class AddBlock(SessionCommandBase):
    """Stage 4: add a block at a local time of day."""

    kind: Literal["add_block"] = "add_block"
    title: str
    start: time
    minutes: int
    depth: Depth | None = None
    notes: str = ""


class EditBlock(SessionCommandBase):
    """Stage 4: change the given parts of a block; ``None`` leaves a part as it is."""

    kind: Literal["edit_block"] = "edit_block"
    key: str
    title: str | None = None
    notes: str | None = None
    start: time | None = None
    minutes: int | None = None


class RemoveBlock(SessionCommandBase):
    kind: Literal["remove_block"] = "remove_block"
    key: str


class ShiftBlock(SessionCommandBase):
    """Stage 4: move a block earlier or later, by minutes."""

    kind: Literal["shift_block"] = "shift_block"
    key: str
    minutes: int


class SwapBlock(SessionCommandBase):
    """Stage 4: swap a block with the one before (-1) or after (+1) it."""

    kind: Literal["swap_block"] = "swap_block"
    key: str
    direction: Literal[-1, 1]


class Replan(SessionCommandBase):
    """Stages 4 and 5: report how the day went so far, and refit the rest of it as one change.

    Blocks are given by key. ``late`` makes the current block that many minutes longer, or else delays the next block
    by as much; 0 means that the current block begins only now. ``missed`` blocks should have been done and are not.
    ``done`` tasks are done. The tasks of the blocks in ``not_today`` wait for another day. Without any of these, the
    rest of the day is only refitted.
    """

    kind: Literal["replan"] = "replan"
    late: int | None = Field(None, ge=0, le=12 * 60)
    missed: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    not_today: tuple[str, ...] = ()


class ApplyFix(SessionCommandBase):
    """Stage 4: apply a suggested fix by its id.

    Nothing is done when the fix no longer helps.
    """

    kind: Literal["apply_fix"] = "apply_fix"
    fix: str


class ApprovedChange(BaseModel):
    """Plan before and after a change, as the person approved it."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    before: TBPlan
    after: TBPlan


class ApplyPatch(SessionCommandBase):
    """Stage 4: apply several changes at once, read from words by a model or proposed by a program.

    With ``approved``, the change is refused unless it does exactly what the person approved.
    """

    kind: Literal["apply_patch"] = "apply_patch"
    patch: Patch
    approved: ApprovedChange | None = None


class ExplainBlock(SessionCommandBase):
    """Stages 3 to 5: explain the place of a block."""

    kind: Literal["explain_block"] = "explain_block"
    key: str
