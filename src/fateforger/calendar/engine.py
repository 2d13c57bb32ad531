"""Sync engine, the one place that decides on writes: plan, calendar and ledger in, ops out. No side effects.

Safety checks are reasons to stop and ask before anything is written. A calendar that lost everything, or a plan that
drops most of the day, is more likely a wrong calendar, a partial answer or a slip than an intention. An incomplete
snapshot is an error instead of a question: nothing follows from it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC

from fateforger.calendar.conflicts import NOTHING_SAID, Choices
from fateforger.calendar.decision import (
    Decision,
    Owned,
    Setting,
    decide_create,
    decide_deleted,
    decide_disputed,
    decide_forget,
    decide_leftover,
    decide_linked,
    decide_live,
    sort_sides,
)
from fateforger.calendar.event import (
    Canon,
    EventImage,
    normalize_text,
    truncate_to_second,
)
from fateforger.calendar.matching import (
    Candidate,
    explain_link,
    link_events,
    pair_alike,
    pair_equal,
    warn_about_links,
    warn_about_overlaps,
)
from fateforger.calendar.model import (
    WRITES,
    DesiredBlock,
    DesiredDay,
    Head,
    Ledger,
    SafetyCheck,
    SafetyCheckKind,
    Snapshot,
    Standing,
    SyncOp,
    SyncPlan,
    Verb,
    list_titles,
)
from fateforger.errors import CalendarIncomplete, InternalError, PlanInvalid
from fateforger.planning.plan import COLOR_BY_TYPE, Resolved, TBPlan, resolve, resolve_strict
from fateforger.planning.timing import zone
from fateforger.text import gettext as _
from fateforger.text import quote_title


def build_desired_day(plan: TBPlan, *, overlapping: bool = False) -> DesiredDay:
    """Return all blocks of a plan as events, in the plan's order, stripped and in whole seconds.

    Raises :class:`~fateforger.errors.PlanInvalid` like ``resolve_strict``, or only like ``resolve`` if blocks may be
    ``overlapping``: to compare with the calendar, not to write to it.
    """
    blocks = resolve(plan) if overlapping else resolve_strict(plan)
    return DesiredDay(day=plan.date, tz=plan.tz, blocks=tuple(_build_block(block) for block in blocks))


def _build_block(block: Resolved) -> DesiredBlock:
    start, end = truncate_to_second(block.start.astimezone(UTC)), truncate_to_second(block.end.astimezone(UTC))
    if not start < end:
        raise PlanInvalid(
            _("{title} lasts less than a second.", title=quote_title(block.event.name)), events=(block.index,)
        )
    fields = Canon(
        normalize_text(block.event.name),
        normalize_text(block.event.description),
        start,
        end,
        COLOR_BY_TYPE[block.event.type],
    )
    return DesiredBlock(key=block.key, index=block.index, type=block.event.type, fields=fields.to_fields())


_MANY = 4
_MOST = 0.5
_EMPTIED = 2
_ACTING = frozenset({Verb.CREATE, Verb.DELETE, Verb.ADOPT})


def require_whole(snapshot: Snapshot, ledger: Ledger) -> None:
    """Check that every block we hold was seen or requested by id; absence from a window proves nothing.

    Raises :class:`~fateforger.errors.CalendarIncomplete`.
    """
    for head in ledger.heads:
        if head.event_id not in snapshot.asked_ids and head.standing in {Standing.HELD, Standing.RELEASED}:
            raise CalendarIncomplete(
                _(
                    "I could not find out what became of {title}, so I changed nothing.",
                    title=quote_title(head.base.summary),
                )
            )


def run_safety_checks(
    ops: Sequence[SyncOp],
    owned: Sequence[Owned],
    live: Collection[str],
    ledger: Ledger,
    spares: Sequence[Owned],
) -> tuple[SafetyCheck, ...]:
    """Return all safety checks that these ops trigger."""
    brakes: list[SafetyCheck] = []
    held = [head for head in ledger.heads if head.standing is Standing.HELD]
    gone = [head for head in held if head.event_id not in live]
    gone.sort(key=lambda head: (head.base.start, head.key))
    acting = bool(gone) and any(op.verb in _ACTING or _asks_about_deletion(op) for op in ops)
    if acting and len(gone) == len(held) >= _EMPTIED:
        brakes.append(
            SafetyCheck(
                kind=SafetyCheckKind.EMPTIED_CALENDAR,
                sentence=_(
                    "All {count} blocks that I wrote are gone from your calendar: {titles}.",
                    count=len(held),
                    titles=list_titles([head.base.summary for head in gone]),
                ),
            )
        )
    elif acting and len(held) >= _MANY and len(gone) > _MOST * len(held):
        brakes.append(
            SafetyCheck(
                kind=SafetyCheckKind.VANISHED_BLOCKS,
                sentence=_(
                    "{gone} of the {count} blocks that I wrote are gone from your calendar: {titles}.",
                    gone=len(gone),
                    count=len(held),
                    titles=list_titles([head.base.summary for head in gone]),
                ),
            )
        )
    deletes = [op for op in ops if op.verb is Verb.DELETE]
    ours = [o for o in owned if o.is_known] if deletes else []
    if len(ours) >= _MANY and len(deletes) > _MOST * len(ours):
        brakes.append(
            SafetyCheck(
                kind=SafetyCheckKind.MASS_DELETION,
                sentence=_(
                    "This would delete {gone} of my {count} blocks from your calendar: {titles}.",
                    gone=len(deletes),
                    count=len(ours),
                    titles=list_titles([op.summary for op in deletes]),
                ),
            )
        )
    if spares:
        brakes.append(
            SafetyCheck(
                kind=SafetyCheckKind.DUPLICATE_BLOCK,
                sentence=_(
                    "Your calendar shows {titles} twice.", titles=list_titles([o.event.summary for o in spares])
                ),
            )
        )
    return tuple(brakes)


def _asks_about_deletion(op: SyncOp) -> bool:
    """Check whether the op asks about a deleted block that the plan changed.

    Before the person is asked about it, the calendar has to look like one that a person keeps.
    """
    held = op.head_before is not None and op.head_before.standing is Standing.HELD
    return op.verb is Verb.SKIP and op.before is None and held


OpIds = Callable[[int], str]
"""Returns the id of the op at a position."""


def number_ops(transaction_id: str) -> OpIds:
    """Return op ids derived from the id of the transaction: ``<id>-0``, ``<id>-1``, ..."""
    return lambda position: f"{transaction_id}-{position}"


def plan_sync(
    desired: DesiredDay, snapshot: Snapshot, ledger: Ledger, *, op_ids: OpIds, choices: Choices = NOTHING_SAID
) -> SyncPlan:
    """Return the ops after which the calendar shows the plan and the person's own changes remain.

    ``desired`` is the plan, ``snapshot`` the calendar now, ``ledger`` our last writes; all of one day and zone.
    ``choices`` decide where both sides changed a field; without one the calendar's value stays, and ``merged`` lists
    the field as open. Blocks come first, in the plan's order, then deletions and records; equal input in any order
    gives an equal result. The ops are minimal, and an update has only the fields that differ.
    Raises :class:`~fateforger.errors.CalendarIncomplete` when a block that we wrote is in neither ``snapshot.events``
    nor ``snapshot.fetched``.
    """
    if (desired.day, desired.tz) != (snapshot.day, snapshot.tz):
        raise InternalError("A plan can only be compared with the calendar of its own day and zone.")
    require_whole(snapshot, ledger)
    owned, foreign = sort_sides(snapshot, ledger)
    setting = Setting(desired.day, zone(desired.tz), ledger, choices, _collect_taken_ids(snapshot, ledger))
    found = _find(desired.blocks, owned, foreign, snapshot.live, ledger)
    decisions: list[Decision] = []
    written: list[DesiredBlock] = []
    for block in sorted(desired.blocks, key=lambda b: b.index):
        decision = _decide_block(op_ids(len(decisions)), block, found, setting)
        decisions.append(decision)
        if decision.op.verb in WRITES:
            written.append(block)
    for mine, spare in (*((o, False) for o in found.leftovers), *((o, True) for o in found.spares)):
        if (left := decide_leftover(op_ids(len(decisions)), mine, setting, spare=spare)) is not None:
            decisions.append(left)
    for head in found.lost:
        decisions.append(decide_forget(op_ids(len(decisions)), head))
    ops = tuple(decision.op for decision in decisions)
    links = [(b, event) for b in desired.blocks if (event := found.links.get(b.key)) is not None]
    met = (*foreign, *_list_left_to_person(decisions))
    return SyncPlan(
        day=desired.day,
        tz=desired.tz,
        ops=ops,
        merged=tuple(m for d in decisions for m in d.merged),
        adopted=tuple(a for d in decisions for a in d.adopted),
        brakes=run_safety_checks(ops, owned, snapshot.live, ledger, found.spares),
        warnings=(*warn_about_links(links, setting.tz), *warn_about_overlaps(written, met, setting.tz)),
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """The event of each block, and what is left over on either side.

    ``spares`` are second events of a block; ``lost`` are records of events that are gone and not wanted by any block.
    """

    events: Mapping[str, Owned]
    links: Mapping[str, EventImage]
    heads: Mapping[str, Head]
    leftovers: Sequence[Owned]
    spares: Sequence[Owned]
    lost: Sequence[Head]


def _find(
    blocks: Sequence[DesiredBlock],
    owned: Sequence[Owned],
    foreign: Sequence[EventImage],
    live: Collection[str],
    ledger: Ledger,
) -> _Found:
    wanted = {block.key for block in blocks}
    heads = {head.key: head for head in ledger.heads}
    known_first = sorted(owned, key=lambda o: o.head is None)
    by_key = {o.key: o for o in reversed(known_first)}
    spares = [o for o in known_first if by_key[o.key] is not o]
    events = {key: owned for key, owned in by_key.items() if key in wanted}
    pool = [b for b in blocks if b.key not in events and not _stays_deleted(b, heads.get(b.key))]
    free = [o for o in by_key.values() if o.key not in wanted and _may_change_block(o)]
    links = _pair(pool, free, (*foreign, *_list_released(by_key, wanted)), events) if pool else {}
    used = {o.event.id for o in events.values()}
    leftovers = [o for o in by_key.values() if o.event.id not in used]
    known = wanted | {o.key for o in leftovers}
    lost = [
        head
        for key, head in heads.items()
        if key not in known and head.event_id not in live and head.standing is not Standing.REMOVED
    ]
    lost.sort(key=lambda head: head.key)
    return _Found(events, links, heads, sorted(leftovers, key=_sort_key), sorted(spares, key=_sort_key), lost)


def _pair(
    pool: Sequence[DesiredBlock], free: Sequence[Owned], foreign: Sequence[EventImage], events: dict[str, Owned]
) -> dict[str, EventImage]:
    """Pair the blocks that no key paired: with our equal events, then foreign ones, then our similar ones.

    Fills ``events`` and returns the links to foreign events.
    """
    blocks = {b.key: Candidate(b.key, b.fields.canon) for b in pool}
    ours = {o.event.id: o for o in free}
    candidates = {o.event.id: Candidate(o.event.id, o.event.canon) for o in free}
    equal = pair_equal(list(blocks.values()), list(candidates.values()))
    events.update({key: ours[event_id] for key, event_id in equal.items()})
    links = link_events([b for b in pool if b.key not in events], foreign)
    taken = set(equal.values())
    alike = pair_alike(
        [c for key, c in blocks.items() if key not in events and key not in links],
        [c for event_id, c in candidates.items() if event_id not in taken],
    )
    events.update({key: ours[event_id] for key, event_id in alike.items()})
    return links


def _decide_block(op_id: str, block: DesiredBlock, found: _Found, setting: Setting) -> Decision:
    head = found.heads.get(block.key)
    if (owned := found.events.get(block.key)) is not None:
        return decide_live(op_id, block, owned, setting)
    if (event := found.links.get(block.key)) is not None:
        return decide_linked(op_id, block, event, explain_link(block, event, setting.tz))
    if head is not None and _stays_deleted(block, head):
        return decide_deleted(op_id, block, head)
    if head is not None and (disputed := decide_disputed(op_id, block, head, setting)) is not None:
        return disputed
    return decide_create(op_id, block, head, setting)


def _stays_deleted(block: DesiredBlock, head: Head | None) -> bool:
    """Check whether the person deleted the block and the plan does not ask for anything new."""
    deleted = head is not None and head.standing in {Standing.HELD, Standing.DELETED}
    return deleted and head is not None and head.asked.canon == block.fields.canon


def _may_change_block(owned: Owned) -> bool:
    """Check whether one of our events may become another block of the plan."""
    return owned.obstacle is None and (owned.head is None or owned.head.standing is Standing.HELD)


def _list_released(by_key: Mapping[str, Owned], wanted: set[str]) -> list[EventImage]:
    """Return the busy timed events that were ours and are the person's now."""
    return [
        o.event
        for o in by_key.values()
        if o.head is not None and o.head.standing is Standing.RELEASED and o.key not in wanted
        if o.event.is_timed and o.event.busy
    ]


def _list_left_to_person(decisions: Sequence[Decision]) -> list[EventImage]:
    """Return the events that this run gives to the person; writes may overlap them."""
    released = [d.op.before for d in decisions if d.op.verb is Verb.RELEASE]
    return [event for event in released if event is not None and event.is_timed and event.busy]


def _sort_key(owned: Owned) -> tuple[str, str]:
    return owned.event.start.isoformat(), owned.event.id


def _collect_taken_ids(snapshot: Snapshot, ledger: Ledger) -> frozenset[str]:
    """Return the ids in use, which no new event may get."""
    return snapshot.asked_ids | {head.event_id for head in ledger.heads}
