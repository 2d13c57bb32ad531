"""Plan of an undo: a second three-way merge, of our writes with what the calendar shows now.

    we did  | calendar now                       | undo
    --------+------------------------------------+--------------------------------------------------------
    create  | as we left it                      | delete
    create  | changed, added to, or brought back | release: it is the person's now (``force`` deletes it), and what we
            |                                    | wrote over their change since goes back to that
    update  | field as we left it                | the field's value from before
    update  | field changed                      | stays, and is reported
    update  | had no color before               | keeps ours where the calendar cannot remove a color, and is reported
    delete  | gone                               | create from the image of before, under the next generation, with all
            |                                    | that the person had added and the calendar accepts
    delete  | gone, the block was planned again  | nothing: it is there already
    any     | it is already as before            | nothing

Several transactions are undone as one: each step is undone in memory, the latest first, and only the difference between
the calendar now and the outcome becomes ops. The result is a sync plan like any other, so an undo is carried out,
recovered and undone (a redo) like a submit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from fateforger.calendar.decision import UNNUMBERED, build_record_op, mint, next_generation, trace_seed
from fateforger.calendar.engine import OpIds
from fateforger.calendar.event import (
    MANAGED,
    PLAIN,
    Canon,
    EventExtras,
    EventImage,
    find_missing_extras,
)
from fateforger.calendar.lineage import Lineage, Lineages
from fateforger.calendar.model import (
    Head,
    Ledger,
    Snapshot,
    Standing,
    SyncOp,
    SyncPlan,
    Verb,
    describe_extras,
    describe_missing,
)
from fateforger.calendar.transactions import OpRecord, OpState, Transaction
from fateforger.errors import InternalError
from fateforger.text import gettext as _
from fateforger.text import quote_title
from fateforger.values import replace


def build_restoring_op(lineage: Lineage, lineages: Lineages, keys: frozenset[str]) -> SyncOp | None:
    """Return the op, not numbered yet; ``None`` when there is nothing to do or to record.

    ``keys`` are those in use after the undo: the record of a block that goes must not replace another's.
    """
    event, shown, now = lineage.event, lineage.current, lineage.now
    if lineage.brought_back and lineage.stays:
        return None  # with a record, it would be taken for the block that it was
    if event is None:
        return _build_record_op(lineage, keys) if now is None else _recreate(lineage, now, lineages)
    if shown is None or (lineage.released and now in {None, shown}):
        head = _set_standing(lineage, event, Standing.RELEASED, lineages)
        return _build_op(Verb.RELEASE, lineage, event, head, "It is yours now.") if head != lineage.head else None
    if now is None:
        gone = _mark_gone(lineage, _set_standing(lineage, event, Standing.REMOVED, lineages))
        op = _build_op(Verb.DELETE, lineage, event, gone, "It was not there before.")
        return replace(op, head_after=None if gone.key in keys else gone)
    head = _restore_head(lineage, event, lineages)
    if now != shown:
        op = _build_op(Verb.UPDATE, lineage, event, head, "Back to what it was before.")
        return replace(op, after=now.to_fields(), summary=now.summary)
    return _build_op(Verb.ADOPT, lineage, event, head, "It stays as it is.") if head != lineage.head else None


def _recreate(lineage: Lineage, now: Canon, lineages: Lineages) -> SyncOp:
    """Return the op that recreates a deleted event under an unused id, with everything the person had added.

    Its record is the earlier one, so that additions of the person show as theirs again.
    """
    old, known, fields = lineage.first, lineage.known, now.to_fields()
    plain = trace_seed(old.event_id, old.generation, lineages.generations, lineages.day, fields, lineages.tz)
    seed = lineages.add_salt(plain)
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
        wanted=known.asked if known is not None and known.asked.canon != base.canon else None,
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
        after=fields,
        extras=None if extras is None or extras == PLAIN else extras,
        head_before=lineage.head,
        head_after=head,
        reason="It was there before.",
    )


def _build_record_op(lineage: Lineage, keys: frozenset[str]) -> SyncOp | None:
    """Return the op on the record of a block that the earlier plan did not have, or that the person deleted."""
    head = lineage.head
    if head is None or head.key in keys or lineage.was_removed:
        return None
    after = _mark_gone(lineage, head)
    if after == head:
        return None
    verb = Verb.FORGET if after.standing is Standing.REMOVED else Verb.ADOPT
    return build_record_op(UNNUMBERED, verb, head, after, head.base.summary, "It is gone from your calendar already.")


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
    released = lineage.released or lineage.was_released or lineage.was_brought_back
    current = _set_standing(lineage, event, Standing.RELEASED if released else Standing.HELD, lineages)
    known = lineage.known or current
    base, asked = known.base.canon, known.asked.canon
    if lineage.keeps_color and lineage.now is not None:
        base, asked = (side._replace(color_id=lineage.now.color_id) for side in (base, asked))
    return replace(
        current,
        key=lineage.key,
        base=base.to_fields(),
        wanted=None if asked == base else asked.to_fields(),
        restores=tuple(event_id for event_id in lineage.ids if event_id != event.id),
        unrestored=("color_id",) if lineage.keeps_color else known.unrestored,
    )


def _set_standing(lineage: Lineage, event: EventImage, standing: Standing, lineages: Lineages) -> Head:
    """Return the current record with another standing, or a new record if there is none."""
    if lineage.head is not None:
        return replace(lineage.head, standing=standing)
    base = event.fields if event.is_timed else lineage.first.after or event.fields
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


_TIME = ("start", "end")


def plan_undo(
    transactions: Sequence[Transaction],
    snapshot: Snapshot,
    ledger: Ledger,
    *,
    op_ids: OpIds,
    force: bool = False,
    can_clear_color: bool = True,
) -> SyncPlan:
    """Return the ops that undo ``transactions``, the newest first in the list, all of one day.

    ``snapshot`` is the calendar now and must hold, seen or fetched, every event that the transactions touched;
    ``ledger`` is the current record of the day. Only ops that took effect are undone. Changes by the person are kept
    and listed in ``warnings``. With ``force``, created blocks are deleted even then. ``can_clear_color`` says whether
    the calendar can remove a color.
    """
    if any(t.day != snapshot.day for t in transactions):
        raise InternalError("One undo is about one day.")
    lineages = Lineages(snapshot, ledger)
    for transaction in transactions:
        latest_first = transaction.records[::-1]
        # Deletions last: by then each key is back with the block that had it.
        for record in sorted(latest_first, key=lambda record: record.op.verb is Verb.DELETE):
            if record.state is OpState.APPLIED:
                _undo_record(record, lineages, force=force)
    lineages.join()
    if not can_clear_color:
        for lineage in lineages:
            lineage.keep_color()
    keys = lineages.give_keys()
    ops = [op for lineage in lineages if (op := build_restoring_op(lineage, lineages, keys)) is not None]
    return SyncPlan(
        day=snapshot.day,
        tz=snapshot.tz,
        ops=tuple(replace(op, op_id=op_ids(n)) for n, op in enumerate(ops)),
        warnings=tuple(sentence for lineage in lineages for sentence in lineage.told),
    )


def _undo_record(record: OpRecord, lineages: Lineages, *, force: bool) -> None:
    op = record.op
    match op.verb:
        case Verb.CREATE:
            lineage = lineages.of(op)
            _undo_create(lineage, op, _get_left_state(record), _get_left_extras(record, lineage), force=force)
        case Verb.UPDATE:
            _undo_update(lineages.of(op), op, _get_left_state(record), force=force)
        case Verb.DELETE:
            _undo_delete(lineages.of(op), op, lineages)
        case Verb.ADOPT | Verb.FORGET:
            lineages.of(op).known_as(op.head_before)
        case Verb.RELEASE | Verb.NOOP | Verb.SKIP:
            return
        case _:
            assert_never(op.verb)


def _get_left_state(record: OpRecord) -> Canon:
    """Return the event as we left it: as it was seen then, otherwise as it was written."""
    seen = record.observed if record.observed is not None and record.observed.is_timed else record.op.after
    if seen is None:
        raise InternalError(f"Op {record.op.op_id} does not know what it wrote.")
    return seen.canon


def _get_left_extras(record: OpRecord, lineage: Lineage) -> EventExtras:
    """Return the extras of a created event when we left it: as seen then, otherwise as created.

    For an event that was recreated since, its record has them.
    """
    event, head = lineage.event, lineage.head
    if event is not None and event.id != record.op.event_id and head is not None and head.extras is not None:
        return head.extras
    if record.observed is not None:
        return record.observed.extras
    return record.op.extras or PLAIN


def _undo_create(lineage: Lineage, op: SyncOp, left: Canon, extras: EventExtras, *, force: bool) -> None:
    if lineage.released:
        return
    if (reason := _explain_keeping(lineage, left, extras, force=force)) is not None:
        _leave(lineage, left, reason)
        return
    lineage.known = op.head_before
    if not lineage.is_gone:
        lineage.now = None
    lineage.extras = None


def _leave(lineage: Lineage, left: Canon, reason: str) -> None:
    lineage.release(_("I left {title} on your calendar: {reason}.", title=_name(lineage, left), reason=reason))


def _name(lineage: Lineage, left: Canon) -> str:
    """Return the title that we wrote, and the one that the calendar shows now if it is another one."""
    title, shown = quote_title(left.summary), lineage.current
    if shown is None or shown.summary == left.summary:
        return title
    return _("{title} (now {name})", title=title, name=quote_title(shown.summary))


def _explain_keeping(lineage: Lineage, left: Canon, extras: EventExtras, *, force: bool) -> str | None:
    """Return the reason not to delete an event that we made, if any."""
    if lineage.is_gone:
        return None
    if lineage.obstacle is not None:
        return lineage.obstacle
    if force:
        return None
    if lineage.extras is not None and (done := describe_extras(lineage.extras, extras)) is not None:
        return done
    if not lineage.changed_since(left):
        if lineage.was_brought_back:
            return _("you brought it back")
        return _("it is yours now") if lineage.was_released else None
    return _("you changed it since") if lineage.now == lineage.current else _("you had changed it")


def _undo_update(lineage: Lineage, op: SyncOp, left: Canon, *, force: bool) -> None:
    if op.before is None:
        raise InternalError(f"Update {op.op_id} does not know what was there before.")
    if lineage.released or lineage.was_removed:
        return
    if lineage.was_brought_back and not force:
        _leave(lineage, left, _("you brought it back"))
        return
    lineage.known_as(op.head_before)
    title = _name(lineage, left)
    if lineage.now is None or lineage.obstacle is not None:
        reason = _("it is gone from your calendar") if lineage.obstacle is None else lineage.obstacle
        lineage.told.append(_("I could not set {title} back: {reason}.", title=title, reason=reason))
        return
    before = op.before.canon
    kept = op.changes.keys() & lineage.changed_since(left)
    result = _replace(lineage.now, before, op.changes.keys() - kept)
    if kept & set(_TIME) or result.end <= result.start:
        kept |= set(_TIME) & op.changes.keys()
        result = _replace(lineage.now, before, op.changes.keys() - kept)
    already = {name for name in kept if getattr(lineage.now, name) == getattr(before, name)}
    if kept - already:
        lineage.told.append(
            _(
                "I kept what you changed of {title} since: {fields}.",
                title=quote_title(lineage.now.summary),
                fields=_name_fields(kept - already),
            )
        )
    lineage.now = result


def _undo_delete(lineage: Lineage, op: SyncOp, lineages: Lineages) -> None:
    if op.before is None:
        raise InternalError(f"Delete {op.op_id} does not know what it deleted.")
    if not lineage.is_gone:
        return
    if lineages.has(op.key if op.head_before is None else op.head_before.key):
        known = op.head_before.extras if op.head_before is not None else None
        missing = find_missing_extras(op.before.extras, PLAIN if known is None else known)
        title = quote_title(op.before.summary)
        said = _("{title} is on your calendar again already.", title=title)
        if missing:
            said = _(
                "{title} is on your calendar again already, but {missing}.",
                title=title,
                missing=describe_missing(missing),
            )
        lineage.told.append(said)
        return
    lineage.now, lineage.extras = op.before.canon, op.before.extras
    lineage.known_as(op.head_before)


def _replace(now: Canon, before: Canon, names: set[str]) -> Canon:
    return now._replace(**{name: getattr(before, name) for name in names})


def _name_fields(names: set[str]) -> str:
    spoken = {
        "summary": _("the title"),
        "description": _("the notes"),
        "start": _("the time"),
        "end": _("the time"),
        "color_id": _("the color"),
    }
    return ", ".join(dict.fromkeys(spoken[name] for name in MANAGED if name in names))
