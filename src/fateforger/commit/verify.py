"""Verify a write: compare what the calendar shows with what was written."""

from __future__ import annotations

from fateforger.commit.hold import Hold
from fateforger.commit.outside import CommitContext
from fateforger.commit.read import read_snapshot
from fateforger.commit.waiting import WaitingReads
from fateforger.errors import CalendarError
from fateforger.journal import OpRecord, OpState, Transaction
from fateforger.sync.canonical import canonicalize, is_timed
from fateforger.sync.model import MANAGED, WRITES, EventImage, Ledger, Snapshot, Verb
from fateforger.sync.words import quote_title

UNCHECKED_TOO = "For the same reason I could not look at your calendar again to check."


async def verify_writes(transaction: Transaction, outside: CommitContext, hold: Hold) -> tuple[bool, tuple[str, ...]]:
    """Return whether the calendar differs from what was written, and sentences about it.

    A failed reading is reported, but is not a difference: each write was confirmed on its own.
    """
    written = [r for r in transaction.records if r.state is OpState.APPLIED and r.op.verb in WRITES]
    if not written:
        return False, ()
    ids = [record.op.event_id for record in written if record.op.verb is not Verb.DELETE]
    try:
        snapshot = await read_snapshot(
            WaitingReads(outside, hold), Ledger(), transaction.day, transaction.tz, limits=outside.limits, also=ids
        )
    except CalendarError as error:
        said = any(record.error == error.message for record in transaction.records)
        return False, (UNCHECKED_TOO if said else f"I could not look at your calendar again to check: {error.message}",)
    sentences = find_differences(written, snapshot)
    return bool(sentences), sentences


def find_differences(written: list[OpRecord], snapshot: Snapshot) -> tuple[str, ...]:
    """Return one sentence for each write that the calendar does not show."""
    seen = (*snapshot.events, *filter(None, snapshot.fetched.values()))
    live = {event.id: event for event in seen if not event.gone}
    return tuple(s for record in written if (s := _find_difference(record, live.get(record.op.event_id))) is not None)


def _find_difference(record: OpRecord, event: EventImage | None) -> str | None:
    title = quote_title(record.op.summary)
    if record.op.verb is Verb.DELETE:
        return None if event is None else f"{title} was deleted, but your calendar shows it again."
    if event is None:
        return f"{title} was written, but is not on your calendar any more."
    shown = record.observed or record.op.after
    if shown is None or not is_timed(shown):
        return None
    names = record.op.changes.keys() if record.op.verb is Verb.UPDATE else MANAGED
    expected, now = canonicalize(shown), canonicalize(event) if is_timed(event) else None
    if now is not None and all(getattr(now, name) == getattr(expected, name) for name in names):
        return None
    return f"{title} was written, but your calendar shows it differently now."
