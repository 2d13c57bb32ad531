"""Edits of blocks: their patches, the repair of what they displace, and when they are written (S49, S51)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import assert_never

from fateforger.drafting.instance import Immovable, Instance, Pin
from fateforger.drafting.solver import repair_plan
from fateforger.errors import PatchInvalid, PlanInvalid
from fateforger.memory.violations import ConstraintViolation
from fateforger.memory.vocabulary import Necessity, RuleKind
from fateforger.planning.patch import Patch, apply_op
from fateforger.planning.plan import ET, Resolved, TBPlan, overlaps, resolve
from fateforger.planning.task_details import BlockPlace, place_of, retime_blocks
from fateforger.session.checks import broken_constraints, day_with, new_violations
from fateforger.session.commands.plan import ApplyFix, ApplyPatch, ApprovedChange, BlockCommand
from fateforger.session.day import Meeting, busy_meetings, frame_mistake
from fateforger.session.draft import grade_session
from fateforger.session.model import Session
from fateforger.session.placement import (
    apply_patch,
    apply_unchecked,
    changed_blocks,
    placed_blocks,
    push_later_blocks,
    sort_by_time,
    summarize_differences,
)
from fateforger.session.recall import followed_constraints, musts
from fateforger.text import gettext as _
from fateforger.text import mark_message
from fateforger.values import replace

STEPS = 1_500
"""Limit on search steps, low because a person waits for the result."""
_TIMES = frozenset({RuleKind.PREFER_WINDOW, RuleKind.AVOID_WINDOW, RuleKind.FIXED_BEDTIME, RuleKind.MIN_SLEEP})
Pair = frozenset[str]


def fit_change(
    session: Session, before: TBPlan, after: TBPlan, placed: AbstractSet[str], at: datetime
) -> TBPlan | None:
    """Return ``after`` with blocks other than the ``placed`` ones moved, or ``None``.

    Blocks in violation before the change stay, and so do blocks that began before ``at``. Returns ``None`` when no
    repair is found. Raises ``PlanInvalid`` when the blocks cannot be resolved to instants.
    """
    if frame_mistake(session) is not None:
        return None
    blocks = [block for block in resolve(after) if block.event.type is not ET.BACKGROUND]
    musts = [
        item for item in followed_constraints(session, after).applicable if item.record.necessity is Necessity.MUST
    ]
    known = broken_constraints(session, musts, before)
    stuck = _stuck_keys(session, before, blocks) | _misplaced_keys(known)
    loose = after.replace(event for event in after.events if event.block_key not in stuck)
    gone = {breach.item.uid for breach in known if not _is_about_times(breach)}
    day = day_with(session, [item for item in musts if item.uid not in gone])
    instance = _with_immovables(day, [block for block in blocks if block.key in stuck])
    pins = tuple(Pin(key=block.key) for block in blocks if block.key in placed - stuck)
    result = repair_plan(loose, replace(instance, pinned=pins, now=at), steps=STEPS)
    if not result.moved:
        return None
    fitting = _with_starts(after, blocks, {each.key: each.after.astimezone(UTC) for each in result.moved})
    return fitting if is_consistent(session, before, fitting) else None


def repair_violations(
    session: Session, rules: AbstractSet[str], meetings: AbstractSet[str], at: datetime
) -> TBPlan | None:
    """Return the session's plan, repaired for new rules and meetings by the fewest moves.

    ``rules`` are uids of musts, ``meetings`` ids of meetings. Other violations stay, and so do blocks that began
    before ``at``. Returns ``None`` when moving blocks cannot repair it. Raises ``PlanInvalid`` when the blocks cannot
    be resolved to instants.
    """
    plan = session.planning.plan
    if plan is None or frame_mistake(session) is not None:
        return None
    blocks = [block for block in resolve(plan) if block.event.type is not ET.BACKGROUND]
    in_force = musts(session)
    breaches_now = broken_constraints(session, in_force, plan)
    fresh = [breach for breach in breaches_now if breach.item.uid in rules]
    old = [breach for breach in breaches_now if breach.item.uid not in rules]
    old_meetings = [meeting for meeting in busy_meetings(session) if meeting.id not in meetings]
    stuck = {block.key for block in blocks if _overlaps_any(block, old_meetings)}
    stuck |= {key for pair in _pairs(overlaps(blocks)) for key in pair} | _misplaced_keys(old)
    stuck -= {key for breach in fresh for key in breach.keys}
    gone = {breach.item.uid for breach in old if not _is_about_times(breach)}
    loose = plan.replace(event for event in plan.events if event.block_key not in stuck)
    day = day_with(session, [item for item in in_force if item.uid not in gone])
    instance = _with_immovables(day, [block for block in blocks if block.key in stuck])
    result = repair_plan(loose, replace(instance, now=at), steps=STEPS)
    if not result.moved:
        return None
    after = _with_starts(plan, blocks, {each.key: each.after.astimezone(UTC) for each in result.moved})
    return after if _is_repaired(session, plan, after, rules, meetings) else None


def _is_repaired(
    session: Session, before: TBPlan, after: TBPlan, rules: AbstractSet[str], meetings: AbstractSet[str]
) -> bool:
    """Check that none of these rules and meetings is violated any more, and nothing new is."""
    if not is_consistent(session, before, after):
        return False
    left = {breach.item.uid for breach in broken_constraints(session, musts(session), after) if breach.keys}
    there = [meeting for meeting in busy_meetings(session) if meeting.id in meetings]
    blocks = [block for block in resolve(after) if block.event.type is not ET.BACKGROUND]
    return left.isdisjoint(rules) and not any(_overlaps_any(block, there) for block in blocks)


def _with_starts(plan: TBPlan, blocks: Iterable[Resolved], starts: Mapping[str, datetime]) -> TBPlan:
    """Return the plan with these blocks at other starts, with unchanged lengths."""
    lengths = {block.key: place_of(block).duration for block in blocks}
    events = plan.events
    for op in retime_blocks(plan, {key: BlockPlace(start, lengths[key]) for key, start in starts.items()}):
        events, _ = apply_op(events, op)
    return plan.replace(events)


def is_consistent(session: Session, before: TBPlan, after: TBPlan) -> bool:
    """Check that a change adds no overlap and no violation of a must."""
    fresh = _pairs(overlaps(resolve(after))) - _pairs(overlaps(resolve(before)))
    return not fresh and not new_violations(session, before, after, Necessity.MUST)


def _stuck_keys(session: Session, before: TBPlan, blocks: list[Resolved]) -> set[str]:
    """Return blocks that are not to be repaired: in a meeting, or overlapping as before."""
    known = _pairs(overlaps(resolve(before)))
    now = _pairs(overlaps(blocks))
    return {b.key for b in blocks if _is_in_meeting(session, b)} | {key for pair in known & now for key in pair}


def _misplaced_keys(known: Iterable[ConstraintViolation]) -> set[str]:
    """Return blocks at times that were forbidden before the change already."""
    return {key for breach in known if _is_about_times(breach) for key in breach.keys}


def _is_about_times(breach: ConstraintViolation) -> bool:
    """Check whether the violated rule is about the time of a block."""
    return breach.item.record.payload.rule_kind in _TIMES


def _is_in_meeting(session: Session, block: Resolved) -> bool:
    return _overlaps_any(block, busy_meetings(session))


def _overlaps_any(block: Resolved, meetings: Iterable[Meeting]) -> bool:
    start, end = block.start.astimezone(UTC), block.end.astimezone(UTC)
    return any(m.start.astimezone(UTC) < end and start < m.end.astimezone(UTC) for m in meetings)


def _pairs(found: Iterable[tuple[Resolved, Resolved]]) -> set[Pair]:
    return {frozenset((one.key, two.key)) for one, two in found}


def _with_immovables(day: Instance, stuck: Iterable[Resolved]) -> Instance:
    standing = tuple(
        Immovable(id=f"stays-{n}", title=b.event.name[:300], start=b.start, end=b.end, type=b.event.type)
        for n, b in enumerate(stuck, 1)
    )
    return replace(day, immovables=(*day.immovables, *standing))


NOW_IT_WOULD = mark_message("Now it would do this:")


@dataclass(frozen=True, slots=True)
class EditResult:
    """A plan before and after a change; ``sentence`` describes the difference."""

    before: TBPlan
    after: TBPlan
    sentence: str
    placed: AbstractSet[str] = frozenset()

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
    before = session.planning.plan or TBPlan(date=session.date, tz=session.tz)
    patch = command.to_patch(session, before)
    if isinstance(command, ApplyFix):
        after = sort_by_time(apply_patch(before, patch))
        return EditResult(before, after, summarize_differences(session, before, after))
    placed = placed_blocks(session, before, patch)
    after, aside = _carry_out(session, before, command, patch, placed, mend=mend)
    if isinstance(command, ApplyPatch) and command.approved is not None:
        _require_approved(session, command.approved, before, after)
    return EditResult(before, after, summarize_differences(session, before, after, aside), placed)


def _carry_out(
    session: Session, before: TBPlan, command: BlockCommand, patch: Patch, placed: AbstractSet[str], *, mend: bool
) -> tuple[TBPlan, AbstractSet[str]]:
    """Return the changed plan, and the blocks moved to make it fit, apart from those only pushed."""
    pushes = command.find_pushing(placed)
    pushing = push_later_blocks(session, before, patch, pushes) if pushes else patch
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


def _require_approved(session: Session, approved: ApprovedChange, before: TBPlan, after: TBPlan) -> None:
    """Raise :class:`PatchInvalid` if the patch would now do something else than was approved."""
    if changed_blocks(approved.before, approved.after) != changed_blocks(before, after):
        would = summarize_differences(session, before, after)
        raise PatchInvalid(
            _(
                "Your plan has changed since that was proposed, so I did nothing. {now} {would}",
                now=_(NOW_IT_WOULD),
                would=would,
            )
        )


OKAY = 2
"""Level of quality from which a plan is good enough for the calendar."""


def is_okay(session: Session) -> bool:
    """Check whether the plan is Okay or better."""
    quality = grade_session(session)
    return quality is not None and quality.level >= OKAY


def writes_at_once(session: Session) -> bool:
    """Check whether the current plan is written without a commit."""
    match session.options.calendar_write:
        case "refine":
            return True
        case "okay":
            return is_okay(session)
        case "commit":
            return False
        case _:
            assert_never(session.options.calendar_write)
