"""A journal in memory that keeps the contract, for sweeps over thousands of histories."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta

from fateforger.calendar.model import Head, Ledger, Verb
from fateforger.calendar.ports import Lease
from fateforger.calendar.transactions import OpRecord, OpState, Transaction, TxState
from fateforger.errors import InternalError, VersionConflict

_OPEN = {TxState.APPLYING, TxState.PAUSED}
_STANDING = {TxState.COMMITTED, TxState.PARTIAL}


class MemoryJournal:
    """:class:`fateforger.calendar.ports.Journal` in dictionaries."""

    def __init__(self) -> None:
        self.transactions: dict[str, Transaction] = {}
        self.heads: dict[tuple[str, date, str], Head] = {}
        self.generations: dict[tuple[str, str], int] = {}
        self.leases: dict[str, tuple[Lease, bool]] = {}

    def copy(self) -> MemoryJournal:
        """Return a copy of the journal, for another course of events."""
        copy = MemoryJournal()
        copy.transactions, copy.heads = dict(self.transactions), dict(self.heads)
        copy.generations, copy.leases = dict(self.generations), dict(self.leases)
        return copy

    async def begin(self, transaction: Transaction) -> None:
        if transaction.id in self.transactions:
            raise VersionConflict("recorded before")
        if transaction.undoes is not None:
            undone = self.transactions.get(transaction.undoes)
            if undone is None or undone.state not in _STANDING:
                raise VersionConflict("not there to be undone")
        reserved = dict(self.generations)
        for record in transaction.records:
            if record.op.verb is Verb.CREATE:
                if record.op.seed is None:
                    raise InternalError("a create needs a seed")
                place = (transaction.calendar, record.op.seed)
                if reserved.get(place, -1) >= record.op.generation:
                    raise VersionConflict("an event id was used already")
                reserved[place] = record.op.generation
        self.generations = reserved
        self.transactions[transaction.id] = transaction

    async def mark(self, transaction_id: str, op_ids: Sequence[str], state: OpState) -> None:
        transaction = self._require(transaction_id)
        due = [r for r in transaction.records if r.op.op_id in op_ids]
        if len(due) != len(set(op_ids)):
            raise InternalError("unknown")
        if any(r.state.is_settled for r in due):
            raise VersionConflict("ended")
        for record in due:
            attempts = record.attempts + (state is OpState.INFLIGHT)
            self._replace(transaction_id, record.model_copy(update={"state": state, "attempts": attempts}))

    async def settle(
        self, transaction_id: str, record: OpRecord, *, head: Head | None = None, forget: str | None = None
    ) -> None:
        transaction = self._require(transaction_id)
        old = next((r for r in transaction.records if r.op.op_id == record.op.op_id), None)
        if old is None:
            raise InternalError("unknown")
        if old.state.is_settled:
            raise VersionConflict("ended")
        attempts = max(old.attempts, record.attempts)
        self._replace(transaction_id, record.model_copy(update={"attempts": attempts}))
        if forget is not None:
            self.heads.pop((transaction.calendar, transaction.day, forget), None)
        if head is not None:
            self.heads[transaction.calendar, head.day, head.key] = head

    async def close(self, transaction_id: str, state: TxState, at: datetime) -> None:
        transaction = self.transactions.get(transaction_id)
        if transaction is not None and transaction.state is TxState.UNDONE and state in _STANDING:
            self.transactions[transaction_id] = transaction.model_copy(update={"state": state})
            return
        allowed = _STANDING if state is TxState.UNDONE else _OPEN
        if transaction is None:
            raise InternalError("unknown")
        if state not in _OPEN and not all(r.state.is_settled for r in transaction.records):
            raise InternalError("some ops have not ended")
        if transaction.state not in allowed:
            raise VersionConflict("ended")
        settled = transaction.settled_at if state is TxState.UNDONE else None if state in _OPEN else at
        self.transactions[transaction_id] = transaction.model_copy(update={"state": state, "settled_at": settled})
        if state is TxState.COMMITTED and transaction.undoes is not None:
            undone = self.transactions[transaction.undoes]
            if undone.state in _STANDING:
                self.transactions[undone.id] = undone.model_copy(update={"state": TxState.UNDONE})

    async def get(self, transaction_id: str) -> Transaction | None:
        return self.transactions.get(transaction_id)

    async def by_cause(self, calendar: str, cause: str) -> Transaction | None:
        found = [t for t in self.transactions.values() if (t.calendar, t.cause) == (calendar, cause)]
        return found[-1] if found else None

    async def list_unsettled(self, calendar: str | None = None) -> tuple[Transaction, ...]:
        return tuple(
            t for t in self.transactions.values() if t.state in _OPEN and (calendar is None or t.calendar == calendar)
        )

    async def history(
        self, calendar: str | None, *, day: date | None = None, group: str | None = None, limit: int = 50
    ) -> tuple[Transaction, ...]:
        found = [
            t
            for t in reversed(self.transactions.values())
            if calendar in {None, t.calendar} and day in {None, t.day} and group in {None, t.group}
        ]
        return tuple(found[:limit])

    async def ledger(self, calendar: str, day: date) -> Ledger:
        heads = sorted((h for (c, d, _), h in self.heads.items() if (c, d) == (calendar, day)), key=lambda h: h.key)
        return Ledger(
            heads=tuple(heads),
            generations={
                seed: g
                for (c, seed), g in self.generations.items()
                if c == calendar and seed.startswith(f"{day.isoformat()}|")
            },
        )

    async def acquire(self, calendar: str, owner: str, *, now: datetime, seconds: float) -> Lease | None:
        last, released = self.leases.get(calendar, (None, True))
        held = last is not None and not released and last.expires_at > now
        if held and last is not None and last.owner != owner:
            if last.expires_at <= now + 2 * timedelta(seconds=seconds):
                return None
            held = False
        fence = 1 if last is None else last.fence if held else last.fence + 1
        lease = Lease(calendar, owner, fence, now + timedelta(seconds=seconds))
        self.leases[calendar] = (lease, False)
        return lease

    async def release(self, lease: Lease) -> None:
        last, _ = self.leases.get(lease.calendar, (None, True))
        if last is not None and (last.owner, last.fence) == (lease.owner, lease.fence):
            self.leases[lease.calendar] = (last, True)

    def _require(self, transaction_id: str) -> Transaction:
        if transaction_id not in self.transactions:
            raise InternalError("unknown transaction")
        return self.transactions[transaction_id]

    def _replace(self, transaction_id: str, record: OpRecord) -> None:
        transaction = self.transactions[transaction_id]
        records = tuple(record if r.op.op_id == record.op.op_id else r for r in transaction.records)
        self.transactions[transaction_id] = transaction.model_copy(update={"records": records})
