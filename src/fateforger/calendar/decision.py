"""Decision on one block or on one of our events, and the proof that an event is ours.

last known | calendar now     | plan             | decision
-----------+------------------+------------------+------------------------------------------------------------
-          | -                | has it           | create
held       | deleted          | as last asked    | adopt the deletion: it stays deleted, and the person is told
held       | deleted          | something else   | create, under the next generation, if the person asked for it knowing
           |                  |                  | of the deletion; otherwise skip, and ask
removed    | -                | has it           | create, under the next generation
any        | shows it         | has it           | merge by field: update, adopt or nothing
held       | as we left it    | has it no longer | delete
held       | changed, or more | has it no longer | release: it is the person's now
removed    | shows it again   | has it no longer | release: the person brought it back
held       | deleted          | has it no longer | forget
nothing    | our mark, minted | has it no longer | delete: our create that landed after we gave it up
nothing    | our mark only    | has it no longer | skip: another database may know it

A block always gets the same id, and a used id is never used again.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import NamedTuple, cast
from zoneinfo import ZoneInfo

from fateforger.calendar.conflicts import Choices, FieldMerge, explain_other_day, merge
from fateforger.calendar.event import (
    MANAGED,
    OWNED_PREFIX,
    REPEATS,
    Canon,
    EventFields,
    EventImage,
    OwnedId,
)
from fateforger.calendar.model import (
    Adopted,
    DesiredBlock,
    Head,
    Ledger,
    ManagedName,
    Merged,
    Snapshot,
    Standing,
    SyncOp,
    Verb,
    describe_extras,
    format_value,
)
from fateforger.text import gettext as _
from fateforger.text import mark_message
from fateforger.values import replace

_MOST_PLACES = 400
"""Positions to try when an id has to be traced back to its seed without a record."""


def build_seed(day: date, name: str, start: datetime, index: int) -> str:
    """Return ``date|name|start|index`` (S73).

    ``start`` is the wall clock in its own zone, ``index`` the place in the plan.
    """
    return f"{day.isoformat()}|{name}|{start.time().isoformat()}|{index}"


def mint(seed: str, generation: int = 0) -> OwnedId:
    """Return ``fftb`` and the lowercase base32hex of the seed's SHA-1.

    A later generation appends ``|1``, ``|2``, ... to the seed.
    """
    text = seed if generation == 0 else f"{seed}|{generation}"
    digest = hashlib.sha1(text.encode(), usedforsecurity=False).digest()
    return OwnedId(OWNED_PREFIX + base64.b32hexencode(digest).decode().lower().rstrip("="))


def next_generation(seed: str, generations: Mapping[str, int], taken: Collection[str]) -> int:
    """Return the lowest generation of a seed above all used ones whose id is not in ``taken``."""
    generation = generations.get(seed, -1) + 1
    while mint(seed, generation) in taken:
        generation += 1
    return generation


def list_minted(generations: Mapping[str, int]) -> frozenset[str]:
    """Return every id ever minted, according to the ledger."""
    return frozenset(mint(seed, g) for seed, highest in generations.items() for g in range(highest + 1))


def trace_seed(
    event_id: str, generation: int, generations: Mapping[str, int], day: date, fields: EventFields, tz: ZoneInfo
) -> str:
    """Return the seed of an event's id: one from the ledger, or one built from its own name and start.

    An id that cannot be traced gets the seed of a block at the front of the plan.
    """
    for seed, highest in generations.items():
        if generation <= highest and mint(seed, generation) == event_id:
            return seed
    start = fields.start.astimezone(tz)
    guesses = (build_seed(day, fields.summary, start, index) for index in range(_MOST_PLACES))
    found = next((seed for seed in guesses if mint(seed, generation) == event_id), None)
    return found or build_seed(day, fields.summary, start, 0)


class Owned(NamedTuple):
    """One of our live events that belongs to the day. ``obstacle`` says why it must not be written to, if so.

    ``is_known`` is false if the ledger neither has it nor minted its id: our mark alone may be from another database.
    """

    event: EventImage
    key: str
    is_known: bool
    head: Head | None
    obstacle: str | None

    @property
    def generation(self) -> int:
        """The generation of the event's id."""
        if self.head is not None:
            return self.head.generation
        return 0 if self.event.marker is None else self.event.marker.generation


def sort_sides(snapshot: Snapshot, ledger: Ledger) -> tuple[tuple[Owned, ...], tuple[EventImage, ...]]:
    """Return our live events, and the person's timed ones that are shown as busy, each ordered by start, then id.

    An event is ours if the ledger has it for the day, or if its id has our form *and* it has our marker for that day.
    Everything else is foreign: copies with our marker, occurrences of series, events of another day's plan, and those
    that the person brought back after another event had taken their place.
    """
    live = snapshot.live
    heads = {h.event_id: h for h in ledger.heads}
    ours = {i for i, e in live.items() if e.has_owned_id and (i in heads or _is_marked(e, snapshot.day))}
    ours -= {*ledger.brought_back}
    minted = frozenset[str]() if ours <= heads.keys() else list_minted(ledger.generations)
    series = {e.series_id for e in live.values() if e.series_id is not None}
    owned: list[Owned] = []
    foreign: list[EventImage] = []
    for event_id, event in live.items():
        if event_id in ours:
            head = heads.get(event_id)
            key = head.key if head is not None else event.marker.key if event.marker is not None else event_id
            obstacle = _(REPEATS) if event_id in series else event.obstacle
            owned.append(Owned(event, key, head is not None or event_id in minted, head, obstacle))
        elif event.is_timed and event.busy:
            foreign.append(event)
    return tuple(owned), tuple(foreign)


def _is_marked(event: EventImage, day: date) -> bool:
    return event.marker is not None and event.marker.day == day


def build_merged_head(
    block: DesiredBlock,
    owned: Owned,
    day: date,
    result: Canon,
    *,
    wanted: Canon,
    base: Canon,
    theirs: Canon,
    ours: Canon,
) -> Head:
    """Return the record of an event that shows ``result``.

    Written fields get the written value and agreed fields the shown one; all others stay. A change of the person that
    the plan has not adopted therefore remains visible as one.
    """
    new_wanted: list[object] = list(wanted)
    new_base: list[object] = list(base)
    for place in range(len(MANAGED)):
        if result[place] != theirs[place]:
            new_wanted[place], new_base[place] = ours[place], result[place]
        elif ours[place] == theirs[place]:
            new_wanted[place] = new_base[place] = theirs[place]
    return Head(
        key=block.key,
        event_id=owned.event.id,
        generation=owned.generation,
        day=day,
        base=_to_fields(new_base),
        wanted=_to_fields(new_wanted) if new_wanted != new_base else None,
        version=owned.event.version,
        restores=() if owned.head is None else owned.head.restores,
        extras=None if owned.head is None else owned.head.extras,
        unrestored=() if owned.head is None else _find_unrestored(owned.head, result, theirs=theirs, ours=ours),
    )


def _find_unrestored(head: Head, result: Canon, *, theirs: Canon, ours: Canon) -> tuple[str, ...]:
    """Return the fields that an undo could not restore and that are neither written nor agreed on now."""
    return tuple(
        name
        for name in head.unrestored
        if getattr(result, name) == getattr(theirs, name) and getattr(ours, name) != getattr(theirs, name)
    )


def build_head(owned: Owned, day: date, standing: Standing) -> Head:
    """Return the record of a timed event with another standing, or a new record if it had none."""
    if owned.head is not None:
        return replace(owned.head, standing=standing)
    return Head(
        key=owned.key,
        event_id=owned.event.id,
        generation=owned.generation,
        day=day,
        base=owned.event.canon.to_fields(),
        standing=standing,
        version=owned.event.version,
    )


def is_same_head(one: Head, other: Head) -> bool:
    """Check whether two records are equal, ignoring the version."""
    return (
        (one.key, one.event_id, one.standing) == (other.key, other.event_id, other.standing)
        and one.base.canon == other.base.canon
        and one.asked.canon == other.asked.canon
    )


def _to_fields(values: list[object]) -> EventFields:
    return Canon._make(values).to_fields()


UNNUMBERED = ""
"""The id of an op that is numbered later."""


def build_op(
    op_id: str,
    verb: Verb,
    owned: Owned,
    reason: str,
    *,
    head_after: Head | None,
    block: DesiredBlock | None = None,
    after: EventFields | None = None,
) -> SyncOp:
    """Return an op on an existing event."""
    return SyncOp(
        op_id=op_id,
        verb=verb,
        key=owned.key if block is None else block.key,
        event_id=owned.event.id,
        generation=owned.generation,
        summary=owned.event.summary if after is None else after.summary,
        before=owned.event,
        after=after,
        head_before=owned.head,
        head_after=head_after,
        reason=reason,
    )


def build_record_op(op_id: str, verb: Verb, head: Head, head_after: Head, summary: str, reason: str) -> SyncOp:
    """Return an op on an event that is gone, of which only the record is left."""
    return SyncOp(
        op_id=op_id,
        verb=verb,
        key=head.key,
        event_id=head.event_id,
        generation=head.generation,
        summary=summary,
        head_before=head,
        head_after=head_after,
        reason=reason,
    )


STAYS_DELETED = mark_message("It is no longer on your calendar, so it stays off.")
STAYS_ASKED = mark_message("You changed it, too; it stays as your calendar shows it until you choose.")
UP_TO_DATE = "Already up to date."


@dataclass(frozen=True, slots=True)
class Setting:
    """The data shared by all decisions of one run. ``taken`` are event ids in use."""

    day: date
    tz: ZoneInfo
    ledger: Ledger
    choices: Choices
    taken: Collection[str]


class Decision(NamedTuple):
    """An op and the results of its merge."""

    op: SyncOp
    merged: tuple[Merged, ...] = ()
    adopted: tuple[Adopted, ...] = ()


def decide_create(op_id: str, block: DesiredBlock, head: Head | None, setting: Setting) -> Decision:
    """Create an event for a block that the calendar does not show, under an unused id."""
    ours = block.fields.canon
    plain = build_seed(setting.day, ours.summary, ours.start.astimezone(setting.tz), block.index)
    seed = setting.ledger.add_salt(plain)
    generation = next_generation(seed, setting.ledger.generations, setting.taken)
    event_id, fields = mint(seed, generation), ours.to_fields()
    op = SyncOp(
        op_id=op_id,
        verb=Verb.CREATE,
        key=block.key,
        event_id=event_id,
        generation=generation,
        seed=seed,
        summary=ours.summary,
        after=fields,
        head_before=head,
        head_after=Head(key=block.key, event_id=event_id, generation=generation, day=setting.day, base=fields),
        reason="It is new in the plan." if head is None else "The plan asks for it again.",
    )
    return Decision(op)


def decide_deleted(op_id: str, block: DesiredBlock, head: Head) -> Decision:
    """Keep a block deleted that the person deleted, as long as the plan does not change it."""
    summary = block.fields.summary
    verb = Verb.SKIP if head.standing is Standing.DELETED else Verb.ADOPT
    gone = replace(head, standing=Standing.DELETED)
    if head.asked.canon != block.fields.canon:
        gone = replace(gone, wanted=block.fields)
    op = build_record_op(op_id, verb, head, gone, summary, _(STAYS_DELETED))
    return Decision(
        op, adopted=(Adopted(key=block.key, summary=summary, field="deleted", plan=summary, calendar=None),)
    )


def decide_disputed(op_id: str, block: DesiredBlock, head: Head, setting: Setting) -> Decision | None:
    """Decide on a block that the person deleted and the plan changed; return ``None`` to create it again."""
    winner = setting.choices.rules(head.event_id, None).winner("deleted")
    if head.standing is not Standing.HELD or winner == "plan":
        return None
    if winner == "calendar":
        return decide_deleted(op_id, block, head)
    summary = block.fields.summary
    question = Merged(
        key=block.key,
        summary=summary,
        field="deleted",
        base=head.asked.summary,
        calendar=None,
        plan=summary,
        winner="open",
    )
    op = build_record_op(op_id, Verb.SKIP, head, head, summary, _(STAYS_ASKED))
    return Decision(replace(op, after=block.fields), merged=(question,))


def decide_linked(op_id: str, block: DesiredBlock, event: EventImage, reason: str) -> Decision:
    """Decide on a block that one of the person's events already covers."""
    op = SyncOp(
        op_id=op_id,
        verb=Verb.NOOP,
        key=block.key,
        event_id=event.id,
        summary=block.fields.summary,
        after=event.fields,
        reason=reason,
    )
    return Decision(op)


def decide_live(op_id: str, block: DesiredBlock, owned: Owned, setting: Setting) -> Decision:
    """Decide on a block that the calendar shows: merge by field."""
    head, event = owned.head, owned.event
    if owned.obstacle is not None:
        return _decide_left(op_id, block, owned, owned.obstacle)
    if head is not None and _is_unchanged(head, block, event):
        return Decision(build_op(op_id, Verb.NOOP, owned, UP_TO_DATE, block=block, after=head.base, head_after=head))
    ours, theirs = block.fields.canon, event.canon
    base = theirs if head is None else head.base.canon
    wanted = base if head is None or head.wanted is None else head.wanted.canon
    merged = merge(wanted=wanted, base=base, theirs=theirs, ours=ours, rules=setting.choices.rules(event.id, theirs))
    stays = "start" in merged.adopted or merged.conflicts.get("start") == "calendar"
    if stays and (elsewhere := explain_other_day(theirs.start, base.start, setting.day, setting.tz)):
        return _decide_left(op_id, block, owned, elsewhere)
    after = build_merged_head(
        block, owned, setting.day, merged.result, wanted=wanted, base=base, theirs=theirs, ours=ours
    )
    if merged.result != theirs:
        reason = "The plan changed." if head is not None else "The plan has it differently."
        op = build_op(
            op_id,
            Verb.UPDATE,
            owned,
            reason,
            block=block,
            after=merged.result.to_fields(),
            head_after=after,
        )
    elif head is None or not is_same_head(head, after):
        op = build_op(
            op_id,
            Verb.ADOPT,
            owned,
            "The calendar shows it already.",
            block=block,
            after=theirs.to_fields(),
            head_after=after,
        )
    else:
        kept = "Your own change on the calendar stays." if merged.adopted or merged.conflicts else UP_TO_DATE
        reason = _(STAYS_ASKED) if merged.open else kept
        op = build_op(op_id, Verb.NOOP, owned, reason, block=block, after=theirs.to_fields(), head_after=head)
    return _report_merge(op, merged, setting.tz, base=base, theirs=theirs, ours=ours)


def _decide_left(op_id: str, block: DesiredBlock, owned: Owned, reason: str) -> Decision:
    """Leave an event alone that the person took out of the day's plan, and let the plan follow."""
    said = _("It stays as it is: {obstacle}.", obstacle=reason)
    op = build_op(op_id, Verb.SKIP, owned, said, block=block, head_after=owned.head)
    summary = owned.event.summary
    left = Adopted(key=block.key, summary=summary, field="released", plan=block.fields.summary, calendar=reason)
    return Decision(op, adopted=(left,))


def _report_merge(op: SyncOp, result: FieldMerge, tz: ZoneInfo, *, base: Canon, theirs: Canon, ours: Canon) -> Decision:
    """Return the op with the fields that both sides changed, and those that keep a value the plan does not have."""
    merged: list[Merged] = []
    adopted: list[Adopted] = []
    for name in MANAGED if result.adopted or result.conflicts else ():
        known, calendar, plan = (format_value(getattr(side, name), tz) for side in (base, theirs, ours))
        winner = result.conflicts.get(name)
        if winner is not None:
            merged.append(
                Merged(
                    key=op.key,
                    summary=op.summary,
                    field=name,
                    base=known,
                    calendar=calendar,
                    plan=plan,
                    winner=winner,
                )
            )
        if winner == "calendar" or name in result.adopted:
            adopted.append(
                Adopted(
                    key=op.key,
                    summary=op.summary,
                    field=cast("ManagedName", name),
                    plan=plan,
                    calendar=calendar,
                )
            )
    return Decision(op, tuple(merged), tuple(adopted))


def _is_unchanged(head: Head, block: DesiredBlock, event: EventImage) -> bool:
    """Check whether neither side changed anything: the fast path for most blocks of most days."""
    known = head.wanted is None and head.key == block.key and head.standing is Standing.HELD
    return known and head.base.canon == event.canon == block.fields.canon


def decide_leftover(op_id: str, owned: Owned, setting: Setting, *, spare: bool = False) -> Decision | None:
    """Decide on one of our live events without a block; return ``None`` for one that was released before.

    A ``spare`` is a second event of a block; the block's record is not about it.
    """
    head = owned.head
    if head is not None and head.standing is Standing.RELEASED:
        return None
    if not owned.is_known:
        reason = _("It has fateforger's mark, but is not in this database; I left it alone.")
        return Decision(build_op(op_id, Verb.SKIP, owned, reason, head_after=None))
    if kept := _explain_keeping(owned, setting):
        if spare or (head is None and owned.obstacle is not None):
            return Decision(build_op(op_id, Verb.SKIP, owned, kept, head_after=head))
        return Decision(
            build_op(op_id, Verb.RELEASE, owned, kept, head_after=build_head(owned, setting.day, Standing.RELEASED))
        )
    removed = None if spare else build_head(owned, setting.day, Standing.REMOVED)
    return Decision(build_op(op_id, Verb.DELETE, owned, "It is no longer in the plan.", head_after=removed))


def explain_leaving(event: EventImage, head: Head | None, day: date, tz: ZoneInfo) -> str | None:
    """Return the reason that an event cannot be a block of the day any more, if the person made it so."""
    if event.obstacle is not None or head is None:
        return event.obstacle
    return explain_other_day(event.canon.start, head.base.canon.start, day, tz)


def _explain_keeping(owned: Owned, setting: Setting) -> str | None:
    """Return the reason not to delete an event that left the plan, if any."""
    head, event = owned.head, owned.event
    left = owned.obstacle or explain_leaving(event, head, setting.day, setting.tz)
    if left is not None:
        return _("It is no longer in the plan, but {reason}, so I left it to you.", reason=left)
    if head is not None and head.standing is not Standing.HELD:
        return _("You brought it back, so I left it to you.")
    if (done := describe_extras(event.extras, None if head is None else head.extras)) is not None:
        return _("It is no longer in the plan, but {reason} on your calendar, so I left it to you.", reason=done)
    if head is not None and head.base.canon != event.canon:
        return _("It is no longer in the plan, but you changed it on your calendar, so I left it to you.")
    return None


def decide_forget(op_id: str, head: Head) -> Decision:
    """Drop the record of an event that is gone and not wanted by any plan."""
    removed = replace(head, standing=Standing.REMOVED)
    return Decision(
        build_record_op(op_id, Verb.FORGET, head, removed, head.base.summary, "It is gone from plan and calendar.")
    )
