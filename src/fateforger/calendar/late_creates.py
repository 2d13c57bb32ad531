"""Creates that reach the calendar after they were given up and undone (P4).

A calendar may carry out a create long after the request. If we gave it up, the undo of its transaction found nothing to
undo, and the event would stay. Its id was minted for that one create, so the journal identifies it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from fateforger.calendar.access import CommitContext, Hold, read_snapshot
from fateforger.calendar.comparison import list_titles
from fateforger.calendar.engine import number_ops
from fateforger.calendar.event import EventImage, OwnedId
from fateforger.calendar.execution import ExecutionResult, execute_sync
from fateforger.calendar.history import is_in_effect, list_undone
from fateforger.calendar.model import Ledger, Snapshot, SyncOp, Verb
from fateforger.calendar.ports import DayReads
from fateforger.calendar.transactions import OpState, Transaction, TxState, begin_transaction
from fateforger.calendar.undo_plan import plan_undo
from fateforger.text import gettext as _
from fateforger.text import join_sentences, mark_message, ngettext
from fateforger.values import replace

DEED = "late"
"""The ``deed`` in the context of a transaction that removed a late create."""
NEXT = mark_message("The next apply or undo removes what you have not changed.")
_WATCHED_FOR = timedelta(days=7)
"""Time after its failure during which a create is looked for on other days."""
_LOOKED_AT = 50
"""Transactions that are searched for given-up creates."""
_GIVEN_UP = {OpState.FAILED, OpState.SUPERSEDED}


@dataclass(frozen=True, slots=True)
class LateCreates:
    """Late creates of one day: their undone transactions, reduced to those creates, and the state of the day."""

    transactions: tuple[Transaction, ...]
    snapshot: Snapshot
    ledger: Ledger

    @property
    def titles(self) -> list[str]:
        return [record.op.summary for t in self.transactions for record in t.records]


def may_be_late(snapshot: Snapshot, ledger: Ledger) -> bool:
    """Check whether a snapshot has an event with one of our ids but without a record."""
    held = {head.event_id for head in ledger.heads}
    return any(not e.gone and OwnedId.is_one(e.id) and e.id not in held for e in snapshot.events)


async def find_late(outside: CommitContext, reads: DayReads | None = None) -> tuple[LateCreates, ...]:
    """Find late creates on each day with a create that was given up and undone.

    ``reads`` are those of a write that holds the lease. Raises ``CalendarError``.
    """
    calendar, now = outside.calendar, outside.clock.now()
    history = await outside.journal.history(calendar.key, limit=_LOOKED_AT)
    seen_to = [r for t in history if t.context.get("deed") == DEED for r in t.records]
    done = {r.op.event_id for r in seen_to if r.state in {OpState.APPLIED, OpState.CONFLICT}}
    days: dict[str, list[Transaction]] = {}
    for n, transaction in enumerate(history):
        old = transaction.settled_at is not None and now - transaction.settled_at > _WATCHED_FOR
        if (
            _is_taken_back(transaction, history[:n])
            and not old
            and any(i not in done for i in find_given_up(transaction))
        ):
            days.setdefault(transaction.day.isoformat(), []).append(transaction)
    found = [await _find_late_on(transactions, outside, reads or calendar) for transactions in days.values()]
    return tuple(late for late in found if late.transactions)


def _is_taken_back(transaction: Transaction, later: Sequence[Transaction]) -> bool:
    """Check whether a transaction is undone.

    One without effect is never marked as undone itself, but a later undo went back to before it or its replacement.
    """
    if transaction.state is TxState.UNDONE or is_in_effect(transaction):
        return transaction.state is TxState.UNDONE
    undos = (t for t in later if t.kind == "undo" and t.day == transaction.day and t.state is TxState.COMMITTED)
    return any(list_undone(undo) for undo in undos)


async def _find_late_on(transactions: Sequence[Transaction], outside: CommitContext, reads: DayReads) -> LateCreates:
    day, tz = transactions[0].day, transactions[0].tz
    ledger = await outside.journal.ledger(outside.calendar.key, day)
    snapshot = await read_snapshot(reads, ledger, day, tz, limits=outside.limits)
    known = {i for head in ledger.heads for i in (head.event_id, *head.restores)}
    live = {e.id: e for e in snapshot.events if not e.gone and e.id not in known}
    arrived = tuple(_keep_arrived(t, live) for t in transactions if find_given_up(t) & live.keys())
    return LateCreates(arrived, snapshot, ledger)


def find_given_up(transaction: Transaction) -> set[str]:
    """Return the event ids of creates that were tried and given up."""
    tried = [r for r in transaction.records if r.op.verb is Verb.CREATE and r.attempts]
    return {r.op.event_id for r in tried if r.state in _GIVEN_UP}


def mark_arrived(transaction: Transaction, live: Mapping[str, EventImage]) -> Transaction:
    """Return the transaction with its given-up creates that are on the calendar marked as applied."""
    arrived = find_given_up(transaction) & live.keys()
    records = tuple(
        replace(r, state=OpState.APPLIED, error="") if r.op.event_id in arrived else r for r in transaction.records
    )
    return replace(transaction, records=records)


def _keep_arrived(transaction: Transaction, live: Mapping[str, EventImage]) -> Transaction:
    arrived = find_given_up(transaction) & live.keys()
    records = mark_arrived(transaction, live).records
    return replace(transaction, records=tuple(r for r in records if r.op.event_id in arrived))


async def take_back_late(
    late: LateCreates,
    hold: Hold,
    *,
    id: str,  # noqa: A002  the field's name
    cause: str,
) -> ExecutionResult:
    """Remove late creates, or release those that the person changed, under a lease that is held."""
    outside = hold.outside
    clears = outside.calendar.traits.can_clear_color
    plan = plan_undo(late.transactions, late.snapshot, late.ledger, op_ids=number_ops(id), can_clear_color=clears)
    plan = replace(plan, ops=tuple(_detach(op) for op in plan.ops), warnings=())
    transaction = begin_transaction(
        plan,
        id=id,
        calendar=outside.calendar.key,
        kind="undo",
        created_at=outside.clock.now(),
        cause=f"{cause}/late",
        group=id,
        context={"deed": DEED},
    )
    return await execute_sync(transaction, hold)


def _detach(op: SyncOp) -> SyncOp:
    """Keep a late event out of the record of the block that has its key now."""
    if op.verb is Verb.DELETE or op.head_after is None:
        return replace(op, head_after=None)
    return replace(op, head_after=replace(op.head_after, key=op.event_id))


def describe_late(carried: ExecutionResult) -> tuple[str, ...]:
    """Return sentences about the outcome of late creates."""
    records = carried.transaction.records
    removed = [r.op.summary for r in records if r.op.verb is Verb.DELETE and r.state is OpState.APPLIED]
    sentences = [join_sentences(describe_arrivals(removed), _removed_words(len(removed)))] if removed else []
    for record in records:
        arrived = describe_arrivals([record.op.summary])
        if record.op.verb is Verb.RELEASE or record.state is OpState.CONFLICT:
            sentences.append(join_sentences(arrived, _("You changed it, so I left it to you.")))
        elif record.state is not OpState.APPLIED:
            reason = record.error or carried.paused
            sentences.append(join_sentences(arrived, _("I could not remove it: {reason}", reason=reason)))
    return tuple(sentences)


def describe_arrivals(titles: list[str]) -> str:
    """Return a sentence that creates arrived late."""
    return ngettext(
        "{titles} reached your calendar late, after you had taken it back.",
        "{titles} reached your calendar late, after you had taken them back.",
        len(titles),
        titles=list_titles(titles),
    )


def _removed_words(count: int) -> str:
    return ngettext("I removed it.", "I removed them.", count)
