"""Carry out transactions: begin, write in waves, verify, close; and settle interrupted ones.

Updates and creates come first, deletions last and only if nothing failed, so that a stop at any point leaves too much
on the calendar rather than too little.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

from fateforger.commit.attempt import Attempts, Paused
from fateforger.commit.bounded import run_each
from fateforger.commit.hold import Hold
from fateforger.commit.outside import CommitContext
from fateforger.commit.verify import verify_writes
from fateforger.errors import CalendarAuthFailed, CalendarUnreachable, InternalError
from fateforger.journal import OpRecord, OpState, Transaction, TxState, close_transaction, judge_transaction
from fateforger.journal.standing import list_undone, simulate_undo
from fateforger.sync.model import RECORDS, WRITES, Verb

_NOT_DELETED = "It stays for now, because something else could not be written."
_SUPERSEDED = "It was given up before it was done."
_ADDITIVE = WRITES - {Verb.DELETE}
_OPEN = {OpState.PENDING, OpState.INFLIGHT}


@dataclass(frozen=True, slots=True)
class ExecutionResult:
    """A transaction after it was carried out.

    ``paused`` is the reason it waits, if it does; ``notes`` are sentences from the verification.
    """

    transaction: Transaction
    paused: str | None = None
    notes: tuple[str, ...] = ()


async def execute_sync(transaction: Transaction, outside: CommitContext, hold: Hold) -> ExecutionResult:
    """Record a transaction and carry it out, under a lease that is held.

    The calendar's answers become part of the result, which is committed, partial or paused. Raises ``StoreError``, and
    ``CalendarBusy`` if the lease was lost; the transaction then stays open, to be settled later.
    """
    await hold.ensure()
    await outside.journal.begin(transaction)
    return await _carry_on(Attempts(transaction, outside, hold, seen_at=transaction.created_at), outside, hold)


async def resume(transaction: Transaction, outside: CommitContext, hold: Hold) -> ExecutionResult:
    """Continue a transaction that was paused, or interrupted at any point.

    The person may have changed the calendar meanwhile, so every event is read before it is written to.
    """
    return await _carry_on(Attempts(transaction, outside, hold), outside, hold)


async def _carry_on(attempts: Attempts, outside: CommitContext, hold: Hold) -> ExecutionResult:
    try:
        await _run_wave(attempts, attempts.settle_inflight, outside, {OpState.INFLIGHT})
        await _run_wave(attempts, attempts.note, outside, {OpState.PENDING}, RECORDS)
        await _run_wave(attempts, attempts.carry_out, outside, {OpState.PENDING}, _ADDITIVE)
        if any(record.state is OpState.FAILED for record in attempts.transaction.records):
            await _leave(attempts, outside, OpState.SKIPPED, _NOT_DELETED)
        await _run_wave(attempts, attempts.carry_out, outside, {OpState.PENDING}, {Verb.DELETE})
    except Paused as pause:
        paused = attempts.transaction
        if paused.state is not TxState.PAUSED:
            await hold.ensure()
            paused = close_transaction(paused, TxState.PAUSED, outside.clock.now())
            await outside.journal.close(paused.id, TxState.PAUSED, outside.clock.now())
        return ExecutionResult(paused, paused=pause.reason)
    differing, notes = await verify_writes(attempts.transaction, outside, hold)
    state = TxState.PARTIAL if differing else judge_transaction(attempts.transaction)
    return ExecutionResult(await _close(attempts.transaction, state, outside, hold), notes=notes)


async def settle(transaction: Transaction, outside: CommitContext, hold: Hold) -> ExecutionResult:
    """End an interrupted transaction without writing to the calendar.

    Writes in progress are looked up, the rest is given up. Raises ``CalendarError`` if that is not possible now.
    """
    attempts = Attempts(transaction, outside, hold)
    try:
        await _run_wave(attempts, attempts.settle_tried, outside, _OPEN, WRITES, tried=True)
    except Paused as pause:
        error = CalendarAuthFailed if pause.login else CalendarUnreachable
        raise error(pause.reason) from pause
    await _leave(attempts, outside, OpState.SUPERSEDED, _SUPERSEDED)
    return ExecutionResult(await _close(attempts.transaction, judge_transaction(attempts.transaction), outside, hold))


async def _run_wave(
    attempts: Attempts,
    work: Callable[[OpRecord], Awaitable[None]],
    outside: CommitContext,
    states: Collection[OpState],
    verbs: Collection[Verb] = frozenset(Verb),
    *,
    tried: bool = False,
) -> None:
    due = [r for r in attempts.transaction.records if r.state in states and r.op.verb in verbs]
    due = [r for r in due if r.attempts or not tried]
    await run_each(due, work, at_once=outside.limits.concurrency)


async def _leave(attempts: Attempts, outside: CommitContext, state: OpState, reason: str) -> None:
    """End all pending ops without carrying them out."""

    async def leave(record: OpRecord) -> None:
        await attempts.leave(record, state, reason)

    await _run_wave(attempts, leave, outside, {OpState.PENDING})


async def _close(transaction: Transaction, state: TxState, outside: CommitContext, hold: Hold) -> Transaction:
    """Close a transaction.

    A committed undo first updates the states of the other transactions it undid or redid, so that closing again repairs
    a crash in between.
    """
    await hold.ensure()
    now = outside.clock.now()
    if state is TxState.COMMITTED:
        known = await _collect_concerned(transaction, outside)
        for other, stands in simulate_undo(list_undone(transaction), known).items():
            found = known[other]
            if stands and found.state is TxState.UNDONE:
                await outside.journal.close(other, judge_transaction(found), now)
            elif not stands and other != transaction.undoes and found.state in {TxState.COMMITTED, TxState.PARTIAL}:
                await outside.journal.close(other, TxState.UNDONE, now)
    await outside.journal.close(transaction.id, state, now)
    return close_transaction(transaction, state, now)


async def _collect_concerned(undo: Transaction, outside: CommitContext) -> dict[str, Transaction]:
    """Return what an undo undid, and what the undos among that had undone, and so on."""
    known: dict[str, Transaction] = {}
    due = list(list_undone(undo))
    while due:
        found = await outside.journal.get(due.pop())
        if found is None:
            raise InternalError(f"The undo {undo.id} took back what was never recorded.")
        if found.id not in known:
            known[found.id] = found
            due += list_undone(found)
    return known
