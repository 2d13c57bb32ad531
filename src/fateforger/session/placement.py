"""Places of blocks: patches applied and resolved, and the differences between two plans."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime, time, timedelta

from pydantic import ValidationError

from fateforger.errors import BadInput, PatchInvalid, PlanInvalid, first_mistake
from fateforger.planning.patch import Patch, UpdateBlock, apply_op
from fateforger.planning.plan import ET, Resolved, TBPlan, overlap_sentence, overlaps, resolve
from fateforger.planning.task_details import follow_ways
from fateforger.planning.timing import (
    Busy,
    FixedStart,
    Stretch,
    busy_stretches,
    ceil,
    clock_at,
    find_next_fit,
    floor,
    format_clock,
    gaps,
    instant,
    is_anchored,
)
from fateforger.session.day import busy_meetings, day_window, frame_mistake, frame_of
from fateforger.session.frame import local_time, zone_at, zone_suffix
from fateforger.session.model import RefineUpdate, Session
from fateforger.text import gettext as _
from fateforger.text import join_words, mark_message, quote_title

GONE = mark_message("That block is not in the plan any more.")
_PAUSE = 10
"""Minutes between what is there and a new block, where there is room for them."""
_REMEDY = mark_message("Move one of them first, make one shorter, or let them trade places.")


def apply_patch(plan: TBPlan, patch: Patch) -> TBPlan:
    """Apply a patch, refusing only new overlaps.

    Raises ``UserError``.
    """
    after = apply_unchecked(plan, patch)
    known = {(a.key, b.key) for a, b in overlaps(resolve(plan))}
    for first, second in overlaps(resolve(after)):
        if (first.key, second.key) not in known and (second.key, first.key) not in known:
            raise PlanInvalid(f"{overlap_sentence(first, second)} {_(_REMEDY)}", events=(first.index, second.index))
    return after


def apply_unchecked(plan: TBPlan, patch: Patch) -> TBPlan:
    """Apply a patch, accepting overlaps. The way to and from a block goes with it.

    Raises ``UserError`` for a block that does not exist, or a mistake in one.
    """
    events = plan.events
    for op in patch.ops:
        events, _ = apply_op(events, op)
    try:
        after = plan.replace(events)
    except ValidationError as error:
        raise PlanInvalid(first_mistake(error).sentence) from None
    return follow_ways(plan, after)


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
    raise PatchInvalid(_(GONE))


def fixed_start(session: Session, start: datetime, minutes: int) -> FixedStart:
    """Return a start and a length on the session's day.

    Raises :class:`BadInput` for a start outside it.
    """
    first, last = day_window(session.date, session.tz)
    if not first.astimezone(UTC) <= start.astimezone(UTC) < last.astimezone(UTC):
        raise BadInput(_("That would leave the day you are planning; choose a time on it or in the night after it."))
    try:
        return FixedStart(start=clock_at(start, session.date, session.tz), duration=timedelta(minutes=minutes))
    except ValidationError as error:
        raise BadInput(first_mistake(error).sentence) from None


def find_first_free(session: Session, minutes: int) -> time | None:
    """Return where so many minutes of the frame are first free and not past, if possible after a pause.

    ``None`` if they are free nowhere.
    """
    if frame_mistake(session) is not None:
        return None
    start, end = frame_of(session)
    if session.now is not None:
        start = max(start.astimezone(UTC), session.now.astimezone(UTC))
    taken = [Busy(m.start, m.end) for m in busy_meetings(session)]
    taken += [Busy(b.start, b.end) for b in by_time(session.planning.plan)] if session.planning.plan else []
    frame = Stretch(ceil(start), floor(end))
    free = tuple(gaps(frame, busy_stretches(taken)))
    for pause in (_PAUSE, 0):
        for gap in free:
            begin = gap.start if gap.start == frame.start else gap.start + pause
            if gap.end - begin >= minutes:
                return local_time(session, instant(begin)).time()
    return None


def push_later_blocks(session: Session, plan: TBPlan, patch: Patch, placed: AbstractSet[str]) -> Patch:
    """Return the patch, extended by moves of later blocks that the ``placed`` ones run into.

    Each of those moves back just as far as necessary, around meetings and placed blocks. A block stays if it began
    before the one that it is in the way of, or if there is no room left; :func:`apply_patch` then reports the overlap.
    """
    moved = sorted(by_time(apply_unchecked(plan, patch)), key=lambda b: (b.start.astimezone(UTC), b.key not in placed))
    taken = [(m.start.astimezone(UTC), m.end.astimezone(UTC)) for m in busy_meetings(session)]
    taken += [(b.start.astimezone(UTC), b.end.astimezone(UTC)) for b in moved if b.key in placed]
    pushed: list[UpdateBlock] = []
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
        start = find_next_fit(taken, free_from, block.duration)
        try:
            timing = fixed_start(session, start, block.minutes)
        except BadInput:
            free_from = None
            continue
        pushed.append(UpdateBlock(key=block.key, timing=timing))
        free_from = start + block.duration
    return Patch(ops=(*patch.ops, *pushed))


def placed_blocks(session: Session, plan: TBPlan, patch: Patch) -> AbstractSet[str]:
    """Return the keys of the blocks that a patch adds or moves.

    Raises ``UserError`` for one that leaves the day.
    """
    was = {block.key: (block.start, block.end) for block in resolve(plan)}
    after = [block for block in resolve(apply_unchecked(plan, patch)) if was.get(block.key) != (block.start, block.end)]
    for block in after:
        fixed_start(session, block.start, block.minutes)
    return {block.key for block in after if block.event.type is not ET.BACKGROUND}


def summarize_differences(
    session: Session, before: TBPlan, after: TBPlan, aside: AbstractSet[str] = frozenset()
) -> str:
    """Describe the differences, or say that there are none.

    Blocks in ``aside`` were moved to make the rest fit.
    """
    return " ".join(list_differences(session, before, after, aside)) or _(
        "That changes nothing; the plan stays as it is."
    )


def list_differences(
    session: Session, before: TBPlan, after: TBPlan, aside: AbstractSet[str] = frozenset()
) -> tuple[str, ...]:
    """Return a sentence for each block that changed, with times as :func:`local_span` has them."""
    was = {b.key: b for b in resolve(before)}
    now = {b.key: b for b in by_time(after)}
    parts = [_("“{name}” is out of the plan.", name=b.event.name) for k, b in was.items() if k not in now]
    parts += [
        _("“{name}” is in, {hours}.", name=b.event.name, hours=local_span(session, b))
        for k, b in now.items()
        if k not in was
    ]
    changed = [(was[k], b) for k, b in now.items() if k in was and _differs(was[k], b)]
    parts += [_describe_change(session, old, new) for old, new in changed if new.key not in aside]
    made_room = [each for each in changed if each[1].key in aside]
    return (*parts, _describe_made_room(session, made_room)) if made_room else tuple(parts)


def _differs(old: Resolved, new: Resolved) -> bool:
    return (old.start, old.end, old.event.name, old.event.description) != (
        new.start,
        new.end,
        new.event.name,
        new.event.description,
    )


def _describe_change(session: Session, old: Resolved, new: Resolved) -> str:
    if (old.start, old.end) != (new.start, new.end):
        named = (
            quote_title(new.event.name)
            if old.event.name == new.event.name
            else _("“{name}” (new title)", name=new.event.name)
        )
        return _(
            "{named} is now {hours} (was {before}).",
            named=named,
            hours=local_span(session, new),
            before=_span_before(session, old, new),
        )
    if old.event.name != new.event.name:
        return _("“{name}” is now called “{title}”.", name=old.event.name, title=new.event.name)
    return _("“{name}” has new notes.", name=new.event.name)


def _describe_made_room(session: Session, moved: Sequence[tuple[Resolved, Resolved]]) -> str:
    one = _("To make it fit, “{name}” moves to {hours} (was {before}).")
    several = _("“{name}” to {hours} (was {before})")
    places = [
        (one if len(moved) == 1 else several).format(
            name=new.event.name, hours=local_span(session, new), before=_span_before(session, old, new)
        )
        for old, new in moved
    ]
    return places[0] if len(moved) == 1 else _("To make it fit, these move: {places}.", places=join_words(places))


def local_span(session: Session, block: Resolved, *, named: bool = True) -> str:
    """Return a span like ``09:00–10:30``, each end in the clock of where the person is then.

    That clock is ``named`` if it is not that of the session.
    """
    start, end = block.start, block.end
    clock = zone_suffix(session, start, end) if named else ""
    return span(local_time(session, start), local_time(session, end)) + clock


def _span_before(session: Session, old: Resolved, new: Resolved) -> str:
    """Return the span before a change; its clock is named only if the change named another one."""
    was, now = ([zone_at(session, end).key for end in (block.start, block.end)] for block in (old, new))
    return local_span(session, old, named=was != now)


def span(start: datetime, end: datetime) -> str:
    """Return a span like ``09:00–10:30``."""
    return f"{format_clock(start)}–{format_clock(end)}"


def changed_blocks(before: TBPlan, after: TBPlan) -> dict[str, tuple[object, object]]:
    """Return each changed block by key, before and after, with resolved times.

    A block that does not exist is ``None``.
    """
    was, now = ({b.key: _visible_fields(b) for b in resolve(plan)} for plan in (before, after))
    return {key: pair for key in {**was, **now} if (pair := (was.get(key), now.get(key)))[0] != pair[1]}


def _visible_fields(block: Resolved) -> tuple[str, str, ET, datetime, datetime]:
    event = block.event
    return event.name, event.description, event.type, block.start.astimezone(UTC), block.end.astimezone(UTC)


def find_placed(session: Session) -> dict[str, RefineUpdate]:
    """Return the blocks that are still where the person put them, as far as changes can be undone, with the change."""
    steps, now = session.sync.refine_undo, session.planning.plan
    after = [step.plan_before for step in steps[1:]] + ([] if now is None else [now])
    put: dict[str, tuple[datetime | None, RefineUpdate]] = {}
    for step, plan in zip(steps, after, strict=False):
        starts = _list_starts(plan)
        put |= {key: (starts.get(key), step) for key in step.placed}
    starts = {} if now is None else _list_starts(now)
    return {key: step for key, (start, step) in put.items() if start is not None and starts.get(key) == start}


def _list_starts(plan: TBPlan) -> dict[str, datetime]:
    return {block.key: block.start.astimezone(UTC) for block in resolve(plan)}
