"""A change of Stage 4 that does not fit as it is: the other blocks get out of its way by the fewest and smallest moves,
so that nothing overlaps and each must is kept. What the change itself puts somewhere stays there. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime

from fateforger.constraints.blocks import Breach
from fateforger.constraints.kinds import Necessity, RuleKind
from fateforger.drafting.instance import Immovable, Instance, Pin
from fateforger.drafting.mend import mended
from fateforger.drafting.retiming import Place, place_of, retimed
from fateforger.ops.apply import apply_op
from fateforger.plan import ET, Resolved, TBPlan, overlaps, resolve
from fateforger.session.frame import frame_mistake
from fateforger.session.keeping import against, broken, day_with
from fateforger.session.meetings import busy_meetings
from fateforger.session.model import Session
from fateforger.session.recall import following

STEPS = 1_500
"""A person waits for it."""
_TIMES = frozenset({RuleKind.PREFER_WINDOW, RuleKind.AVOID_WINDOW, RuleKind.FIXED_BEDTIME, RuleKind.MIN_SLEEP})
Pair = frozenset[str]


def made_to_fit(
    session: Session, before: TBPlan, after: TBPlan, placed: AbstractSet[str], at: datetime
) -> TBPlan | None:
    """``after`` with blocks other than the ``placed`` ones moved, or ``None`` where that cannot be had. What was in
    trouble before the change stays as it was, and so does what began before ``at``. Raises ``PlanInvalid`` when the
    blocks cannot be put on the time line."""
    if frame_mistake(session) is not None:
        return None
    blocks = [block for block in resolve(after) if block.event.type is not ET.BACKGROUND]
    musts = [item for item in following(session, after).applicable if item.record.necessity is Necessity.MUST]
    known = broken(session, musts, before)
    stuck = _stuck(session, before, blocks) | _misplaced(known)
    loose = after.replace(event for event in after.events if event.block_key not in stuck)
    gone = {breach.item.uid for breach in known if not _about_times(breach)}
    day = day_with(session, [item for item in musts if item.uid not in gone])
    instance = _with_standing(day, [block for block in blocks if block.key in stuck])
    pins = tuple(Pin(key=block.key) for block in blocks if block.key in placed - stuck)
    result = mended(loose, instance.model_copy(update={"pinned": pins, "now": at}), steps=STEPS)
    if not result.moved:
        return None
    lengths = {block.key: place_of(block).duration for block in blocks}
    places = {each.key: Place(each.after.astimezone(UTC), lengths[each.key]) for each in result.moved}
    events = after.events
    for op in retimed(after, places):
        events, _ = apply_op(events, op)
    fitting = after.replace(events)
    return fitting if holds(session, before, fitting) else None


def holds(session: Session, before: TBPlan, after: TBPlan) -> bool:
    """Whether a change brings no overlap and breaks no must that was not there before."""
    fresh = _pairs(overlaps(resolve(after))) - _pairs(overlaps(resolve(before)))
    return not fresh and not against(session, before, after, Necessity.MUST)


def _stuck(session: Session, before: TBPlan, blocks: list[Resolved]) -> set[str]:
    """Blocks that nobody asked to be mended: in a meeting, or overlapping as they did before."""
    known = _pairs(overlaps(resolve(before)))
    now = _pairs(overlaps(blocks))
    return {b.key for b in blocks if _in_meeting(session, b)} | {key for pair in known & now for key in pair}


def _misplaced(known: Iterable[Breach]) -> set[str]:
    """Blocks at times at which they must not be, before the change already."""
    return {key for breach in known if _about_times(breach) for key in breach.keys}


def _about_times(breach: Breach) -> bool:
    """Whether it is about when a block is; the others can be kept where it is broken."""
    return breach.item.record.payload.rule_kind in _TIMES


def _in_meeting(session: Session, block: Resolved) -> bool:
    start, end = block.start.astimezone(UTC), block.end.astimezone(UTC)
    return any(m.start.astimezone(UTC) < end and start < m.end.astimezone(UTC) for m in busy_meetings(session))


def _pairs(found: Iterable[tuple[Resolved, Resolved]]) -> set[Pair]:
    return {frozenset((one.key, two.key)) for one, two in found}


def _with_standing(day: Instance, stuck: Iterable[Resolved]) -> Instance:
    standing = tuple(
        Immovable(id=f"stays-{n}", title=b.event.name[:300], start=b.start, end=b.end, type=b.event.type)
        for n, b in enumerate(stuck, 1)
    )
    return day.model_copy(update={"immovables": (*day.immovables, *standing)})
