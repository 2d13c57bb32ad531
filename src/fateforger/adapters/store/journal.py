"""The journal in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from sqlalchemy import Select, bindparam, select

from fateforger.adapters.store import journal_ends, journal_writes, leases
from fateforger.adapters.store.database import Database
from fateforger.adapters.store.journal_rows import TX, read_ledger, read_transactions
from fateforger.journal.model import OpRecord, OpState, Transaction, TxState
from fateforger.ports import Lease
from fateforger.sync.model import Head, Ledger

_GET = select(TX).where(TX.c.id == bindparam("tx"))
_BY_CAUSE = (
    select(TX)
    .where(TX.c.calendar == bindparam("of_calendar"), TX.c.cause == bindparam("of_cause"))
    .order_by(TX.c.seq.desc())
    .limit(1)
)
_UNSETTLED = select(TX).where(TX.c.state.in_((TxState.APPLYING, TxState.PAUSED))).order_by(TX.c.seq)
_HISTORY = select(TX).where(TX.c.calendar == bindparam("of_calendar")).order_by(TX.c.seq.desc())


class SqlJournal:
    """Implements :class:`fateforger.ports.Journal` over a :class:`Database`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, transaction: Transaction) -> None:
        await self._database.write(lambda connection: journal_writes.begin(connection, transaction))

    async def mark(self, transaction_id: str, op_ids: Sequence[str], state: OpState) -> None:
        ops = frozenset(op_ids)
        if ops:
            await self._database.write(lambda connection: journal_writes.mark(connection, transaction_id, ops, state))

    async def settle(
        self, transaction_id: str, record: OpRecord, *, head: Head | None = None, forget: str | None = None
    ) -> None:
        await self._database.write(
            lambda connection: journal_writes.settle(connection, transaction_id, record, head, forget)
        )

    async def close(self, transaction_id: str, state: TxState, at: datetime) -> None:
        await self._database.write(lambda connection: journal_ends.close(connection, transaction_id, state, at))

    async def get(self, transaction_id: str) -> Transaction | None:
        return await self._first(_GET, tx=transaction_id)

    async def by_cause(self, calendar: str, cause: str) -> Transaction | None:
        return await self._first(_BY_CAUSE, of_calendar=calendar, of_cause=cause)

    async def list_unsettled(self, calendar: str | None = None) -> tuple[Transaction, ...]:
        if calendar is None:
            return await self._all(_UNSETTLED)
        return await self._all(_UNSETTLED.where(TX.c.calendar == calendar))

    async def history(
        self, calendar: str, *, day: date | None = None, group: str | None = None, limit: int = 50
    ) -> tuple[Transaction, ...]:
        query = _HISTORY.limit(limit)
        if day is not None:
            query = query.where(TX.c.day == day)
        if group is not None:
            query = query.where(TX.c.tx_group == group)
        return await self._all(query, of_calendar=calendar)

    async def ledger(self, calendar: str, day: date) -> Ledger:
        return await self._database.read(lambda connection: read_ledger(connection, calendar, day))

    async def acquire(self, calendar: str, owner: str, *, now: datetime, seconds: float) -> Lease | None:
        return await self._database.write(lambda connection: leases.acquire(connection, calendar, owner, now, seconds))

    async def release(self, lease: Lease) -> None:
        await self._database.write(lambda connection: leases.release(connection, lease))

    async def _first(self, query: Select[Any], **values: Any) -> Transaction | None:
        found = await self._all(query, **values)
        return found[0] if found else None

    async def _all(self, query: Select[Any], **values: Any) -> tuple[Transaction, ...]:
        return await self._database.read(lambda connection: read_transactions(connection, query, values))
