"""Changes a person makes to blocks, as patches, and what they did in one sentence (S49, S51)."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import assert_never

from pydantic import ValidationError

from fateforger import ops
from fateforger.constraints.kinds import Necessity
from fateforger.drafting import clock_at
from fateforger.errors import BadInput, PatchInvalid, PlanInvalid
from fateforger.ops.apply import apply_op
from fateforger.plan import ET, FixedStart, Resolved, TBEvent, TBPlan, overlaps, resolve
from fateforger.plan.mistakes import first_mistake
from fateforger.plan.resolve import overlap_sentence
from fateforger.plan.timing import is_anchored
from fateforger.session import commands
from fateforger.session.advice import picked
from fateforger.session.frame import day_window, instant_in
from fateforger.session.keeping import against
from fateforger.session.keys import minted
from fateforger.session.meetings import busy_meetings
from fateforger.session.mending import made_to_fit
from fateforger.session.model import Depth, Session

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
_REMEDY = "Move one of them first, make one shorter, or let them trade places."


@dataclass(frozen=True, slots=True)
class Edited:
    """The plan before and after a change; ``sentence`` says what became different."""

    before: TBPlan
    after: TBPlan
    sentence: str

    @property
    def changed(self) -> bool:
        return self.after != self.before


def edited(session: Session, command: BlockCommand, *, mend: bool = True) -> Edited:
    """Carry out a change to the session's plan, or raise ``UserError`` with a remedy and change nothing. Blocks that
    overlapped before (the person moved one on the calendar) do not stand in the way. What does not fit, or makes others
    break a must, is mended by moving those others, unless that is not wanted; what cannot be mended is as it was
    asked for, or refused when it overlaps."""
    before = session.plan or TBPlan(date=session.date, tz=session.tz)
    patch = patch_for(session, before, command)
    if isinstance(command, commands.ApplyFix):
        after = in_time_order(applied(before, patch))
        return Edited(before, after, told_difference(before, after))
    after, aside = _carried_out(session, before, command, patch, mend=mend)
    if isinstance(command, commands.ApplyPatch) and command.approved is not None:
        _only_what_was_approved(command.approved, before, after)
    return Edited(before, after, told_difference(before, after, aside))


def _carried_out(
    session: Session, before: TBPlan, command: BlockCommand, patch: ops.Patch, *, mend: bool
) -> tuple[TBPlan, AbstractSet[str]]:
    """The plan with the change, and the blocks that were moved to make it fit, beyond those that are just pushed."""
    placed = _placed(session, before, patch)
    pushing = patch
    match command:
        case commands.EditBlock(key=key) | commands.ShiftBlock(key=key):
            pushing = making_way(session, before, patch, {key})
        case commands.ApplyPatch():
            pushing = making_way(session, before, patch, placed)
        case commands.AddBlock() | commands.RemoveBlock() | commands.SwapBlock() | commands.ApplyFix():
            pass
        case _:
            assert_never(command)
    overlap: PlanInvalid | None = None
    try:
        after = in_time_order(applied(before, pushing))
        if not mend or not against(session, before, after, Necessity.MUST):
            return after, frozenset()
    except PlanInvalid as error:
        if not mend:
            raise
        overlap = error
    raw = unchecked(before, patch)
    fitting = made_to_fit(session, before, raw, placed, command.at)
    if fitting is not None:
        return in_time_order(fitting), _moved(raw, fitting)
    if overlap is not None:
        raise overlap
    return after, frozenset()


def _moved(before: TBPlan, after: TBPlan) -> AbstractSet[str]:
    was = {block.key: block.start for block in resolve(before)}
    return {block.key for block in resolve(after) if was[block.key] != block.start}


def patch_for(session: Session, plan: TBPlan, command: BlockCommand) -> ops.Patch:
    """The patch that a command stands for. Raises :class:`PatchInvalid` for a block that is not there."""
    match command:
        case commands.AddBlock():
            event = _event(
                name=command.title,
                description=command.notes,
                type=_TYPE[command.depth],
                timing=_fixed(session, instant_in(session, command.start), command.minutes),
                key=minted("b", command.command_id),
            )
            return ops.Patch(ops=(ops.AddBlocks(events=(event,), after=_last(plan)),))
        case commands.RemoveBlock(key=key):
            return ops.Patch(ops=(ops.RemoveBlock(key=key),))
        case commands.EditBlock():
            return ops.Patch(ops=(_update(session, plan, command),))
        case commands.ShiftBlock(key=key, minutes=minutes):
            block = resolved_block(plan, key)
            start = block.start.astimezone(UTC) + timedelta(minutes=minutes)
            return ops.Patch(ops=(ops.UpdateBlock(key=key, timing=_fixed(session, start, block.minutes)),))
        case commands.SwapBlock(key=key, direction=direction):
            return _swap(session, plan, key, direction)
        case commands.ApplyPatch(patch=patch):
            return patch
        case commands.ApplyFix(fix=fix, at=at):
            return picked(session, fix, at)
        case _:
            assert_never(command)


def applied(plan: TBPlan, patch: ops.Patch) -> TBPlan:
    """The patch applied, refusing only overlaps that were not there before. Raises ``UserError``."""
    after = unchecked(plan, patch)
    known = {(a.key, b.key) for a, b in overlaps(resolve(plan))}
    for first, second in overlaps(resolve(after)):
        if (first.key, second.key) not in known and (second.key, first.key) not in known:
            raise PlanInvalid(f"{overlap_sentence(first, second)} {_REMEDY}", events=(first.index, second.index))
    return after


def _only_what_was_approved(approved: commands.Approved, before: TBPlan, after: TBPlan) -> None:
    """Raises :class:`PatchInvalid` when the same patch would do something else than what the person saw."""
    if changes(approved.before, approved.after) != changes(before, after):
        would = told_difference(before, after)
        raise PatchInvalid(f"Your plan has changed since that was proposed, so I did nothing. {NOW_IT_WOULD} {would}")


def changes(before: TBPlan, after: TBPlan) -> dict[str, tuple[object, object]]:
    """Each block that is different, as it was and as it is, with its time resolved; ``None`` where it is not there."""
    was, now = ({b.key: _seen(b) for b in resolve(plan)} for plan in (before, after))
    return {key: pair for key in {**was, **now} if (pair := (was.get(key), now.get(key)))[0] != pair[1]}


def _seen(block: Resolved) -> tuple[str, str, ET, datetime, datetime]:
    event = block.event
    return event.name, event.description, event.type, block.start.astimezone(UTC), block.end.astimezone(UTC)


def making_way(session: Session, plan: TBPlan, patch: ops.Patch, placed: AbstractSet[str]) -> ops.Patch:
    """The patch, and moves of the blocks behind the ``placed`` ones that those run into: each goes back just as far as
    it has to, around meetings and around what was placed. A block that began before the one it is in the way of stays,
    and so does one with no room left; :func:`applied` then says what is in the way."""
    moved = sorted(by_time(unchecked(plan, patch)), key=lambda b: (b.start.astimezone(UTC), b.key not in placed))
    taken = [(m.start.astimezone(UTC), m.end.astimezone(UTC)) for m in busy_meetings(session)]
    taken += [(b.start.astimezone(UTC), b.end.astimezone(UTC)) for b in moved if b.key in placed]
    pushed: list[ops.UpdateBlock] = []
    free_from: datetime | None = None
    for block in moved:
        start = block.start.astimezone(UTC)
        if block.key in placed:
            end = block.end.astimezone(UTC)
            free_from = end if free_from is None else max(free_from, end)
            continue
        if free_from is None or block.event.type is ET.BACKGROUND:
            continue
        if start >= free_from:
            free_from = None
            continue
        start = _past(taken, free_from, block.duration)
        try:
            timing = _fixed(session, start, block.minutes)
        except BadInput:
            free_from = None
            continue
        pushed.append(ops.UpdateBlock(key=block.key, timing=timing))
        free_from = start + block.duration
    return ops.Patch(ops=(*patch.ops, *pushed))


def _placed(session: Session, plan: TBPlan, patch: ops.Patch) -> AbstractSet[str]:
    """The blocks that a patch puts somewhere: the new ones, and those with another time than before. Raises
    ``UserError`` for one that leaves the day."""
    was = {block.key: (block.start, block.end) for block in resolve(plan)}
    after = [block for block in resolve(unchecked(plan, patch)) if was.get(block.key) != (block.start, block.end)]
    for block in after:
        _fixed(session, block.start, block.minutes)
    return {block.key for block in after if block.event.type is not ET.BACKGROUND}


def _past(busy: list[tuple[datetime, datetime]], start: datetime, length: timedelta) -> datetime:
    """The first moment from ``start`` on at which ``length`` fits between meetings."""
    for begin, end in sorted(busy):
        if begin < start + length and start < end:
            start = end
    return start


def unchecked(plan: TBPlan, patch: ops.Patch) -> TBPlan:
    """The patch applied, overlaps and all. Raises ``UserError`` for a block that is not there, or a mistake in one."""
    events = plan.events
    for op in patch.ops:
        events, _ = apply_op(events, op)
    try:
        return plan.replace(events)
    except ValidationError as error:
        raise PlanInvalid(first_mistake(error).sentence) from None


def in_time_order(plan: TBPlan) -> TBPlan:
    """The same blocks, listed as they happen, when each has a time of its own; otherwise as they are."""
    if not all(is_anchored(e.timing) for e in plan.events):
        return plan
    order = sorted(resolve(plan), key=lambda b: (b.start.astimezone(UTC), b.index))
    return plan if [b.index for b in order] == list(range(len(order))) else plan.replace(b.event for b in order)


def by_time(plan: TBPlan) -> tuple[Resolved, ...]:
    """The blocks on the time line, the earliest first."""
    return tuple(sorted(resolve(plan), key=lambda b: (b.start.astimezone(UTC), b.index)))


def resolved_block(plan: TBPlan, key: str) -> Resolved:
    """One block on the time line. Raises :class:`PatchInvalid` when it is not there any more."""
    for block in resolve(plan):
        if block.key == key:
            return block
    raise PatchInvalid("That block is not in the plan any more.")


def _update(session: Session, plan: TBPlan, command: commands.EditBlock) -> ops.UpdateBlock:
    block = resolved_block(plan, command.key)
    start = block.start if command.start is None else instant_in(session, command.start)
    minutes = block.minutes if command.minutes is None else command.minutes
    moved = start.astimezone(UTC) != block.start.astimezone(UTC) or minutes != block.minutes
    return ops.UpdateBlock(
        key=command.key,
        name=command.title,
        description=command.notes,
        timing=_fixed(session, start, minutes) if moved else None,
    )


def _swap(session: Session, plan: TBPlan, key: str, direction: int) -> ops.Patch:
    chain = by_time(plan)
    place = next((i for i, b in enumerate(chain) if b.key == key), None)
    if place is None:
        raise PatchInvalid("That block is not in the plan any more.")
    if not 0 <= place + direction < len(chain):
        which = "first" if direction < 0 else "last"
        raise BadInput(f"“{chain[place].event.name}” is the {which} block of the day, so there is none to swap with.")
    early, late = sorted((chain[place], chain[place + direction]), key=lambda b: (b.start.astimezone(UTC), b.index))
    late_start = late.end.astimezone(UTC) - early.duration
    return ops.Patch(
        ops=(
            ops.UpdateBlock(key=late.key, timing=_fixed(session, early.start, late.minutes)),
            ops.UpdateBlock(key=early.key, timing=_fixed(session, late_start, early.minutes)),
        )
    )


def _fixed(session: Session, start: datetime, minutes: int) -> FixedStart:
    first, last = day_window(session.date, session.tz)
    if not first.astimezone(UTC) <= start.astimezone(UTC) < last.astimezone(UTC):
        raise BadInput("That would leave the day you are planning; choose a time on it or in the night after it.")
    try:
        return FixedStart(start=clock_at(start, session.date, session.tz), duration=timedelta(minutes=minutes))
    except ValidationError as error:
        raise BadInput(first_mistake(error).sentence) from None


def _event(*, name: str, description: str, type: ET, timing: FixedStart, key: str) -> TBEvent:  # noqa: A002  the field's name
    try:
        return TBEvent(name=name, description=description, type=type, timing=timing, key=key)
    except ValidationError as error:
        raise BadInput(first_mistake(error).sentence) from None


def _last(plan: TBPlan) -> str | None:
    return plan.events[-1].block_key if plan.events else None


def told_difference(before: TBPlan, after: TBPlan, aside: AbstractSet[str] = frozenset()) -> str:
    """What became different, block by block, or that nothing did. Blocks ``aside`` were moved to make the rest fit."""
    return " ".join(differences(before, after, aside)) or "That changes nothing; the plan stays as it is."


def differences(before: TBPlan, after: TBPlan, aside: AbstractSet[str] = frozenset()) -> tuple[str, ...]:
    """A sentence for each block that became different."""
    was = {b.key: b for b in resolve(before)}
    now = {b.key: b for b in by_time(after)}
    parts = [f"“{b.event.name}” is out of the plan." for k, b in was.items() if k not in now]
    parts += [f"“{b.event.name}” is in, {span(b.start, b.end)}." for k, b in now.items() if k not in was]
    changed = [(was[k], b) for k, b in now.items() if k in was and _differs(was[k], b)]
    parts += [_difference(old, new) for old, new in changed if new.key not in aside]
    parts += [_made_room(old, new) for old, new in changed if new.key in aside]
    return tuple(parts)


def _differs(old: Resolved, new: Resolved) -> bool:
    return (old.start, old.end, old.event.name, old.event.description) != (
        new.start,
        new.end,
        new.event.name,
        new.event.description,
    )


def _difference(old: Resolved, new: Resolved) -> str:
    if (old.start, old.end) != (new.start, new.end):
        named = f"“{new.event.name}”" if old.event.name == new.event.name else f"“{new.event.name}” (new title)"
        return f"{named} is now {span(new.start, new.end)} (was {span(old.start, old.end)})."
    if old.event.name != new.event.name:
        return f"“{old.event.name}” is now called “{new.event.name}”."
    return f"“{new.event.name}” has new notes."


def _made_room(old: Resolved, new: Resolved) -> str:
    return f"To make it fit, “{new.event.name}” moves to {span(new.start, new.end)} (was {span(old.start, old.end)})."


def span(start: datetime, end: datetime) -> str:
    """``09:00-10:30``."""
    return f"{start:%H:%M}–{end:%H:%M}"
