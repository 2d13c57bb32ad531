"""The one place that decides on writes: plan, calendar and ledger in, ops out. Nothing here has side effects."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from fateforger.errors import InternalError
from fateforger.plan import zone
from fateforger.sync.brakes import require_whole, run_safety_checks
from fateforger.sync.canonical import canonicalize, is_timed
from fateforger.sync.choices import NOTHING_SAID, Choices
from fateforger.sync.decide import (
    Decision,
    Setting,
    decide_create,
    decide_deleted,
    decide_disputed,
    decide_forget,
    decide_leftover,
    decide_linked,
    decide_live,
    is_untouched,
)
from fateforger.sync.foreign import explain_link, link_events, warn_about_links, warn_about_overlaps
from fateforger.sync.matching import Candidate, build_candidate, pair_alike, pair_equal
from fateforger.sync.model import (
    WRITES,
    DesiredBlock,
    DesiredDay,
    EventImage,
    Head,
    Ledger,
    Snapshot,
    Standing,
    SyncPlan,
    Verb,
)
from fateforger.sync.ownership import Owned, Sides, sort_sides

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
    sides = sort_sides(snapshot, ledger)
    setting = Setting(desired.day, zone(desired.tz), ledger, choices, _collect_taken_ids(snapshot, ledger))
    found = _find(desired.blocks, sides, ledger)
    decisions: list[Decision] = []
    written: list[DesiredBlock] = []
    for block in sorted(desired.blocks, key=lambda b: b.index):
        decision = _decide_block(op_ids(len(decisions)), block, found, setting)
        decisions.append(decision)
        if decision.op.verb in WRITES:
            written.append(block)
    for owned, spare in (*((o, False) for o in found.leftovers), *((o, True) for o in found.spares)):
        if (left := decide_leftover(op_ids(len(decisions)), owned, setting, spare=spare)) is not None:
            decisions.append(left)
    for head in found.lost:
        decisions.append(decide_forget(op_ids(len(decisions)), head))
    ops = tuple(decision.op for decision in decisions)
    links = [(b, event) for b in desired.blocks if (event := found.links.get(b.key)) is not None]
    met = (*sides.foreign, *_list_left_to_person(decisions))
    return SyncPlan(
        day=desired.day,
        tz=desired.tz,
        ops=ops,
        merged=tuple(m for d in decisions for m in d.merged),
        adopted=tuple(a for d in decisions for a in d.adopted),
        brakes=run_safety_checks(ops, sides, ledger, found.spares),
        warnings=(*warn_about_links(links, setting.tz), *warn_about_overlaps(written, met, setting.tz)),
        snapshot_fingerprint=compute_fingerprint(snapshot),
    )


def compute_fingerprint(snapshot: Snapshot) -> str:
    """Return a digest of what the calendar shows; versions and time stamps do not count (S81)."""
    seen = [*snapshot.events, *(event for event in snapshot.fetched.values() if event is not None)]
    lines = sorted(
        f"{e.id}\0{e.status}\0{e.summary}\0{e.description}\0{_to_stamp(e.start)}\0{_to_stamp(e.end)}\0{e.color_id}\0{e.busy}"
        for e in seen
    )
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _to_stamp(moment: datetime | date) -> float | str:
    return moment.timestamp() if isinstance(moment, datetime) else moment.isoformat()


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


def _find(blocks: Sequence[DesiredBlock], sides: Sides, ledger: Ledger) -> _Found:
    wanted = {block.key for block in blocks}
    heads = {head.key: head for head in ledger.heads}
    known_first = sorted(sides.owned, key=lambda o: o.head is None)
    by_key = {o.key: o for o in reversed(known_first)}
    spares = [o for o in known_first if by_key[o.key] is not o]
    events = {key: by_key[key] for key in wanted & by_key.keys()}
    pool = [b for b in blocks if b.key not in events and not _stays_deleted(b, heads.get(b.key))]
    free = [o for o in by_key.values() if o.key not in wanted and _may_change_block(o)]
    links = _pair(pool, free, (*sides.foreign, *_list_released(by_key, wanted)), events)
    used = {o.event.id for o in events.values()}
    leftovers = [o for o in by_key.values() if o.event.id not in used]
    known = wanted | {o.key for o in leftovers}
    lost = [
        head
        for key, head in heads.items()
        if key not in known and head.event_id not in sides.live and head.standing is not Standing.REMOVED
    ]
    lost.sort(key=lambda head: head.key)
    return _Found(events, links, heads, sorted(leftovers, key=_sort_key), sorted(spares, key=_sort_key), lost)


def _pair(
    pool: Sequence[DesiredBlock], free: Sequence[Owned], foreign: Sequence[EventImage], events: dict[str, Owned]
) -> dict[str, EventImage]:
    """Pair the blocks that no key paired: with equal events of ours, then foreign ones, then similar ones of ours.

    Fills ``events`` and returns the links to foreign events.
    """
    blocks = {b.key: Candidate(b.key, canonicalize(b.fields), b.type) for b in pool}
    ours = {o.event.id: o for o in free}
    candidates = {o.event.id: build_candidate(o.event.id, canonicalize(o.event), own=not is_untouched(o)) for o in free}
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
    return deleted and head is not None and canonicalize(head.asked) == canonicalize(block.fields)


def _may_change_block(owned: Owned) -> bool:
    """Check whether an event of ours may become another block of the plan."""
    return owned.obstacle is None and (owned.head is None or owned.head.standing is Standing.HELD)


def _list_released(by_key: Mapping[str, Owned], wanted: set[str]) -> list[EventImage]:
    """Return the busy timed events that were ours and are the person's now."""
    return [
        o.event
        for o in by_key.values()
        if o.head is not None and o.head.standing is Standing.RELEASED and o.key not in wanted
        if is_timed(o.event) and o.event.busy
    ]


def _list_left_to_person(decisions: Sequence[Decision]) -> list[EventImage]:
    """Return the events that this run gives to the person; writes may overlap them."""
    released = [d.op.before for d in decisions if d.op.verb is Verb.RELEASE]
    return [event for event in released if event is not None and is_timed(event) and event.busy]


def _sort_key(owned: Owned) -> tuple[str, str]:
    return owned.event.start.isoformat(), owned.event.id


def _collect_taken_ids(snapshot: Snapshot, ledger: Ledger) -> frozenset[str]:
    """Return the ids in use, which no new event may get."""
    seen = {e.id for e in snapshot.events} | snapshot.fetched.keys()
    return frozenset(seen | {head.event_id for head in ledger.heads})
