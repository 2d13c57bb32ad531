"""Carry out transactions: begin, write in waves, verify, close; and settle interrupted ones.

Updates and creates come first, deletions last and only if nothing failed, so that a stop at any point leaves too much
on the calendar rather than too little.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

from fateforger.commit.attempt import Attempts, Paused
from fateforger.commit.bounded import each_of
from fateforger.commit.hold import Hold
from fateforger.commit.outside import Outside
from fateforger.commit.verify import look_again
from fateforger.errors import CalendarAuthFailed, CalendarUnreachable, InternalError
from fateforger.journal import OpRecord, OpState, Transaction, TxState, closed, verdict_on
from fateforger.journal.standing import left_standing, took_back
from fateforger.sync.model import RECORDS, WRITES, Verb

_NOT_DELETED = "It stays for now, because something else could not be written."
_SUPERSEDED = "It was given up before it was done."
_ADDITIVE = WRITES - {Verb.DELETE}
_OPEN = {OpState.PENDING, OpState.INFLIGHT}


@dataclass(frozen=True, slots=True)
class Carried:
    """A transaction after it was carried out.

    ``paused`` is the reason it waits, if it does; ``notes`` are sentences from the verification.
    """

    transaction: Transaction
    paused: str | None = None
    notes: tuple[str, ...] = ()


async def execute_sync(transaction: Transaction, outside: Outside, hold: Hold) -> Carried:
    """Record a transaction and carry it out, under a lease that is held.

    The calendar's answers become part of the result, which is committed, partial or paused. Raises ``StoreError``, and
    ``CalendarBusy`` if the lease was lost; the transaction then stays open, to be settled later.
    """
    await hold.ensure()
    await outside.journal.begin(transaction)
    return await _carry_on(Attempts(transaction, outside, hold, seen_at=transaction.created_at), outside, hold)


async def resume(transaction: Transaction, outside: Outside, hold: Hold) -> Carried:
    """Continue a transaction that was paused, or interrupted at any point.

    The person may have changed the calendar meanwhile, so every event is read before it is written to.
    """
    return await _carry_on(Attempts(transaction, outside, hold), outside, hold)


async def _carry_on(attempts: Attempts, outside: Outside, hold: Hold) -> Carried:
    try:
        await _wave(attempts, attempts.settle_inflight, outside, {OpState.INFLIGHT})
        await _wave(attempts, attempts.note, outside, {OpState.PENDING}, RECORDS)
        await _wave(attempts, attempts.carry_out, outside, {OpState.PENDING}, _ADDITIVE)
        if any(record.state is OpState.FAILED for record in attempts.transaction.records):
            await _leave(attempts, outside, OpState.SKIPPED, _NOT_DELETED)
        await _wave(attempts, attempts.carry_out, outside, {OpState.PENDING}, {Verb.DELETE})
    except Paused as pause:
        paused = attempts.transaction
        if paused.state is not TxState.PAUSED:
            await hold.ensure()
            paused = closed(paused, TxState.PAUSED, outside.clock.now())
            await outside.journal.close(paused.id, TxState.PAUSED, outside.clock.now())
        return Carried(paused, paused=pause.reason)
    differing, notes = await look_again(attempts.transaction, outside, hold)
    state = TxState.PARTIAL if differing else verdict_on(attempts.transaction)
    return Carried(await _close(attempts.transaction, state, outside, hold), notes=notes)


async def settle(transaction: Transaction, outside: Outside, hold: Hold) -> Carried:
    """End an interrupted transaction without writing to the calendar.

    Writes in progress are looked up, the rest is given up. Raises ``CalendarError`` if that is not possible now.
    """
    attempts = Attempts(transaction, outside, hold)
    try:
        await _wave(attempts, attempts.settle_tried, outside, _OPEN, WRITES, tried=True)
    except Paused as pause:
        error = CalendarAuthFailed if pause.login else CalendarUnreachable
        raise error(pause.reason) from pause
    await _leave(attempts, outside, OpState.SUPERSEDED, _SUPERSEDED)
    return Carried(await _close(attempts.transaction, verdict_on(attempts.transaction), outside, hold))


async def _wave(
    attempts: Attempts,
    work: Callable[[OpRecord], Awaitable[None]],
    outside: Outside,
    states: Collection[OpState],
    verbs: Collection[Verb] = frozenset(Verb),
    *,
    tried: bool = False,
) -> None:
    due = [r for r in attempts.transaction.records if r.state in states and r.op.verb in verbs]
    due = [r for r in due if r.attempts or not tried]
    await each_of(due, work, at_once=outside.limits.concurrency)


async def _leave(attempts: Attempts, outside: Outside, state: OpState, reason: str) -> None:
    """End all pending ops without carrying them out."""

    async def leave(record: OpRecord) -> None:
        await attempts.leave(record, state, reason)

    await _wave(attempts, leave, outside, {OpState.PENDING})


async def _close(transaction: Transaction, state: TxState, outside: Outside, hold: Hold) -> Transaction:
    """Close a transaction.

    A committed undo first updates the states of the other transactions it undid or redid, so that closing again repairs
    a crash in between.
    """
    await hold.ensure()
    now = outside.clock.now()
    if state is TxState.COMMITTED:
        known = await _concerned(transaction, outside)
        for other, stands in left_standing(took_back(transaction), known).items():
            found = known[other]
            if stands and found.state is TxState.UNDONE:
                await outside.journal.close(other, verdict_on(found), now)
            elif not stands and other != transaction.undoes and found.state in {TxState.COMMITTED, TxState.PARTIAL}:
                await outside.journal.close(other, TxState.UNDONE, now)
    await outside.journal.close(transaction.id, state, now)
    return closed(transaction, state, now)


async def _concerned(undo: Transaction, outside: Outside) -> dict[str, Transaction]:
    """Return what an undo undid, and what the undos among that had undone, and so on."""
    known: dict[str, Transaction] = {}
    due = list(took_back(undo))
    while due:
        found = await outside.journal.get(due.pop())
        if found is None:
            raise InternalError(f"The undo {undo.id} took back what was never recorded.")
        if found.id not in known:
            known[found.id] = found
            due += took_back(found)
    return known
