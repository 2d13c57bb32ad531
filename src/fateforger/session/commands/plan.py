"""Commands that change the plan, or explain it."""

from __future__ import annotations

from datetime import time
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from fateforger.planning.patch import Patch
from fateforger.planning.plan import TBPlan
from fateforger.session.card_actions import (
    CardAction,
    read_target,
    read_value,
)
from fateforger.session.commands.base import PLANNED, SessionCommandBase
from fateforger.session.constants import SHIFT_MINUTES
from fateforger.session.model import Depth
from fateforger.session.stages import TimeboxingStage


class PlanCommandBase(SessionCommandBase):
    """A change of the plan. After the commit it is carried out in Refine within the same turn (S52)."""

    home = TimeboxingStage.REFINE
    accepted = PLANNED


class AddBlock(PlanCommandBase):
    """Stage 4: add a block at a local time of day."""

    kind: Literal["add_block"] = "add_block"
    title: str
    start: time
    minutes: int
    depth: Depth | None = None
    notes: str = ""


class EditBlock(PlanCommandBase):
    """Stage 4: change the given parts of a block; ``None`` leaves a part as it is."""

    kind: Literal["edit_block"] = "edit_block"
    key: str
    title: str | None = None
    notes: str | None = None
    start: time | None = None
    minutes: int | None = None


class RemoveBlock(PlanCommandBase):
    action: ClassVar = CardAction("block.remove", "Remove", read_target("key"))
    kind: Literal["remove_block"] = "remove_block"
    key: str


class ShiftBlock(PlanCommandBase):
    """Stage 4: move a block earlier or later, by minutes."""

    earlier: ClassVar = CardAction("block.earlier", "15 min earlier", read_target("key", minutes=-SHIFT_MINUTES))
    later: ClassVar = CardAction("block.later", "15 min later", read_target("key", minutes=SHIFT_MINUTES))
    kind: Literal["shift_block"] = "shift_block"
    key: str
    minutes: int


class SwapBlock(PlanCommandBase):
    """Stage 4: swap a block with the one before (-1) or after (+1) it."""

    up: ClassVar = CardAction("block.swap_up", "Swap with the one before", read_target("key", direction=-1))
    down: ClassVar = CardAction("block.swap_down", "Swap with the next", read_target("key", direction=1))
    kind: Literal["swap_block"] = "swap_block"
    key: str
    direction: Literal[-1, 1]


class Replan(PlanCommandBase):
    """Stages 4 and 5: report how the day went so far, and refit the rest of it as one change.

    Blocks are given by key. ``late`` makes the current block that many minutes longer, or else delays the next block
    by as much; 0 means that the current block begins only now. ``missed`` blocks should have been done and are not.
    ``done`` tasks are done. The tasks of the blocks in ``not_today`` wait for another day. Without any of these, the
    rest of the day is only refitted.
    """

    running_late: ClassVar = CardAction("replan.late", "Running late", read_value("late"))
    done_already: ClassVar = CardAction("replan.done", "Done already", lambda click: {"done": (click.value,)})
    put_off: ClassVar = CardAction("replan.not_today", "Not today", lambda click: {"not_today": (click.value,)})
    refit: ClassVar = CardAction("replan.refit", "Refit the rest")
    kind: Literal["replan"] = "replan"
    late: int | None = Field(None, ge=0, le=12 * 60)
    missed: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    not_today: tuple[str, ...] = ()


class ApplyFix(PlanCommandBase):
    """Stage 4: apply a suggested fix by its id.

    Nothing is done when the fix no longer helps.
    """

    action: ClassVar = CardAction("plan.fix", read=read_target("fix"))
    kind: Literal["apply_fix"] = "apply_fix"
    fix: str


class ApprovedChange(BaseModel):
    """Plan before and after a change, as the person approved it."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    before: TBPlan
    after: TBPlan


class ApplyPatch(PlanCommandBase):
    """Stage 4: apply several changes at once, read from words by a model or proposed by a program.

    With ``approved``, the change is refused unless it does exactly what the person approved.
    """

    kind: Literal["apply_patch"] = "apply_patch"
    patch: Patch
    approved: ApprovedChange | None = None


class ExplainBlock(SessionCommandBase):
    """Stages 3 to 5: explain the place of a block."""

    action: ClassVar = CardAction("block.why", "Why here?", read_value("key"))
    kind: Literal["explain_block"] = "explain_block"
    key: str


PlanCommand = (
    AddBlock | EditBlock | RemoveBlock | ShiftBlock | SwapBlock | ApplyFix | ExplainBlock | ApplyPatch | Replan
)
