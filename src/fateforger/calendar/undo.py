"""Undo of transactions, as a transaction, and creates that reach the calendar after they were given up (P4).

An undo goes back to before a transaction: it undoes that one and every later transaction in effect on that day
(:func:`~fateforger.calendar.history.find_undo_scope`). The ways to ask differ only in how they name that transaction.

A calendar may carry out a create long after the request. If we gave it up, the undo of its transaction found nothing to
undo, and the event would stay. Its id was minted for that one create, so the journal identifies it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from fateforger.calendar.access import CommitContext, Hold, WaitingReads, find_brought_back, read_snapshot
from fateforger.calendar.engine import number_ops
from fateforger.calendar.event import EventImage, OwnedId
from fateforger.calendar.execution import ExecutionResult, execute_sync
from fateforger.calendar.history import UndoScope, find_undo_scope, is_in_effect, is_listed, is_redo, list_undone
from fateforger.calendar.model import WRITES, Ledger, Snapshot, SyncOp, Verb, list_titles
from fateforger.calendar.ports import DayReads
from fateforger.calendar.transactions import UNDOES, OpState, Transaction, TxState, begin_transaction
from fateforger.calendar.undo_plan import plan_undo
from fateforger.errors import NotUndoable, WrittenElsewhere
from fateforger.text import gettext as _
from fateforger.text import join_sentences, join_words, mark_message, ngettext
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


UNDONE_ALREADY = mark_message("That was undone already.")
_NOTHING = mark_message("There is nothing to undo.")
OUT_OF_DATE = mark_message(
    "Something was written after that list was made, so I did nothing. This is how it looks now."
)


ELSEWHERE = mark_message(
    "I wrote that to a different calendar than the one I use now. Connect that calendar again to take it back, or"
    " delete the blocks there."
)
STAYS_ELSEWHERE = mark_message(
    "What I wrote to the calendar that you used before stays there. To take it back, connect that calendar again and"
    " open History."
)


@dataclass(frozen=True, slots=True)
class Choice:
    """The transaction to go back before.

    It is ``transaction``, else the first write of ``group`` in effect, else the newest write in effect, of ``day`` or
    of all days. ``newest`` is the newest write of the day in the list that the person chose from, which also told them
    what else is undone.
    """

    transaction: str | None = None
    group: str | None = None
    day: date | None = None
    newest: str | None = None


async def choose_targets(outside: CommitContext, choice: Choice) -> tuple[UndoScope, ...]:
    """Decide what an undo undoes, for each affected day.

    ``gone`` and ``again`` of the result are without the writes that the person named, since they hold no surprise.
    Raises :class:`~fateforger.errors.NotUndoable`.
    """
    if choice.transaction is not None:
        firsts: Sequence[Transaction] = (await _find_named(outside, choice.transaction),)
    elif choice.group is not None:
        firsts = await _find_first_of_group(outside, choice.group)
    else:
        firsts = (await _find_newest(outside, choice.day),)
    return tuple([await _choose_since(outside, first, choice) for first in firsts])


async def _read_history(
    outside: CommitContext,
    reaches: Callable[[Sequence[Transaction]], bool],
    *,
    day: date | None = None,
    group: str | None = None,
) -> tuple[Transaction, ...]:
    """Read the history, newest first, until it ``reaches`` its goal, or ends."""
    limit = outside.limits.history
    while True:
        history = await outside.journal.history(outside.calendar.key, day=day, group=group, limit=limit)
        if len(history) < limit or reaches(history):
            return history
        limit *= 4


async def _choose_since(outside: CommitContext, first: Transaction, choice: Choice) -> UndoScope:
    history = await _read_history(outside, lambda known: any(t.id == first.id for t in known), day=first.day)
    if choice.newest is not None and next(t.id for t in history if is_listed(t)) != choice.newest:
        raise NotUndoable(_(OUT_OF_DATE), where=choice.transaction)
    way = find_undo_scope(history, first)
    if choice.newest is not None:
        return replace(way, gone=frozenset(), again=frozenset())
    named = way.asked | {t.id for t in way.targets if t.group == choice.group}
    return replace(way, gone=way.gone - named, again=way.again - set(list_undone(first)))


async def _find_named(outside: CommitContext, transaction_id: str) -> Transaction:
    found = await outside.journal.get(transaction_id)
    if found is None:
        raise NotUndoable(_("I know of no such change to this calendar."), where=transaction_id)
    if found.calendar != outside.calendar.key and found.undoable:
        raise WrittenElsewhere(_(ELSEWHERE), where=transaction_id)
    if found.state is TxState.UNDONE:
        again = _("That was done again already.") if found.kind == "undo" else _(UNDONE_ALREADY)
        raise NotUndoable(again, where=transaction_id)
    if not found.undoable:
        raise NotUndoable(_("That did nothing to your calendar, so there is nothing to undo."), where=transaction_id)
    return found


async def _find_first_of_group(outside: CommitContext, group: str) -> Sequence[Transaction]:
    """Return the first write of a group in effect on each of its days, the latest written day first."""
    history = await _read_history(outside, lambda _: False, group=group)
    standing = [t for t in history if t.kind == "submit" and t.undoable]
    if not standing and await is_written_elsewhere(outside, group):
        raise WrittenElsewhere(_(ELSEWHERE))
    if not standing:
        raise NotUndoable(_(UNDONE_ALREADY if history else _NOTHING))
    return tuple({t.day: t for t in standing}.values())


async def is_written_elsewhere(outside: CommitContext, group: str) -> bool:
    """Check whether writes of a group are in effect on another calendar, which the person has since replaced."""
    everywhere = await outside.journal.history(None, group=group, limit=outside.limits.history)
    return any(t.calendar != outside.calendar.key and t.kind == "submit" and t.undoable for t in everywhere)


async def _find_newest(outside: CommitContext, day: date | None) -> Transaction:
    """Return the newest write in effect; the target of a partial undo or an interrupted redo takes precedence."""
    history = await _read_history(outside, lambda known: any(_is_write(t, known) for t in known), day=day)
    told = next((t for t in history if is_listed(t)), None)
    if told is not None and told.kind == "undo" and told.state is TxState.PARTIAL and list_undone(told):
        found = await outside.journal.get(list_undone(told)[-1])
        if found is not None and found.undoable and (found.kind == "submit" or _was_interrupted(told)):
            return found
    newest = next((t for t in history if _is_write(t, history)), None)
    if newest is None:
        raise NotUndoable(_(_NOTHING))
    return newest


def _is_write(transaction: Transaction, history: Sequence[Transaction]) -> bool:
    """Check whether a transaction has an effect on the calendar.

    A partial redo has one, too: the writes that it was to redo are not in effect themselves.
    """
    if transaction.kind == "submit" or transaction.state is not TxState.PARTIAL:
        return transaction.kind == "submit" and transaction.undoable
    return transaction.undoable and is_redo(transaction, {t.id: t for t in history})


def _was_interrupted(undo: Transaction) -> bool:
    return any(record.state is OpState.SUPERSEDED for record in undo.records)


ALONG = "along"
"""The name in an undo's context of its effects beyond the request, in words."""


async def undo_sync(
    chosen: UndoScope,
    hold: Hold,
    *,
    id: str,  # noqa: A002  the field's name
    cause: str,
    context: Mapping[str, Any] | None = None,
    force: bool = False,
    salt: str = "",
) -> ExecutionResult:
    """Undo the chosen transactions, under a lease that is held; ``salt`` is for the ids of new events.

    Every event that they touched is read again first. Once the undo is committed, all of them are undone; after a
    partial undo they can be undone again. Raises as ``execute_sync`` does, and ``CalendarError`` when the calendar
    cannot be read.
    """
    targets, context, outside = chosen.targets, context or {}, hold.outside
    day, tz = targets[0].day, targets[0].tz
    ledger = await outside.journal.ledger(outside.calendar.key, day)
    touched = [r.op.event_id for t in targets for r in t.records if r.op.verb in WRITES]
    reads = WaitingReads(hold)
    snapshot = await read_snapshot(reads, ledger, day, tz, limits=outside.limits, also=touched)
    ledger = await find_brought_back(snapshot, ledger, outside.journal, outside.calendar.key, limits=outside.limits)
    ledger = replace(ledger, salt=salt)
    live = dict(snapshot.live)
    # An event that an undo created in place of a deleted one also represents that one.
    live |= {old: live[head.event_id] for head in ledger.heads if head.event_id in live for old in head.restores}
    as_they_are = [mark_arrived(target, live) for target in targets]
    clears = outside.calendar.traits.can_clear_color
    plan = plan_undo(as_they_are, snapshot, ledger, op_ids=number_ops(id), force=force, can_clear_color=clears)
    more: dict[str, Any] = {UNDOES: [target.id for target in targets]}
    if along := _describe_along(chosen, context.get("session")):
        more[ALONG] = along
    if targets[-1].kind == "undo":
        more["deed"] = "redo"
    transaction = begin_transaction(
        plan,
        id=id,
        calendar=outside.calendar.key,
        kind="undo",
        created_at=reads.seen_at,
        cause=cause,
        group=id,
        undoes=targets[0].id,
        context={**context, **more},
    )
    return await execute_sync(transaction, hold)


def _describe_along(chosen: UndoScope, session: str | None) -> str:
    """Return the effects beyond the request, as sentences; an empty text if there are none."""
    sentences = []
    if gone := [t for t in chosen.targets if t.id in chosen.gone]:
        makers = Counter(_describe_origin(t.context.get("session"), session) for t in gone)
        made = [_ORIGINS[maker](number) for maker, number in makers.items()]
        sentences.append(_("This also took back later writes: {made}.", made=join_words(made)))
    if chosen.again:
        count = len(chosen.again)
        sentences.append(ngettext("This also did {count} write again.", "This also did {count} writes again.", count))
    return join_sentences(*sentences)


_ORIGINS: Mapping[str, Callable[[int], str]] = {
    "command line": lambda n: ngettext("{count} made from the command line", "{count} made from the command line", n),
    "thread": lambda n: ngettext("{count} made in a thread", "{count} made in a thread", n),
    "this thread": lambda n: ngettext("{count} made in this thread", "{count} made in this thread", n),
    "another thread": lambda n: ngettext("{count} made in another thread", "{count} made in another thread", n),
}


def _describe_origin(other: str | None, session: str | None) -> str:
    if other is None:
        return "command line"
    if session is None:
        return "thread"
    return "this thread" if other == session else "another thread"
