"""Turn edits of blocks into patches, apply them, and describe the result (S49, S51)."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import assert_never

from pydantic import ValidationError

from fateforger import ops
from fateforger.constraints.kinds import Necessity
from fateforger.errors import BadInput, PatchInvalid, PlanInvalid
from fateforger.plan import ET, FixedStart, TBEvent, TBPlan, resolve
from fateforger.plan.mistakes import first_mistake
from fateforger.session import commands
from fateforger.session.advice import pick_fix
from fateforger.session.differences import changed_blocks, summarize_differences
from fateforger.session.frame import instant_in
from fateforger.session.keeping import new_violations
from fateforger.session.keys import mint_key
from fateforger.session.mending import fit_change
from fateforger.session.model import Depth, Session
from fateforger.session.placing import (
    GONE,
    apply_patch,
    apply_unchecked,
    by_time,
    fixed_start,
    placed_blocks,
    push_later_blocks,
    resolved_block,
    sort_by_time,
)

BlockCommand = (
    commands.AddBlock
    | commands.EditBlock
    | commands.RemoveBlock
    | commands.ShiftBlock
    | commands.SwapBlock
    | commands.ApplyPatch
    | commands.ApplyFix
)
_TYPE = {Depth.DEEP: ET.DEEP_WORK, Depth.SHALLOW: ET.SHALLOW_WORK, None: ET.HABIT}
NOW_IT_WOULD = "Now it would do this:"


@dataclass(frozen=True, slots=True)
class EditResult:
    """A plan before and after a change; ``sentence`` describes the difference."""

    before: TBPlan
    after: TBPlan
    sentence: str

    @property
    def has_changed(self) -> bool:
        return self.after != self.before


def apply_edit(session: Session, command: BlockCommand, *, mend: bool = True) -> EditResult:
    """Apply a change to the session's plan.

    Blocks that overlapped before (the person moved one on the calendar) do not block the change. If the change does
    not fit, or makes other blocks break a must, those are moved, unless ``mend`` is false. If no repair is found, an
    overlap is refused and a broken must is accepted.

    Raises ``UserError`` with a remedy; nothing is changed then.
    """
    before = session.plan or TBPlan(date=session.date, tz=session.tz)
    patch = patch_for(session, before, command)
    if isinstance(command, commands.ApplyFix):
        after = sort_by_time(apply_patch(before, patch))
        return EditResult(before, after, summarize_differences(before, after))
    after, aside = _carry_out(session, before, command, patch, mend=mend)
    if isinstance(command, commands.ApplyPatch) and command.approved is not None:
        _require_approved(command.approved, before, after)
    return EditResult(before, after, summarize_differences(before, after, aside))


def _carry_out(
    session: Session, before: TBPlan, command: BlockCommand, patch: ops.Patch, *, mend: bool
) -> tuple[TBPlan, AbstractSet[str]]:
    """Return the changed plan, and the blocks moved to make it fit, apart from those only pushed."""
    placed = placed_blocks(session, before, patch)
    pushing = patch
    match command:
        case commands.EditBlock(key=key) | commands.ShiftBlock(key=key):
            pushing = push_later_blocks(session, before, patch, {key})
        case commands.ApplyPatch():
            pushing = push_later_blocks(session, before, patch, placed)
        case commands.AddBlock() | commands.RemoveBlock() | commands.SwapBlock() | commands.ApplyFix():
            pass
        case _:
            assert_never(command)
    overlap: PlanInvalid | None = None
    try:
        after = sort_by_time(apply_patch(before, pushing))
        if not mend or not new_violations(session, before, after, Necessity.MUST):
            return after, frozenset()
    except PlanInvalid as error:
        if not mend:
            raise
        overlap = error
    raw = apply_unchecked(before, patch)
    fitting = fit_change(session, before, raw, placed, command.at)
    if fitting is not None:
        return sort_by_time(fitting), _moved_keys(raw, fitting)
    if overlap is not None:
        raise overlap
    return after, frozenset()


def _moved_keys(before: TBPlan, after: TBPlan) -> AbstractSet[str]:
    was = {block.key: block.start for block in resolve(before)}
    return {block.key for block in resolve(after) if was[block.key] != block.start}


def patch_for(session: Session, plan: TBPlan, command: BlockCommand) -> ops.Patch:
    """Return the patch of a command.

    Raises :class:`PatchInvalid` for a block that does not exist.
    """
    match command:
        case commands.AddBlock():
            event = _event(
                name=command.title,
                description=command.notes,
                type=_TYPE[command.depth],
                timing=fixed_start(session, instant_in(session, command.start), command.minutes),
                key=mint_key("b", command.command_id),
            )
            return ops.Patch(ops=(ops.AddBlocks(events=(event,), after=_last(plan)),))
        case commands.RemoveBlock(key=key):
            return ops.Patch(ops=(ops.RemoveBlock(key=key),))
        case commands.EditBlock():
            return ops.Patch(ops=(_update(session, plan, command),))
        case commands.ShiftBlock(key=key, minutes=minutes):
            block = resolved_block(plan, key)
            start = block.start.astimezone(UTC) + timedelta(minutes=minutes)
            return ops.Patch(ops=(ops.UpdateBlock(key=key, timing=fixed_start(session, start, block.minutes)),))
        case commands.SwapBlock(key=key, direction=direction):
            return _swap(session, plan, key, direction)
        case commands.ApplyPatch(patch=patch):
            return patch
        case commands.ApplyFix(fix=fix, at=at):
            return pick_fix(session, fix, at)
        case _:
            assert_never(command)


def _require_approved(approved: commands.ApprovedChange, before: TBPlan, after: TBPlan) -> None:
    """Raise :class:`PatchInvalid` if the patch would now do something else than was approved."""
    if changed_blocks(approved.before, approved.after) != changed_blocks(before, after):
        would = summarize_differences(before, after)
        raise PatchInvalid(f"Your plan has changed since that was proposed, so I did nothing. {NOW_IT_WOULD} {would}")


def _update(session: Session, plan: TBPlan, command: commands.EditBlock) -> ops.UpdateBlock:
    block = resolved_block(plan, command.key)
    start = block.start if command.start is None else instant_in(session, command.start)
    minutes = block.minutes if command.minutes is None else command.minutes
    moved = start.astimezone(UTC) != block.start.astimezone(UTC) or minutes != block.minutes
    return ops.UpdateBlock(
        key=command.key,
        name=command.title,
        description=command.notes,
        timing=fixed_start(session, start, minutes) if moved else None,
    )


def _swap(session: Session, plan: TBPlan, key: str, direction: int) -> ops.Patch:
    chain = by_time(plan)
    place = next((i for i, b in enumerate(chain) if b.key == key), None)
    if place is None:
        raise PatchInvalid(GONE)
    if not 0 <= place + direction < len(chain):
        which = "first" if direction < 0 else "last"
        raise BadInput(f"“{chain[place].event.name}” is the {which} block of the day, so there is none to swap with.")
    early, late = sorted((chain[place], chain[place + direction]), key=lambda b: (b.start.astimezone(UTC), b.index))
    late_start = late.end.astimezone(UTC) - early.duration
    return ops.Patch(
        ops=(
            ops.UpdateBlock(key=late.key, timing=fixed_start(session, early.start, late.minutes)),
            ops.UpdateBlock(key=early.key, timing=fixed_start(session, late_start, early.minutes)),
        )
    )


def _event(*, name: str, description: str, type: ET, timing: FixedStart, key: str) -> TBEvent:  # noqa: A002  the field's name
    try:
        return TBEvent(name=name, description=description, type=type, timing=timing, key=key)
    except ValidationError as error:
        raise BadInput(first_mistake(error).sentence) from None


def _last(plan: TBPlan) -> str | None:
    return plan.events[-1].block_key if plan.events else None
