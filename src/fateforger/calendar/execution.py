"""Execution of transactions: an intent before each call, a verdict after it, and the verification.

Updates and creates come first, deletions last and only if nothing failed, so that a stop at any point leaves too much
on the calendar rather than too little.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import assert_never

from fateforger.calendar.access import (
    CommitContext,
    Hold,
    Wait,
    WaitingReads,
    read_snapshot,
    run_each,
    wait_with_lease,
)
from fateforger.calendar.event import MANAGED, PLAIN, EventImage, Marker, OwnedId
from fateforger.calendar.history import list_undone, simulate_undo
from fateforger.calendar.model import RECORDS, WRITES, Head, Ledger, Snapshot, SyncOp, Verb
from fateforger.calendar.ports import (
    Create,
    Delete,
    Done,
    Exists,
    Gone,
    Limited,
    Rejected,
    Stale,
    Unauthorized,
    Unknown,
    Update,
    Write,
)
from fateforger.calendar.transactions import (
    OpRecord,
    OpState,
    Transaction,
    TxState,
    close_transaction,
    judge_transaction,
    move_record,
    with_records,
)
from fateforger.calendar.verdicts import Ended, Happened, NotYet, Verdict, judge, judge_answer
from fateforger.errors import CalendarAuthFailed, CalendarError, CalendarUnreachable, InternalError
from fateforger.text import gettext as _
from fateforger.text import mark_message, quote_title
from fateforger.values import replace

_FEWER = mark_message("The calendar wants fewer requests.")
Answer = Done | Exists | Gone | Stale | Rejected | Unknown
"""The possible answers of a calendar to a write, apart from "not now"."""


class Paused(Exception):
    """The rest has to wait: the login expired, or the calendar does not answer or wants fewer requests."""

    def __init__(self, reason: str, *, login: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.login = login


class Attempts:
    """Carries out ops of one transaction, and keeps ``transaction`` as the journal has it.

    ``seen_at`` is the time of the reading that the ops were decided from (``None``: unknown). An event that was not
    read for a while is read again before it is written to.
    """

    def __init__(self, transaction: Transaction, hold: Hold, *, seen_at: datetime | None = None) -> None:
        self.transaction = transaction
        self._hold = hold
        self._outside = hold.outside
        self._seen_at = seen_at
        self.at_once = hold.outside.calendar.traits.writes_at_once or hold.outside.limits.concurrency
        self._waited = 0.0
        self._waiting_until = datetime.min.replace(tzinfo=UTC)
        self._keys = {r.op.head_after.key for r in transaction.records if r.op.head_after is not None}

    def tell(self, wait: Wait | None = None) -> None:
        """Report the number of events written, and the current wait."""
        writes = [r for r in self.transaction.records if r.op.verb in WRITES]
        ended = sum(r.state not in {OpState.PENDING, OpState.INFLIGHT} for r in writes)
        self._outside.told(ended, len(writes), wait)

    async def carry_out(self, record: OpRecord) -> None:
        """Finish a pending write. Raises :class:`Paused` when it has to wait."""
        attempts, waits, seen_at = 0, 0, self._seen_at
        reason = _("The calendar did not take it after {count} tries.", count=self._outside.limits.attempts)
        while True:
            now = self._outside.clock.now()
            if self._must_look_first(record.op) and self._is_older(seen_at, self._outside.limits.fresh_for):
                verdict = judge(record.op, await self._get(record.op.event_id))
                if not isinstance(verdict, NotYet):
                    await self._settle_verdict(record, verdict)
                    return
                record, seen_at = await self._put_back(record, verdict), now
            record, answer = await self._call(record, seen_at)
            if isinstance(answer, Limited):
                await self._wait(self._outside.pause_before(waits, answer.retry_after), answer.reason or _(_FEWER))
                waits += 1
                continue
            now = self._outside.clock.now()
            verdict = await self._verdict(record.op, answer, last=attempts + 1 == self._outside.limits.attempts)
            if not isinstance(verdict, NotYet):
                await self._settle_verdict(record, verdict)
                return
            attempts += 1
            if attempts == self._outside.limits.attempts:
                await self._settle(move_record(record, OpState.FAILED, error=reason))
                return
            record, seen_at = await self._put_back(record, verdict), now
            await self._wait(self._outside.pause_before(attempts - 1), reason)

    def _must_look_first(self, op: SyncOp) -> bool:
        """Check whether an event that was read a while ago is read again before the call.

        A create has no event. A calendar may compare versions on deletion by itself, but after an interruption the
        deletion may have happened already.
        """
        if op.verb is Verb.DELETE and self._seen_at is not None and self._outside.calendar.traits.compares_on_delete:
            return op.before is None or op.before.version is None
        return op.verb is not Verb.CREATE

    def _is_older(self, seen_at: datetime | None, seconds: float) -> bool:
        return seen_at is None or (self._outside.clock.now() - seen_at).total_seconds() > seconds

    async def settle_inflight(self, record: OpRecord) -> None:
        """Find out about a write that was in progress when the process stopped: it ends, or is pending again."""
        await self._find_out(record, last=False)

    async def settle_tried(self, record: OpRecord) -> None:
        """Find out about a write that will not be tried again, though it may still land: it ends, or is pending."""
        await self._find_out(record, last=True)

    async def _find_out(self, record: OpRecord, *, last: bool) -> None:
        verdict = await self._look(record.op, Unknown("interrupted"), last=last)
        if isinstance(verdict, NotYet):
            await self._put_back(record, verdict)
        else:
            await self._settle_verdict(record, verdict)

    async def note(self, record: OpRecord) -> None:
        """Carry out an op that only changes our records."""
        await self._settle(move_record(record, OpState.APPLIED), head=record.op.head_after)

    async def leave(self, record: OpRecord, state: OpState, reason: str) -> None:
        """End a pending op without carrying it out."""
        await self._settle(move_record(record, state, error=reason))

    async def _verdict(self, op: SyncOp, answer: Answer, *, last: bool) -> Verdict:
        match answer:
            case Done(image=image) if _is_conclusive(op, image):
                return judge_answer(op, image)
            case Rejected(reason=reason):
                return Ended(OpState.FAILED, reason)
            case Done() | Exists() | Gone() | Stale() | Unknown():
                return await self._look(op, answer, last=last)
            case _:
                assert_never(answer)

    async def _call(self, record: OpRecord, seen_at: datetime | None) -> tuple[OpRecord, Answer | Limited]:
        """Call once. A call that did not even begin leaves the op pending again."""
        await self._hold.ensure()
        await self._outside.journal.mark(self.transaction.id, [record.op.op_id], OpState.INFLIGHT)
        record = self._keep(move_record(record, OpState.INFLIGHT))
        outcome = await self._outside.calendar.write(self._build_write(record.op, seen_at))
        if not isinstance(outcome, Limited | Unauthorized):
            return record, outcome
        await self._hold.ensure()
        await self._outside.journal.mark(self.transaction.id, [record.op.op_id], OpState.PENDING)
        record = self._keep(move_record(record, OpState.PENDING))
        if isinstance(outcome, Unauthorized):
            raise Paused(outcome.reason, login=True)
        return record, outcome

    def _build_write(self, op: SyncOp, seen_at: datetime | None) -> Write:
        event_id = OwnedId(op.event_id)
        marker = Marker(key=op.key, generation=op.generation, day=self.transaction.day, op_id=op.op_id)
        version = None if op.before is None else op.before.version
        if op.verb is Verb.DELETE:
            return Delete(event_id, expect=version)
        if op.after is None:
            raise InternalError(f"Op {op.op_id} does not know what to write.")
        if op.verb is Verb.CREATE:
            return Create(event_id, op.after, marker, PLAIN if op.extras is None else op.extras)
        changes = {name: getattr(op.after, name) for name in op.changes}
        seen = None if self._is_older(seen_at, self._outside.limits.vouched_for) else op.before
        expect = version if self._outside.calendar.traits.conditional_write else None
        return Update(event_id, changes, marker, expect=expect, seen=seen)

    async def _look(self, op: SyncOp, outcome: Answer, *, last: bool) -> Verdict:
        """Return the verdict on a write.

        A write without an answer may land late, so it counts as not done only if it is still missing after a grace
        period. A create needs none unless this was the ``last`` try, since its id lets it land only once, except where
        ids are used again: there the next try could be deleted by the person before this one lands.
        """
        refused, unanswered = isinstance(outcome, Exists), isinstance(outcome, Unknown)
        verdict = judge(op, await self._get(op.event_id), refused=refused, unanswered=unanswered)
        lands_once = op.verb is Verb.CREATE and not self._outside.calendar.traits.reuses_ids
        sure = not unanswered or (lands_once and not last)
        if isinstance(verdict, Happened) or sure:
            return verdict
        await self._outside.sleep(self._outside.limits.landing_grace)
        return judge(op, await self._get(op.event_id), refused=refused, unanswered=unanswered)

    async def _get(self, event_id: str) -> EventImage | None:
        attempt = 0
        while True:
            try:
                return await self._outside.calendar.get(event_id)
            except CalendarAuthFailed as error:
                raise Paused(error.message, login=True) from error
            except CalendarError as error:
                if isinstance(error, CalendarUnreachable) and error.retry_after is not None:
                    await self._wait(error.retry_after, error.reason or error.message)
                    continue
                attempt += 1
                if attempt >= self._outside.limits.attempts:
                    raise Paused(error.message) from error
                await self._wait(self._outside.pause_before(attempt - 1), error.message)

    async def _wait(self, seconds: float, reason: str) -> None:
        """Wait while keeping the lease, unless the transaction's budget for waiting is used up.

        Concurrent waits count once.
        """
        now = self._outside.clock.now()
        until = now + timedelta(seconds=seconds)
        self._waited += max(0.0, (until - max(now, self._waiting_until)).total_seconds())
        self._waiting_until = max(until, self._waiting_until)
        if self._waited > self._outside.limits.waiting_budget:
            raise Paused(reason)
        self.tell(Wait(seconds, reason))
        await wait_with_lease(seconds, self._hold)

    async def _put_back(self, record: OpRecord, verdict: NotYet) -> OpRecord:
        """Return an op to pending with the rest that is left to do."""
        pending = record if record.state is OpState.PENDING else move_record(record, OpState.PENDING)
        record = replace(pending, op=verdict.op)
        await self._hold.ensure()
        await self._outside.journal.settle(self.transaction.id, record)
        return self._keep(record)

    async def _settle_verdict(self, record: OpRecord, verdict: Happened | Ended) -> None:
        match verdict:
            case Happened():
                await self._settle(move_record(record, OpState.APPLIED, observed=verdict.observed), head=verdict.head)
            case Ended(state=state, reason=reason):
                await self._settle(move_record(record, state, error=reason))
            case _:
                assert_never(verdict)

    async def _settle(self, record: OpRecord, head: Head | None = None) -> None:
        """Record the end of an op and the new record of its block.

        A block that got another key is removed from its old one, unless another block of the transaction uses it.
        """
        before = record.op.head_before
        renamed = head is not None and before is not None and before.key not in self._keys
        forget = before.key if renamed and before is not None else None
        await self._hold.ensure()
        await self._outside.journal.settle(self.transaction.id, record, head=head, forget=forget)
        self._keep(record)

    def _keep(self, record: OpRecord) -> OpRecord:
        self.transaction = with_records(self.transaction, record)
        self.tell()
        return record


def _is_conclusive(op: SyncOp, image: EventImage | None) -> bool:
    """Check whether an answer is conclusive: the event as it is now, or none after a delete."""
    if op.verb is Verb.DELETE:
        return True
    return image is not None and not image.gone and image.is_timed


UNCHECKED = mark_message("I could not look at your calendar again to check: {reason}")
UNCHECKED_TOO = mark_message("For the same reason I could not look at your calendar again to check.")


async def verify_writes(transaction: Transaction, hold: Hold) -> tuple[bool, tuple[str, ...]]:
    """Return whether the calendar differs from what was written, and sentences about it.

    A failed reading is reported, but is not a difference: each write was confirmed on its own.
    """
    written = [r for r in transaction.records if r.state is OpState.APPLIED and r.op.verb in WRITES]
    if not written:
        return False, ()
    ids = [record.op.event_id for record in written if record.op.verb is not Verb.DELETE]
    try:
        snapshot = await read_snapshot(
            WaitingReads(hold), Ledger(), transaction.day, transaction.tz, limits=hold.outside.limits, also=ids
        )
    except CalendarError as error:
        said = any(record.error == error.message for record in transaction.records)
        return False, (_(UNCHECKED_TOO) if said else _(UNCHECKED, reason=error.message),)
    sentences = find_differences(written, snapshot)
    return bool(sentences), sentences


def find_differences(written: list[OpRecord], snapshot: Snapshot) -> tuple[str, ...]:
    """Return one sentence for each write that the calendar does not show."""
    shown = ((record, snapshot.live.get(record.op.event_id)) for record in written)
    return tuple(s for record, event in shown if (s := _find_difference(record, event)) is not None)


def _find_difference(record: OpRecord, event: EventImage | None) -> str | None:
    title = quote_title(record.op.summary)
    if record.op.verb is Verb.DELETE:
        return None if event is None else _("{title} was deleted, but your calendar shows it again.", title=title)
    if event is None:
        return _("{title} was written, but is not on your calendar any more.", title=title)
    shown = record.observed or record.op.after
    if shown is None or (isinstance(shown, EventImage) and not shown.is_timed):
        return None
    names = record.op.changes.keys() if record.op.verb is Verb.UPDATE else MANAGED
    expected, now = shown.canon, event.canon if event.is_timed else None
    if now is not None and all(getattr(now, name) == getattr(expected, name) for name in names):
        return None
    return _("{title} was written, but your calendar shows it differently now.", title=title)


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


async def execute_sync(transaction: Transaction, hold: Hold) -> ExecutionResult:
    """Record a transaction and carry it out, under a lease that is held.

    The calendar's answers become part of the result, which is committed, partial or paused. Raises ``StoreError``, and
    ``CalendarBusy`` if the lease was lost; the transaction then stays open, to be settled later.
    """
    await hold.ensure()
    await hold.outside.journal.begin(transaction)
    return await _carry_on(Attempts(transaction, hold, seen_at=transaction.created_at), hold)


async def resume(transaction: Transaction, hold: Hold) -> ExecutionResult:
    """Continue a transaction that was paused, or interrupted at any point.

    The person may have changed the calendar meanwhile, so every event is read before it is written to.
    """
    return await _carry_on(Attempts(transaction, hold), hold)


async def _carry_on(attempts: Attempts, hold: Hold) -> ExecutionResult:
    try:
        await _run_wave(attempts, attempts.settle_inflight, {OpState.INFLIGHT})
        await _run_wave(attempts, attempts.note, {OpState.PENDING}, RECORDS)
        await _run_wave(attempts, attempts.carry_out, {OpState.PENDING}, _ADDITIVE)
        if any(record.state is OpState.FAILED for record in attempts.transaction.records):
            await _leave(attempts, OpState.SKIPPED, _NOT_DELETED)
        await _run_wave(attempts, attempts.carry_out, {OpState.PENDING}, {Verb.DELETE})
    except Paused as pause:
        paused = attempts.transaction
        if paused.state is not TxState.PAUSED:
            await hold.ensure()
            now = hold.outside.clock.now()
            paused = close_transaction(paused, TxState.PAUSED, now)
            await hold.outside.journal.close(paused.id, TxState.PAUSED, now)
        return ExecutionResult(paused, paused=pause.reason)
    differing, notes = await verify_writes(attempts.transaction, hold)
    state = TxState.PARTIAL if differing else judge_transaction(attempts.transaction)
    return ExecutionResult(await _close(attempts.transaction, state, hold), notes=notes)


async def settle(transaction: Transaction, hold: Hold) -> ExecutionResult:
    """End an interrupted transaction without writing to the calendar.

    Writes in progress are looked up, the rest is given up. Raises ``CalendarError`` if that is not possible now.
    """
    attempts = Attempts(transaction, hold)
    try:
        await _run_wave(attempts, attempts.settle_tried, _OPEN, WRITES, tried=True)
    except Paused as pause:
        error = CalendarAuthFailed if pause.login else CalendarUnreachable
        raise error(pause.reason) from pause
    await _leave(attempts, OpState.SUPERSEDED, _SUPERSEDED)
    return ExecutionResult(await _close(attempts.transaction, judge_transaction(attempts.transaction), hold))


async def _run_wave(
    attempts: Attempts,
    work: Callable[[OpRecord], Awaitable[None]],
    states: Collection[OpState],
    verbs: Collection[Verb] = frozenset(Verb),
    *,
    tried: bool = False,
) -> None:
    due = [r for r in attempts.transaction.records if r.state in states and r.op.verb in verbs]
    due = [r for r in due if r.attempts or not tried]
    await run_each(due, work, at_once=attempts.at_once)


async def _leave(attempts: Attempts, state: OpState, reason: str) -> None:
    """End all pending ops without carrying them out."""

    async def leave(record: OpRecord) -> None:
        await attempts.leave(record, state, reason)

    await _run_wave(attempts, leave, {OpState.PENDING})


async def _close(transaction: Transaction, state: TxState, hold: Hold) -> Transaction:
    """Close a transaction.

    A committed undo first updates the states of the other transactions it undid or redid, so that closing again repairs
    a crash in between.
    """
    await hold.ensure()
    outside, now = hold.outside, hold.outside.clock.now()
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
