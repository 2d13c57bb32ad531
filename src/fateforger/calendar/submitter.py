"""Submitter: the only entry points for writing to a person's calendar (S91)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from datetime import date
from functools import partial
from typing import Any

from fateforger.calendar.access import (
    CommitContext,
    Hold,
    WaitingReads,
    WriteProgressCallback,
    ignore_write_progress,
    read_day,
)
from fateforger.calendar.conflicts import NOTHING_SAID, Choices
from fateforger.calendar.decision import explain_leaving
from fateforger.calendar.engine import build_desired_day, number_ops, plan_sync
from fateforger.calendar.execution import ExecutionResult, execute_sync, resume, settle
from fateforger.calendar.history import UndoScope, list_undone
from fateforger.calendar.model import Ledger, SafetyCheckKind, Snapshot, SyncOp, SyncPlan, Verb
from fateforger.calendar.ports import DayReads
from fateforger.calendar.results import (
    SyncResult,
    add_late,
    build_late_result,
    build_result,
    mark_finished,
    report_unchanged,
)
from fateforger.calendar.transactions import OpState, Transaction, TxState, begin_transaction
from fateforger.calendar.undo import (
    NEXT,
    STAYS_ELSEWHERE,
    Choice,
    choose_targets,
    describe_arrivals,
    describe_late,
    find_late,
    is_written_elsewhere,
    take_back_late,
    undo_sync,
)
from fateforger.calendar.verdicts import ID_USED_UP
from fateforger.errors import ConfirmationNeeded, NotUndoable
from fateforger.planning.plan import TBPlan
from fateforger.planning.timing import zone
from fateforger.text import gettext as _
from fateforger.text import join_sentences
from fateforger.values import replace

Context = Mapping[str, Any] | None
_LOSSES = frozenset({SafetyCheckKind.EMPTIED_CALENDAR, SafetyCheckKind.VANISHED_BLOCKS})
_ENDED = {TxState.COMMITTED, TxState.PARTIAL, TxState.UNDONE}


class CalendarSubmitter:
    """Writes plans to one calendar, and undoes them. One instance per calendar and process.

    ``owner`` names this process among concurrent ones; the same name after a restart lets it take over its own lease at
    once. ``new_id`` returns transaction ids, each only once, ever.
    ``cause`` names the command behind a call. A call with a cause that was carried out before writes nothing, but
    finishes that transaction if it was interrupted, and returns it. With ``finishing``, for a caller who may not have
    seen the answer, it says so, and continues if that transaction was partial. ``told`` is called with the progress of
    the writes.
    All calls raise ``CalendarError`` when the calendar cannot be read (then nothing was written, S84) or is being
    written by another process (``CalendarBusy``), and ``StoreError`` when the journal cannot be written; a repetition
    is safe after either.
    """

    def __init__(self, outside: CommitContext, *, owner: str, new_id: Callable[[], str]) -> None:
        self._outside = outside
        self._owner = owner
        self._new_id = new_id
        self._one_at_a_time = asyncio.Lock()

    @property
    def calendar_key(self) -> str:
        """The name of this calendar in the journal."""
        return self._outside.calendar.key

    def in_background(self) -> DayReads:
        """Return the reads of this calendar for a reader that can wait."""
        return self._outside.calendar.in_background()

    @property
    def writing(self) -> bool:
        """Check whether a call that may write is running, so that the calendar may be partly changed."""
        return self._one_at_a_time.locked()

    async def read(self, day: date, tz: str) -> tuple[Snapshot, Ledger]:
        """Return what the calendar shows for a local day, and our known writes."""
        return await self._read(self._outside.calendar, day, tz)

    async def preview(self, plan: TBPlan, *, choices: Choices = NOTHING_SAID) -> SyncPlan:
        """Return what :meth:`submit_plan` would do now. Writes nothing, takes no lease."""
        snapshot, ledger = await self.read(plan.date, plan.tz)
        return plan_sync(build_desired_day(plan), snapshot, ledger, op_ids=number_ops("preview"), choices=choices)

    async def submit_plan(
        self,
        plan: TBPlan,
        *,
        cause: str,
        group: str | None = None,
        context: Context = None,
        confirmed: Collection[SafetyCheckKind] = (),
        choices: Choices = NOTHING_SAID,
        told: WriteProgressCallback = ignore_write_progress,
        finishing: bool = False,
    ) -> SyncResult:
        """Make the calendar show the plan; the person's own changes stay.

        ``group`` ties transactions together for :meth:`undo_group`. ``context`` (JSON) is kept with the transaction,
        for example the plan before. ``confirmed`` are the safety checks that the person confirmed; confirming lost
        blocks also means that the plan's blocks are written again. ``choices`` decide where both the plan and the
        person changed a field; undecided ones stay as the calendar shows them, and are asked about. Raises
        ``PlanInvalid``, and ``ConfirmationNeeded`` with the checks' names in ``reasons``.
        """
        desired = build_desired_day(plan)
        if not _LOSSES.isdisjoint(confirmed):
            choices = replace(choices, deletions="plan")
        async with self._holding(told) as hold:
            earlier = await self._earlier(cause, hold, finishing=finishing)
            if earlier is not None and (not finishing or earlier.paused):
                return build_result([earlier])
            await self._settle_open(hold)
            late = await self._take_back_late(hold, cause)
            rounds = [] if earlier is None else [earlier]
            for tries_left in reversed(range(self._outside.limits.id_rounds)):
                transaction_id, reads = self._new_id(), WaitingReads(hold)
                snapshot, ledger = await self._read(reads, plan.date, plan.tz)
                ledger = ledger if tries_left else replace(ledger, salt=transaction_id)
                sync_plan = plan_sync(desired, snapshot, ledger, op_ids=number_ops(transaction_id), choices=choices)
                _stop_at_safety_checks(sync_plan, confirmed)
                if sync_plan.idle:
                    break
                transaction = begin_transaction(
                    sync_plan,
                    id=transaction_id,
                    calendar=self.calendar_key,
                    kind="submit",
                    created_at=reads.seen_at,
                    cause=cause,
                    group=group or (rounds[0].transaction.group if rounds else transaction_id),
                    context=context,
                )
                rounds.append(await execute_sync(transaction, hold))
                if not _has_used_up_ids(rounds[-1].transaction):
                    break
            result = add_late(build_result(rounds) if rounds else report_unchanged(sync_plan), late)
            return result if earlier is None else mark_finished(result, earlier.transaction, self._outside.clock.now())

    async def take_note(self, plan: TBPlan, *, cause: str, group: str | None = None) -> None:
        """Record where the person's own changes have made plan and calendar agree, and which blocks they took out.

        A later change back then counts as a change, and an event that comes back is theirs. Writes nothing to the
        calendar. Raises ``PlanInvalid`` for a plan without a timeline.
        """
        desired = build_desired_day(plan, overlapping=True)
        async with self._holding() as hold:
            if await self._earlier(cause, hold, finishing=False) is not None:
                return
            await self._settle_open(hold)
            transaction_id, now = self._new_id(), self._outside.clock.now()
            snapshot, ledger = await self.read(plan.date, plan.tz)
            compared = plan_sync(desired, snapshot, ledger, op_ids=number_ops(transaction_id))
            agreed = tuple(op for op in compared.ops if op.verb in {Verb.ADOPT, Verb.FORGET} or _has_left(op, compared))
            if compared.brakes or not agreed:
                return
            noted = replace(compared, ops=agreed, warnings=())
            transaction = begin_transaction(
                noted,
                id=transaction_id,
                calendar=self.calendar_key,
                kind="submit",
                created_at=now,
                cause=cause,
                group=group or transaction_id,
            )
            await execute_sync(transaction, hold)

    async def undo_last(
        self,
        *,
        cause: str,
        day: date | None = None,
        context: Context = None,
        force: bool = False,
        told: WriteProgressCallback = ignore_write_progress,
        finishing: bool = False,
    ) -> SyncResult:
        """Go back to before the newest write in effect, of one day or of all. Raises ``NotUndoable``."""
        return await self._undo(Choice(day=day), cause, context, force=force, told=told, finishing=finishing)

    async def undo_since(
        self,
        transaction_id: str,
        *,
        cause: str,
        newest: str | None = None,
        context: Context = None,
        force: bool = False,
        told: WriteProgressCallback = ignore_write_progress,
        finishing: bool = False,
    ) -> SyncResult:
        """Go back to before a transaction: undo it and everything after it on its day, as one transaction.

        For a submit that is every later submit in effect; for an undo (which makes it a redo) it is everything since.
        ``newest`` is the newest write of the day that the caller knows of; if there is a newer one by now, nothing is
        done. Raises ``NotUndoable``.
        """
        choice = Choice(transaction_id, newest=newest)
        return await self._undo(choice, cause, context, force=force, told=told, finishing=finishing)

    async def undo_group(
        self,
        group: str,
        *,
        cause: str,
        context: Context = None,
        force: bool = False,
        told: WriteProgressCallback = ignore_write_progress,
    ) -> SyncResult:
        """Go back to before the first transaction of a group that is in effect. Raises ``NotUndoable``."""
        result = await self._undo(Choice(group=group), cause, context, force=force, told=told)
        if not await is_written_elsewhere(self._outside, group):
            return result
        return replace(result, details=(*result.details, _(STAYS_ELSEWHERE)))

    async def history(self, day: date) -> tuple[Transaction, ...]:
        """Return the writes for a day, newest first, at most as many as undo reads."""
        return await self._outside.journal.history(self.calendar_key, day=day, limit=self._outside.limits.history)

    async def find_out(self, transaction_id: str) -> SyncResult | None:
        """Return the outcome of a transaction with unanswered calls; ``None`` if there is no such transaction.

        Writes nothing to the calendar: the undone rest is given up. Raises as all calls do, in particular while the
        outcome is still unknown.
        """
        async with self._holding() as hold:
            await self._settle_open(hold)
        found = await self._outside.journal.get(transaction_id)
        return None if found is None else build_result([ExecutionResult(found)])

    async def late(self, reads: DayReads | None = None) -> tuple[str, ...]:
        """Describe the events that reached the calendar after they had been undone and are still there.

        ``reads`` replaces the calendar's own reads. Writes nothing.
        """
        return tuple(
            join_sentences(describe_arrivals(late.titles), _(NEXT)) for late in await find_late(self._outside, reads)
        )

    async def take_back_late(self, *, cause: str) -> tuple[str, ...]:
        """Remove the events that reached the calendar after they had been undone; changed ones stay.

        Return sentences.
        """
        if not await find_late(self._outside):
            return ()
        async with self._holding() as hold:
            await self._settle_open(hold)
            return tuple(s for carried in await self._take_back_late(hold, cause) for s in describe_late(carried))

    async def may_be_repeated(self, cause: str) -> bool:
        """Check whether repeating the command of a cause would continue that very command.

        It would if the command never began to write, was interrupted, or nothing was written since.
        """
        found = await self._outside.journal.by_cause(self.calendar_key, cause)
        if found is None or found.state not in _ENDED:
            return True
        newest = await self._outside.journal.history(self.calendar_key, limit=1)
        return newest[0].id == found.id

    async def recover(self) -> tuple[SyncResult, ...]:
        """Settle interrupted transactions, at start-up or after an outage.

        Undos and recent writes are finished; the rest of an old write is given up. Calling it again, or crashing
        inside, does no harm.
        """
        async with self._holding() as hold:
            unsettled = await self._outside.journal.list_unsettled(self.calendar_key)
            return tuple([build_result([await self._finish(transaction, hold)]) for transaction in unsettled])

    async def _read(self, reads: DayReads, day: date, tz: str) -> tuple[Snapshot, Ledger]:
        return await read_day(reads, self._outside.journal, day, tz, limits=self._outside.limits)

    # --- under the lease ---

    @asynccontextmanager
    async def _holding(self, told: WriteProgressCallback = ignore_write_progress) -> AsyncIterator[Hold]:
        async with self._one_at_a_time:
            hold = Hold(replace(self._outside, told=told), self._owner)
            await hold.take()
            try:
                yield hold
            finally:
                await hold.give_back()

    async def _earlier(self, cause: str, hold: Hold, *, finishing: bool) -> ExecutionResult | None:
        """Return the earlier transaction of the same command, after finishing it if it was interrupted."""
        found = await self._outside.journal.by_cause(self.calendar_key, cause)
        if found is None:
            return None
        return ExecutionResult(found) if found.state in _ENDED else await self._finish(found, hold, finishing=finishing)

    async def _settle_open(self, hold: Hold) -> None:
        """End interrupted transactions before a new one begins, which is planned from the actual state."""
        for transaction in await self._outside.journal.list_unsettled(self.calendar_key):
            await settle(transaction, hold)

    async def _finish(self, transaction: Transaction, hold: Hold, *, finishing: bool = False) -> ExecutionResult:
        """Finish an interrupted transaction, or settle it if it wrote a plan that may be out of date by now."""
        age = self._outside.clock.now() - transaction.created_at
        lasting = finishing or transaction.kind == "undo"
        carry_on = resume if lasting or age <= self._outside.limits.roll_forward else settle
        return await carry_on(transaction, hold)

    async def _undo(
        self,
        choice: Choice,
        cause: str,
        context: Context,
        *,
        force: bool,
        told: WriteProgressCallback = ignore_write_progress,
        finishing: bool = False,
    ) -> SyncResult:
        async with self._holding(told) as hold:
            earlier = await self._earlier(cause, hold, finishing=finishing)
            if earlier is None and finishing:
                earlier = await self._finish_undo(choice, hold)
            rounds, late = ([] if earlier is None else [earlier]), tuple[ExecutionResult, ...]()
            if earlier is None or (finishing and earlier.transaction.state is TxState.PARTIAL):
                await self._settle_open(hold)
                late = await self._take_back_late(hold, cause)
                if earlier is not None:
                    choice = Choice(list_undone(earlier.transaction)[-1])
                elif late and choice == Choice():
                    return build_late_result(late)
                try:
                    days = await choose_targets(hold.outside, choice)
                except NotUndoable:
                    if not late:
                        raise
                    return build_late_result(late)
                for chosen in days:
                    rounds += await self._undo_day(chosen, hold, cause, context, force=force)
            result = add_late(build_result(rounds), late)
            if earlier is None or not finishing:
                return result
            return mark_finished(result, earlier.transaction, self._outside.clock.now())

    async def _undo_day(
        self, chosen: UndoScope, hold: Hold, cause: str, context: Context, *, force: bool
    ) -> list[ExecutionResult]:
        """Undo the writes of a day; as for a plan, what met a used id is tried again under another one."""
        rounds: list[ExecutionResult] = []
        for tries_left in reversed(range(self._outside.limits.id_rounds)):
            undo = partial(undo_sync, chosen, hold, cause=cause, context=context, force=force)
            transaction_id = self._new_id()
            rounds.append(await undo(id=transaction_id, salt="" if tries_left else transaction_id))
            if not _has_used_up_ids(rounds[-1].transaction):
                break
            rest = await choose_targets(hold.outside, Choice(list_undone(rounds[-1].transaction)[-1]))
            chosen = replace(rest[0], gone=frozenset(), again=frozenset())  # which the first round has said
        return rounds

    async def _take_back_late(self, hold: Hold, cause: str) -> tuple[ExecutionResult, ...]:
        """Remove the events that reached the calendar after they had been undone."""
        found = await find_late(hold.outside, WaitingReads(hold))
        return tuple([await take_back_late(late, hold, id=self._new_id(), cause=cause) for late in found])

    async def _finish_undo(self, choice: Choice, hold: Hold) -> ExecutionResult | None:
        """Finish an interrupted undo with the same target; a command that names no target continues any."""
        for transaction in await self._outside.journal.list_unsettled(self.calendar_key):
            before = list_undone(transaction)[-1:]
            if before and choice.transaction in {None, *before}:
                return await self._finish(transaction, hold, finishing=True)
        return None


def _stop_at_safety_checks(plan: SyncPlan, confirmed: Collection[SafetyCheckKind]) -> None:
    brakes = [brake for brake in plan.brakes if brake.kind not in confirmed]
    if brakes:
        what = " ".join(brake.sentence for brake in brakes)
        raise ConfirmationNeeded(
            join_sentences(what, _("I wrote nothing. Is that what you want?")),
            reasons=tuple(brake.kind.value for brake in brakes),
        )


def _has_left(op: SyncOp, plan: SyncPlan) -> bool:
    """Check whether it leaves an event to the person because they took it out of the day's plan."""
    if op.verb is not Verb.RELEASE or op.before is None:
        return False
    return explain_leaving(op.before, op.head_before, plan.day, zone(plan.tz)) is not None


def _has_used_up_ids(transaction: Transaction) -> bool:
    """Check whether a create found its id taken by an event of an older history; the next generation will work."""
    return any(r.state is OpState.CONFLICT and r.error == ID_USED_UP for r in transaction.records)
