"""Commands that change the plan, explain it, or write it to the calendar; its history and conflicts."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from datetime import UTC, time, timedelta
from datetime import date as Date  # noqa: N812  as in the commands of the day
from functools import partial
from typing import ClassVar, Literal

from pydantic import AliasChoices, Field, ValidationError

from fateforger.calendar.conflicts import Topic
from fateforger.errors import BadInput, PatchInvalid, first_mistake
from fateforger.planning import patch as ops
from fateforger.planning.patch import Patch
from fateforger.planning.plan import TBEvent, TBPlan
from fateforger.planning.task_details import TaskKind
from fateforger.session.commands.base import PLANNED, SessionCommandBase, mint_key
from fateforger.session.day import instant_in
from fateforger.session.draft import pick_fix
from fateforger.session.forms import (
    CardAction,
    Click,
    Fields,
    give,
    read_target,
    read_value,
)
from fateforger.session.model import CalendarWrite, Session
from fateforger.session.placement import GONE, by_time, fixed_start, resolved_block
from fateforger.session.stages import SHIFT_MINUTES, TimeboxingStage
from fateforger.text import gettext as _
from fateforger.values import Value


class PlanCommandBase(SessionCommandBase):
    """A change of the plan. After the commit it is carried out in Refine within the same turn (S52)."""

    home = TimeboxingStage.REFINE
    accepted = PLANNED
    rereads = PLANNED


class BlockCommand(PlanCommandBase):
    """A change of blocks; it gives the patch that carries it out."""

    def to_patch(self, session: Session, plan: TBPlan) -> Patch:
        """Return the patch. Raises ``UserError``, also for a block that does not exist."""
        raise NotImplementedError

    def find_pushing(self, placed: AbstractSet[str]) -> AbstractSet[str]:
        """Return the blocks that push later ones, out of those that the patch placed."""
        del placed
        return frozenset()


class AddBlock(BlockCommand):
    """Stage 4: add a block at a local time of day."""

    forms = ("add_block",)
    kind: Literal["add_block"] = "add_block"
    title: str
    start: time
    minutes: int
    task_kind: TaskKind | None = Field(None, validation_alias=AliasChoices("task_kind", "depth"))
    notes: str = ""

    def to_patch(self, session: Session, plan: TBPlan) -> Patch:
        try:
            event = TBEvent(
                name=self.title,
                description=self.notes,
                type=(self.task_kind or TaskKind.HABIT).type,
                timing=fixed_start(session, instant_in(session, self.start), self.minutes),
                key=mint_key("b", self.command_id),
            )
        except ValidationError as error:
            raise BadInput(first_mistake(error).sentence) from None
        return Patch(ops=(ops.AddBlocks(events=(event,), after=plan.events[-1].block_key if plan.events else None),))


class EditBlock(BlockCommand):
    """Stage 4: change the given parts of a block; ``None`` leaves a part as it is."""

    forms = ("edit_block",)
    kind: Literal["edit_block"] = "edit_block"
    key: str
    title: str | None = None
    notes: str | None = None
    start: time | None = None
    minutes: int | None = None

    def to_patch(self, session: Session, plan: TBPlan) -> Patch:
        block = resolved_block(plan, self.key)
        start = block.start if self.start is None else instant_in(session, self.start)
        minutes = block.minutes if self.minutes is None else self.minutes
        moved = start.astimezone(UTC) != block.start.astimezone(UTC) or minutes != block.minutes
        timing = fixed_start(session, start, minutes) if moved else None
        return Patch(ops=(ops.UpdateBlock(key=self.key, name=self.title, description=self.notes, timing=timing),))

    def find_pushing(self, placed: AbstractSet[str]) -> AbstractSet[str]:
        del placed
        return {self.key}


class RemoveBlock(BlockCommand):
    action: ClassVar = CardAction("block.remove", "Remove", read_target("key"))
    kind: Literal["remove_block"] = "remove_block"
    key: str

    def to_patch(self, session: Session, plan: TBPlan) -> Patch:
        del session, plan
        return Patch(ops=(ops.RemoveBlock(key=self.key),))


class ShiftBlock(BlockCommand):
    """Stage 4: move a block earlier or later, by minutes."""

    earlier: ClassVar = CardAction("block.earlier", "15 min earlier", read_target("key", minutes=-SHIFT_MINUTES))
    later: ClassVar = CardAction("block.later", "15 min later", read_target("key", minutes=SHIFT_MINUTES))
    kind: Literal["shift_block"] = "shift_block"
    key: str
    minutes: int

    def to_patch(self, session: Session, plan: TBPlan) -> Patch:
        block = resolved_block(plan, self.key)
        start = block.start.astimezone(UTC) + timedelta(minutes=self.minutes)
        return Patch(ops=(ops.UpdateBlock(key=self.key, timing=fixed_start(session, start, block.minutes)),))

    def find_pushing(self, placed: AbstractSet[str]) -> AbstractSet[str]:
        del placed
        return {self.key}


class SwapBlock(BlockCommand):
    """Stage 4: swap a block with the one before (-1) or after (+1) it."""

    up: ClassVar = CardAction("block.swap_up", "Swap with the one before", read_target("key", direction=-1))
    down: ClassVar = CardAction("block.swap_down", "Swap with the next", read_target("key", direction=1))
    kind: Literal["swap_block"] = "swap_block"
    key: str
    direction: Literal[-1, 1]

    def to_patch(self, session: Session, plan: TBPlan) -> Patch:
        chain = by_time(plan)
        place = next((i for i, b in enumerate(chain) if b.key == self.key), None)
        if place is None:
            raise PatchInvalid(_(GONE))
        if not 0 <= place + self.direction < len(chain):
            name = chain[place].event.name
            raise BadInput(
                _("“{name}” is the first block of the day, so there is none to swap with.", name=name)
                if self.direction < 0
                else _("“{name}” is the last block of the day, so there is none to swap with.", name=name)
            )
        pair = (chain[place], chain[place + self.direction])
        early, late = sorted(pair, key=lambda b: (b.start.astimezone(UTC), b.index))
        late_start = late.end.astimezone(UTC) - early.duration
        return Patch(
            ops=(
                ops.UpdateBlock(key=late.key, timing=fixed_start(session, early.start, late.minutes)),
                ops.UpdateBlock(key=early.key, timing=fixed_start(session, late_start, early.minutes)),
            )
        )


class Replan(PlanCommandBase):
    """Stages 4 and 5: report how the day went so far, and refit the rest of it as one change.

    Blocks are given by key. ``late`` makes the current block that many minutes longer, or else delays the next block by
    as much; 0 means that the current block begins only now. ``missed`` blocks should have been done and are not.
    ``done`` blocks are done, and with the last part of a task the task. The tasks of the blocks in ``not_today`` wait
    for another day. Without any of these, the rest of the day is only refitted.
    """

    running_late: ClassVar = CardAction("replan.late", "Running late", read_value("late"))
    done_already: ClassVar = CardAction("replan.done", "Done already", lambda click: {"done": (click.value,)})
    put_off: ClassVar = CardAction("replan.not_today", "Not today", lambda click: {"not_today": (click.value,)})
    refit: ClassVar = CardAction("replan.refit", "Refit the rest")
    forms = ("replan",)
    kind: Literal["replan"] = "replan"
    late: int | None = Field(None, ge=0, le=12 * 60)
    missed: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    not_today: tuple[str, ...] = ()


class MovePlan(PlanCommandBase):
    """Stages 4 and 5: move what is left of the plan, with its tasks, to another day in one step.

    With ``join`` the tasks go into the plan that the other day has already.
    """

    forms = ("move_plan",)
    kind: Literal["move_plan"] = "move_plan"
    day: Date
    join: bool = False


class RestoreChange(PlanCommandBase):
    """Stage 4: make the change again that was undone last."""

    action: ClassVar = CardAction("plan.restore", "Restore last update")
    kind: Literal["restore_change"] = "restore_change"


class ApplyFix(BlockCommand):
    """Stage 4: apply a suggested fix by its id.

    Nothing is done when the fix no longer helps.
    """

    action: ClassVar = CardAction("plan.fix", read=read_target("fix"))
    kind: Literal["apply_fix"] = "apply_fix"
    fix: str

    def to_patch(self, session: Session, plan: TBPlan) -> Patch:
        del plan
        return pick_fix(session, self.fix, self.at)


class ApprovedChange(Value):
    """Plan before and after a change, as the person approved it; ``proposal`` is the id of an agent's proposal."""

    before: TBPlan
    after: TBPlan
    proposal: str = ""


class ApplyPatch(BlockCommand):
    """Stage 4: apply several changes at once, read from words by a model or proposed by a program.

    With ``approved``, the change is refused unless it does exactly what the person approved.
    """

    kind: Literal["apply_patch"] = "apply_patch"
    patch: Patch
    approved: ApprovedChange | None = None

    def to_patch(self, session: Session, plan: TBPlan) -> Patch:
        del session, plan
        return self.patch

    def find_pushing(self, placed: AbstractSet[str]) -> AbstractSet[str]:
        return placed


class ExplainBlock(SessionCommandBase):
    """Stages 3 to 5: explain the place of a block."""

    action: ClassVar = CardAction("block.why", "Why here?", read_value("key"))
    kind: Literal["explain_block"] = "explain_block"
    key: str


PlanCommand = (
    AddBlock
    | EditBlock
    | RemoveBlock
    | ShiftBlock
    | SwapBlock
    | ApplyFix
    | ExplainBlock
    | ApplyPatch
    | Replan
    | MovePlan
    | RestoreChange
)


Side = Literal["calendar", "plan"]


class SetCalendarWrite(SessionCommandBase):
    """Set when blocks are written to the calendar, in this session and the person's next ones (K1)."""

    action: ClassVar = CardAction("set_calendar_write", "Write to calendar", read_value("when"))
    kind: Literal["set_calendar_write"] = "set_calendar_write"
    when: CalendarWrite


class ShowPreview(SessionCommandBase):
    """Show what would be written to the calendar now."""

    action: ClassVar = CardAction("show_preview", "Preview")
    is_view = True
    kind: Literal["show_preview"] = "show_preview"


class HidePreview(SessionCommandBase):
    action: ClassVar = CardAction("hide_preview", "Close preview")
    is_view = True
    kind: Literal["hide_preview"] = "hide_preview"


class ShowHistory(SessionCommandBase):
    """Show the writes of the day; ``older`` lists more of them."""

    action: ClassVar = CardAction("show_history", "History")
    show_older: ClassVar = CardAction("show_older_history", "Show older", give(older=True))
    is_view = True
    kind: Literal["show_history"] = "show_history"
    older: bool = False


class HideHistory(SessionCommandBase):
    action: ClassVar = CardAction("hide_history", "Close history")
    is_view = True
    kind: Literal["hide_history"] = "hide_history"


def _read_history_row(click: Click) -> Fields:
    """Read the write that a history row is about, and the newest write when the row was listed."""
    transaction, _, newest = click.target.partition(" ")
    return {"transaction": transaction, "newest": newest}


class UndoWrite(SessionCommandBase):
    """Undo a write in the day's history, and the writes after it.

    ``newest`` is the newest write that the history showed. If there is a newer one by now, nothing is done.
    """

    action: ClassVar = CardAction("undo_write", "Undo", _read_history_row)
    kind: Literal["undo_write"] = "undo_write"
    transaction: str
    newest: str


class RedoWrite(SessionCommandBase):
    """Undo an undo in the day's history, and the writes after it.

    ``newest`` is as in :class:`UndoWrite`.
    """

    action: ClassVar = CardAction("redo_write", "Restore", _read_history_row)
    kind: Literal["redo_write"] = "redo_write"
    transaction: str
    newest: str


def read_question_target(target: str) -> dict[str, str]:
    """Read the fields of a question from a button's target.

    The target is that of one question (:func:`fateforger.session.conflicts.question_target`), or the token of all
    open ones.
    """
    topic, dot, rest = target.partition(".")
    if not dot:
        return {"seen": target}
    seen, _, key = rest.partition(".")
    return {"topic": topic, "seen": seen, "key": key}


def _read_question(keep: Side, click: Click) -> Fields:
    return {"keep": keep, **read_question_target(click.target)}


class ResolveConflict(PlanCommandBase):
    """Stages 4 and 5: decide which side counts where both the person and the plan changed something.

    ``key`` and ``topic`` name the question; without them the answer is for all open ones. ``seen`` is the token of
    the button (:func:`fateforger.session.conflicts.question_token`): an answer to a question that has changed since is
    not carried out.
    """

    keep_calendar: ClassVar = CardAction("conflict.keep_calendar", "Keep calendar", partial(_read_question, "calendar"))
    keep_plan: ClassVar = CardAction("conflict.keep_plan", "Keep plan", partial(_read_question, "plan"))
    kind: Literal["resolve_conflict"] = "resolve_conflict"
    keep: Side
    key: str | None = None
    topic: Topic | None = None
    seen: str | None = None


class RefreshCalendar(Value):
    """Read the calendar again, because it seems to differ from what the session shows.

    No person asked for it. It queues with the person's commands, but does not count as activity of theirs.
    """

    kind: Literal["look_again"] = "look_again"
    command_id: str
    session_id: str


CalendarCommand = (
    ShowHistory | HideHistory | UndoWrite | RedoWrite | ShowPreview | HidePreview | SetCalendarWrite | ResolveConflict
)
