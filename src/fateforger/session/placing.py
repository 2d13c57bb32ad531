"""Where blocks stand once a patch is applied, and how those in the way make room."""

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


def applied(plan: TBPlan, patch: ops.Patch) -> TBPlan:
    """The patch applied, refusing only overlaps that were not there before. Raises ``UserError``."""
    after = unchecked(plan, patch)
    known = {(a.key, b.key) for a, b in overlaps(resolve(plan))}
    for first, second in overlaps(resolve(after)):
        if (first.key, second.key) not in known and (second.key, first.key) not in known:
            raise PlanInvalid(f"{overlap_sentence(first, second)} {_REMEDY}", events=(first.index, second.index))
    return after


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
    raise PatchInvalid(GONE)


def fixed_start(session: Session, start: datetime, minutes: int) -> FixedStart:
    """A start and a length on the session's day. Raises :class:`BadInput` for a start that leaves it."""
    first, last = day_window(session.date, session.tz)
    if not first.astimezone(UTC) <= start.astimezone(UTC) < last.astimezone(UTC):
        raise BadInput("That would leave the day you are planning; choose a time on it or in the night after it.")
    try:
        return FixedStart(start=clock_at(start, session.date, session.tz), duration=timedelta(minutes=minutes))
    except ValidationError as error:
        raise BadInput(first_mistake(error).sentence) from None


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
            timing = fixed_start(session, start, block.minutes)
        except BadInput:
            free_from = None
            continue
        pushed.append(ops.UpdateBlock(key=block.key, timing=timing))
        free_from = start + block.duration
    return ops.Patch(ops=(*patch.ops, *pushed))


def placed_blocks(session: Session, plan: TBPlan, patch: ops.Patch) -> AbstractSet[str]:
    """The blocks that a patch puts somewhere: the new ones, and those with another time than before. Raises
    ``UserError`` for one that leaves the day."""
    was = {block.key: (block.start, block.end) for block in resolve(plan)}
    after = [block for block in resolve(unchecked(plan, patch)) if was.get(block.key) != (block.start, block.end)]
    for block in after:
        fixed_start(session, block.start, block.minutes)
    return {block.key for block in after if block.event.type is not ET.BACKGROUND}


def _past(busy: list[tuple[datetime, datetime]], start: datetime, length: timedelta) -> datetime:
    """The first moment from ``start`` on at which ``length`` fits between meetings."""
    for begin, end in sorted(busy):
        if begin < start + length and start < end:
            start = end
    return start
