"""Build the op that brings a block into its state after an undo."""

from __future__ import annotations

from fateforger.journal.lineage import Lineage, Lineages
from fateforger.sync.canonical import Canon, canonicalize, is_timed, to_fields
from fateforger.sync.drafts import UNNUMBERED
from fateforger.sync.ids import mint, next_generation, trace_seed
from fateforger.sync.model import PLAIN, EventImage, Head, Standing, SyncOp, Verb
from fateforger.sync.words import list_changes
from fateforger.values import replace


def build_restoring_op(lineage: Lineage, lineages: Lineages, keys: frozenset[str]) -> SyncOp | None:
    """Return the op, not numbered yet; ``None`` when there is nothing to do or to record.

    ``keys`` are those in use after the undo: the record of a block that goes must not replace another's.
    """
    event, shown, now = lineage.event, lineage.current, lineage.now
    if event is None:
        return _build_record_op(lineage, keys) if now is None else _recreate(lineage, now, lineages)
    if shown is None or (lineage.released and now in {None, shown}):
        head = _set_standing(lineage, event, Standing.RELEASED, lineages)
        return _build_op(Verb.RELEASE, lineage, event, head, "It is yours now.") if head != lineage.head else None
    if now is None:
        gone = _mark_gone(lineage, _set_standing(lineage, event, Standing.REMOVED, lineages))
        op = _build_op(Verb.DELETE, lineage, event, gone, "It was not there before.")
        changes = list_changes(shown, None, lineages.tz)
        return replace(op, changes=changes, head_after=None if gone.key in keys else gone)
    head = _restore_head(lineage, event, lineages)
    if changes := list_changes(shown, now, lineages.tz):
        op = _build_op(Verb.UPDATE, lineage, event, head, "Back to what it was before.")
        return replace(op, changes=changes, after=to_fields(now), summary=now.summary)
    return _build_op(Verb.ADOPT, lineage, event, head, "It is as it was before.") if head != lineage.head else None


def _recreate(lineage: Lineage, now: Canon, lineages: Lineages) -> SyncOp:
    """Return the op that recreates a deleted event under an unused id, with everything the person had added.

    Its record is the earlier one, so that additions of the person show as theirs again.
    """
    old, known, fields = lineage.first, lineage.known, to_fields(now)
    seed = trace_seed(old.event_id, old.generation, lineages.generations, lineages.day, fields, lineages.tz)
    generation = next_generation(seed, lineages.generations, lineages.taken)
    event_id = mint(seed, generation)
    lineages.generations[seed] = generation
    lineages.taken.add(event_id)
    base = fields if known is None else known.base
    extras = lineage.extras
    head = Head(
        key=lineage.key,
        event_id=event_id,
        generation=generation,
        day=lineages.day,
        base=base,
        wanted=known.asked if known is not None and canonicalize(known.asked) != canonicalize(base) else None,
        restores=tuple(lineage.ids),
        extras=PLAIN if known is None or known.extras is None else known.extras,
    )
    return SyncOp(
        op_id=UNNUMBERED,
        verb=Verb.CREATE,
        key=lineage.key,
        event_id=event_id,
        generation=generation,
        seed=seed,
        summary=now.summary,
        changes=list_changes(None, now, lineages.tz),
        after=fields,
        extras=None if extras is None or extras == PLAIN else extras,
        head_before=lineage.head,
        head_after=head,
        reason="It was there before.",
    )


def _build_record_op(lineage: Lineage, keys: frozenset[str]) -> SyncOp | None:
    """Return the op on the record of a block that the earlier plan did not have, or that the person deleted."""
    head = lineage.head
    if head is None or head.key in keys:
        return None
    after = _mark_gone(lineage, head)
    if after == head:
        return None
    return SyncOp(
        op_id=UNNUMBERED,
        verb=Verb.FORGET if after.standing is Standing.REMOVED else Verb.ADOPT,
        key=head.key,
        event_id=head.event_id,
        generation=head.generation,
        summary=head.base.summary,
        head_before=head,
        head_after=after,
        reason="It is gone from your calendar already.",
    )


def _mark_gone(lineage: Lineage, head: Head) -> Head:
    """Return the record of a block that is not on the calendar.

    If the earlier plan had it, the person deleted it. A question that was open before stays open after the undo.
    """
    known = lineage.known
    wished = known is not None and known.standing in {Standing.HELD, Standing.DELETED}
    if known is None or (lineage.first.verb is Verb.CREATE and not wished):
        return replace(head, standing=Standing.REMOVED)
    asked = None if known.asked == head.base else known.asked
    standing = Standing.HELD if known.standing is Standing.HELD else Standing.DELETED
    return replace(head, standing=standing, wanted=asked)


def _restore_head(lineage: Lineage, event: EventImage, lineages: Lineages) -> Head:
    """Return the earlier record, so that differences from it show as the person's again.

    The event also takes the place of every event it restores.
    """
    released = lineage.released or (lineage.head is not None and lineage.head.standing is Standing.RELEASED)
    current = _set_standing(lineage, event, Standing.RELEASED if released else Standing.HELD, lineages)
    known = lineage.known or current
    base, asked = canonicalize(known.base), canonicalize(known.asked)
    if lineage.keeps_color and lineage.now is not None:
        base, asked = (side._replace(color_id=lineage.now.color_id) for side in (base, asked))
    return replace(
        current,
        key=lineage.key,
        base=to_fields(base),
        wanted=None if asked == base else to_fields(asked),
        restores=tuple(event_id for event_id in lineage.ids if event_id != event.id),
        unrestored=("color_id",) if lineage.keeps_color else known.unrestored,
    )


def _set_standing(lineage: Lineage, event: EventImage, standing: Standing, lineages: Lineages) -> Head:
    """Return the current record with another standing, or a new record if there is none."""
    if lineage.head is not None:
        return replace(lineage.head, standing=standing)
    base = event.fields if is_timed(event) else lineage.first.after or event.fields
    return Head(
        key=lineage.key,
        event_id=event.id,
        generation=lineage.first.generation,
        day=lineages.day,
        base=base,
        standing=standing,
        version=event.version,
    )


def _build_op(verb: Verb, lineage: Lineage, event: EventImage, head_after: Head, reason: str) -> SyncOp:
    return SyncOp(
        op_id=UNNUMBERED,
        verb=verb,
        key=head_after.key,
        event_id=event.id,
        generation=head_after.generation,
        summary=event.summary,
        before=event,
        head_before=lineage.head,
        head_after=head_after,
        reason=reason,
    )
