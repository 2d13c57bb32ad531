"""Changes of a plan, and what is asked about its blocks."""

from __future__ import annotations

from datetime import time
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from fateforger.ops import Patch
from fateforger.plan import TBPlan
from fateforger.session.commands.envelope import InSession
from fateforger.session.model import Depth


class AddBlock(InSession):
    """Stage 4: a new block at a local time of day."""

    kind: Literal["add_block"] = "add_block"
    title: str
    start: time
    minutes: int
    depth: Depth | None = None
    notes: str = ""


class EditBlock(InSession):
    """Stage 4: change the given parts of a block; ``None`` leaves a part as it is."""

    kind: Literal["edit_block"] = "edit_block"
    key: str
    title: str | None = None
    notes: str | None = None
    start: time | None = None
    minutes: int | None = None


class RemoveBlock(InSession):
    kind: Literal["remove_block"] = "remove_block"
    key: str


class ShiftBlock(InSession):
    """Stage 4: move a block earlier or later by minutes."""

    kind: Literal["shift_block"] = "shift_block"
    key: str
    minutes: int


class SwapBlock(InSession):
    """Stage 4: let a block trade places with the one before (-1) or after (+1) it."""

    kind: Literal["swap_block"] = "swap_block"
    key: str
    direction: Literal[-1, 1]


class Replan(InSession):
    """Stages 4 and 5: how the day went so far, by the keys of blocks; the rest of it is fitted anew, as one change.

    ``late``: what is under way takes so many minutes longer, or else the next block begins so much later; 0 means that
    what is under way begins only now. ``missed`` blocks were to be done before and are not; ``done`` tasks are;
    ``not_today``: the tasks of these blocks wait for another day. With nothing of that it is only fitted anew.
    """

    kind: Literal["replan"] = "replan"
    late: int | None = Field(None, ge=0, le=12 * 60)
    missed: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    not_today: tuple[str, ...] = ()


class ApplyFix(InSession):
    """Stage 4: one of the changes that would make the plan better, by its id; nothing is done when it is none any
    more."""

    kind: Literal["apply_fix"] = "apply_fix"
    fix: str


class Approved(BaseModel):
    """What the person saw and said yes to: the plan before a change, and after it."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    before: TBPlan
    after: TBPlan


class ApplyPatch(InSession):
    """Stage 4: several changes at once, as a model read them out of words or a program proposed them. With ``approved``
    it changes what the person approved and nothing else, or it is refused."""

    kind: Literal["apply_patch"] = "apply_patch"
    patch: Patch
    approved: Approved | None = None


class ExplainBlock(InSession):
    """Stages 3 to 5: why a block is where it is."""

    kind: Literal["explain_block"] = "explain_block"
    key: str
