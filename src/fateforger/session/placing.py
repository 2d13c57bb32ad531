"""Apply patches and resolve the new places of blocks; move blocks that are in the way."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from datetime import UTC, datetime, timedelta

from pydantic import ValidationError

from fateforger import ops
from fateforger.drafting import clock_at
from fateforger.errors import BadInput, PatchInvalid, PlanInvalid
from fateforger.ops.apply import apply_op
from fateforger.plan import ET, FixedStart, Resolved, TBPlan, overlaps, resolve
from fateforger.plan.mistakes import first_mistake
from fateforger.plan.resolve import overlap_sentence
from fateforger.plan.timing import is_anchored
from fateforger.session.frame import day_window
from fateforger.session.meetings import busy_meetings
from fateforger.session.model import Session

GONE = "That block is not in the plan any more."
_REMEDY = "Move one of them first, make one shorter, or let them trade places."


def apply_patch(plan: TBPlan, patch: ops.Patch) -> TBPlan:
    """Apply a patch, refusing only new overlaps.

    Raises ``UserError``.
    """
    after = apply_unchecked(plan, patch)
    known = {(a.key, b.key) for a, b in overlaps(resolve(plan))}
    for first, second in overlaps(resolve(after)):
        if (first.key, second.key) not in known and (second.key, first.key) not in known:
            raise PlanInvalid(f"{overlap_sentence(first, second)} {_REMEDY}", events=(first.index, second.index))
    return after


def apply_unchecked(plan: TBPlan, patch: ops.Patch) -> TBPlan:
    """Apply a patch, accepting overlaps.

    Raises ``UserError`` for a block that does not exist, or a mistake in one.
    """
    events = plan.events
    for op in patch.ops:
        events, _ = apply_op(events, op)
    try:
        return plan.replace(events)
    except ValidationError as error:
        raise PlanInvalid(first_mistake(error).sentence) from None


def sort_by_time(plan: TBPlan) -> TBPlan:
    """Return the plan with its blocks in time order, if each has a time of its own; else unchanged."""
    if not all(is_anchored(e.timing) for e in plan.events):
        return plan
    order = sorted(resolve(plan), key=lambda b: (b.start.astimezone(UTC), b.index))
    return plan if [b.index for b in order] == list(range(len(order))) else plan.replace(b.event for b in order)


def by_time(plan: TBPlan) -> tuple[Resolved, ...]:
    """Return the blocks as instants, the earliest first."""
    return tuple(sorted(resolve(plan), key=lambda b: (b.start.astimezone(UTC), b.index)))


def resolved_block(plan: TBPlan, key: str) -> Resolved:
    """Return one block as instants.

    Raises :class:`PatchInvalid` when it is not in the plan any more.
    """
    for block in resolve(plan):
        if block.key == key:
            return block
    raise PatchInvalid(GONE)


def fixed_start(session: Session, start: datetime, minutes: int) -> FixedStart:
    """Return a start and a length on the session's day.

    Raises :class:`BadInput` for a start outside it.
    """
    first, last = day_window(session.date, session.tz)
    if not first.astimezone(UTC) <= start.astimezone(UTC) < last.astimezone(UTC):
        raise BadInput("That would leave the day you are planning; choose a time on it or in the night after it.")
    try:
        return FixedStart(start=clock_at(start, session.date, session.tz), duration=timedelta(minutes=minutes))
    except ValidationError as error:
        raise BadInput(first_mistake(error).sentence) from None


def push_later_blocks(session: Session, plan: TBPlan, patch: ops.Patch, placed: AbstractSet[str]) -> ops.Patch:
    """Return the patch, extended by moves of later blocks that the ``placed`` ones run into.

    Each of those moves back just as far as necessary, around meetings and placed blocks. A block stays if it began
    before the one that it is in the way of, or if there is no room left; :func:`apply_patch` then reports the overlap.
    """
    moved = sorted(by_time(apply_unchecked(plan, patch)), key=lambda b: (b.start.astimezone(UTC), b.key not in placed))
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
        start = _next_fit(taken, free_from, block.duration)
        try:
            timing = fixed_start(session, start, block.minutes)
        except BadInput:
            free_from = None
            continue
        pushed.append(ops.UpdateBlock(key=block.key, timing=timing))
        free_from = start + block.duration
    return ops.Patch(ops=(*patch.ops, *pushed))


def placed_blocks(session: Session, plan: TBPlan, patch: ops.Patch) -> AbstractSet[str]:
    """Return the keys of the blocks that a patch adds or moves.

    Raises ``UserError`` for one that leaves the day.
    """
    was = {block.key: (block.start, block.end) for block in resolve(plan)}
    after = [block for block in resolve(apply_unchecked(plan, patch)) if was.get(block.key) != (block.start, block.end)]
    for block in after:
        fixed_start(session, block.start, block.minutes)
    return {block.key for block in after if block.event.type is not ET.BACKGROUND}


def _next_fit(busy: list[tuple[datetime, datetime]], start: datetime, length: timedelta) -> datetime:
    """Return the first instant from ``start`` on at which ``length`` fits between meetings."""
    for begin, end in sorted(busy):
        if begin < start + length and start < end:
            start = end
    return start
