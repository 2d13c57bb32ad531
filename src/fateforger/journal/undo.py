"""Undo transactions: a second three-way merge, of our writes with what the calendar shows now.

    we did  | calendar now                       | undo
    --------+------------------------------------+--------------------------------------------------------
    create  | as we left it                      | delete
    create  | changed, or something was added    | release: it is the person's now (``force`` deletes it), and what we
            |                                    | wrote over their change since goes back to that
    update  | field as we left it                | the field's value from before
    update  | field changed                      | stays, and is reported
    update  | had no colour before               | keeps ours where the calendar cannot remove a colour, and is reported
    delete  | gone                               | create from the image of before, under the next generation, with all
            |                                    | that the person had added and the calendar accepts
    delete  | gone, the block was planned again  | nothing: it is there already
    any     | it is already as before            | nothing

Several transactions are undone as one: each step is undone in memory, the latest first, and only the difference between
the calendar now and the outcome becomes ops. The result is a sync plan like any other, so an undo is carried
out, recovered and undone (a redo) like a submit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from fateforger.errors import InternalError
from fateforger.journal.lineage import Lineage, Lineages
from fateforger.journal.model import OpRecord, OpState, Transaction
from fateforger.journal.restore import build_restoring_op
from fateforger.sync.canonical import Canon, canonicalize
from fateforger.sync.engine import OpIds, compute_fingerprint
from fateforger.sync.model import (
    MANAGED,
    PLAIN,
    EventExtras,
    Ledger,
    Snapshot,
    SyncOp,
    SyncPlan,
    Verb,
    find_missing_extras,
)
from fateforger.sync.words import describe_extras, describe_missing, quote_title
from fateforger.values import replace

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
    the calendar can remove a colour.
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
        snapshot_fingerprint=compute_fingerprint(snapshot),
    )


def _undo_record(record: OpRecord, lineages: Lineages, *, force: bool) -> None:
    op = record.op
    match op.verb:
        case Verb.CREATE:
            lineage = lineages.of(op)
            _undo_create(lineage, op, _get_left_state(record), _get_left_extras(record, lineage), force=force)
        case Verb.UPDATE:
            _undo_update(lineages.of(op), op, _get_left_state(record))
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
    seen = record.observed if record.observed is not None and not record.observed.all_day else record.op.after
    if seen is None:
        raise InternalError(f"Op {record.op.op_id} does not know what it wrote.")
    return canonicalize(seen)


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
        lineage.release(f"I left {quote_title(left.summary)} on your calendar{reason}.")
        return
    lineage.known = op.head_before
    if not lineage.is_gone:
        lineage.now = None
    lineage.extras = None


def _explain_keeping(lineage: Lineage, left: Canon, extras: EventExtras, *, force: bool) -> str | None:
    """Return the reason not to delete an event that we made, if any."""
    if lineage.is_gone:
        return None
    if lineage.obstacle is not None:
        return f": {lineage.obstacle}"
    if force:
        return None
    if lineage.extras is not None and (done := describe_extras(lineage.extras, extras)) is not None:
        return f": you {done}"
    if not lineage.changed_since(left):
        return None
    return ": you changed it since" if lineage.now == lineage.current else ", as you had changed it"


def _undo_update(lineage: Lineage, op: SyncOp, left: Canon) -> None:
    if op.before is None:
        raise InternalError(f"Update {op.op_id} does not know what was there before.")
    if lineage.released or lineage.was_removed:
        return
    lineage.known_as(op.head_before)
    title = quote_title(left.summary)
    if lineage.now is None or lineage.obstacle is not None:
        reason = "it is gone from your calendar" if lineage.obstacle is None else lineage.obstacle
        lineage.told.append(f"I could not set {title} back: {reason}.")
        return
    before = canonicalize(op.before)
    kept = op.changes.keys() & lineage.changed_since(left)
    result = _replace(lineage.now, before, op.changes.keys() - kept)
    if kept & set(_TIME) or result.end <= result.start:
        kept |= set(_TIME) & op.changes.keys()
        result = _replace(lineage.now, before, op.changes.keys() - kept)
    already = {name for name in kept if getattr(lineage.now, name) == getattr(before, name)}
    if kept - already:
        lineage.told.append(
            f"I kept what you changed of {quote_title(lineage.now.summary)} since: {_name_fields(kept - already)}."
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
        rest = f", but {describe_missing(missing)}" if missing else ""
        lineage.told.append(f"{quote_title(op.before.summary)} is on your calendar again already{rest}.")
        return
    lineage.now, lineage.extras = canonicalize(op.before), op.before.extras
    lineage.known_as(op.head_before)


def _replace(now: Canon, before: Canon, names: set[str]) -> Canon:
    return now._replace(**{name: getattr(before, name) for name in names})


def _name_fields(names: set[str]) -> str:
    spoken = {"summary": "title", "description": "notes", "start": "time", "end": "time", "color_id": "colour"}
    return ", ".join(dict.fromkeys(spoken[name] for name in MANAGED if name in names))
