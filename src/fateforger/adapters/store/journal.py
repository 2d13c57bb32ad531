"""The journal in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from sqlalchemy import Connection, Select, case, delete, func, insert, select, update

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.journal_rows import (
    OP,
    TX,
    head_of,
    head_values,
    op_outcome,
    op_values,
    transactions,
    tx_values,
)
from fateforger.adapters.store.leases import acquire, release
from fateforger.adapters.store.tables import EventGeneration, EventHead, table
from fateforger.errors import InternalError, VersionConflict
from fateforger.journal.model import OpRecord, OpState, Transaction, TxState
from fateforger.ports import Lease
from fateforger.sync.model import Head, Ledger, Verb

HEAD = table(EventHead)
GENERATION = table(EventGeneration)

_UNSETTLED_OPS = (OpState.PENDING, OpState.INFLIGHT)
_UNDONE_FROM = (TxState.COMMITTED, TxState.PARTIAL)
_MAY_FOLLOW = {
    TxState.APPLYING: (TxState.APPLYING, TxState.PAUSED),
    TxState.PAUSED: (TxState.APPLYING, TxState.PAUSED),
    TxState.COMMITTED: (TxState.APPLYING, TxState.PAUSED),
    TxState.PARTIAL: (TxState.APPLYING, TxState.PAUSED),
    TxState.UNDONE: _UNDONE_FROM,
}


class SqlJournal:
    """:class:`fateforger.ports.Journal` over a :class:`Database`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, transaction: Transaction) -> None:
        await self._database.write(lambda connection: _begin(connection, transaction))

    async def mark(self, transaction_id: str, op_ids: Sequence[str], state: OpState) -> None:
        await self._database.write(lambda connection: _mark(connection, transaction_id, tuple(op_ids), state))

    async def settle(
        self, transaction_id: str, record: OpRecord, *, head: Head | None = None, forget: str | None = None
    ) -> None:
        await self._database.write(lambda connection: _settle(connection, transaction_id, record, head, forget))

    async def close(self, transaction_id: str, state: TxState, at: datetime) -> None:
        await self._database.write(lambda connection: _close(connection, transaction_id, state, at))

    async def get(self, transaction_id: str) -> Transaction | None:
        return await self._first(select(TX).where(TX.c.id == transaction_id))

    async def by_cause(self, calendar: str, cause: str) -> Transaction | None:
        query = select(TX).where(TX.c.calendar == calendar, TX.c.cause == cause)
        return await self._first(query.order_by(TX.c.seq.desc()).limit(1))

    async def unsettled(self, calendar: str | None = None) -> tuple[Transaction, ...]:
        query = select(TX).where(TX.c.state.in_((TxState.APPLYING, TxState.PAUSED)))
        if calendar is not None:
            query = query.where(TX.c.calendar == calendar)
        return await self._all(query.order_by(TX.c.seq))

    async def history(
        self, calendar: str, *, day: date | None = None, group: str | None = None, limit: int = 50
    ) -> tuple[Transaction, ...]:
        query = select(TX).where(TX.c.calendar == calendar)
        if day is not None:
            query = query.where(TX.c.day == day)
        if group is not None:
            query = query.where(TX.c.tx_group == group)
        return await self._all(query.order_by(TX.c.seq.desc()).limit(limit))

    async def ledger(self, calendar: str, day: date) -> Ledger:
        return await self._database.read(lambda connection: _ledger(connection, calendar, day))

    async def acquire(self, calendar: str, owner: str, *, now: datetime, seconds: float) -> Lease | None:
        return await self._database.write(lambda connection: acquire(connection, calendar, owner, now, seconds))

    async def release(self, lease: Lease) -> None:
        await self._database.write(lambda connection: release(connection, lease))

    async def _first(self, query: Select[Any]) -> Transaction | None:
        found = await self._all(query)
        return found[0] if found else None

    async def _all(self, query: Select[Any]) -> tuple[Transaction, ...]:
        return await self._database.read(lambda connection: transactions(connection, query))


def _begin(connection: Connection, transaction: Transaction) -> None:
    if connection.execute(select(TX.c.seq).where(TX.c.id == transaction.id)).first() is not None:
        raise VersionConflict(f"Transaction {transaction.id} was recorded before.")
    if transaction.undoes is not None and _state(connection, transaction.undoes) not in _UNDONE_FROM:
        raise VersionConflict("What was to be undone is not there to be undone any more.")
    connection.execute(insert(TX), tx_values(transaction))
    rows = [op_values(transaction.id, n, record) for n, record in enumerate(transaction.records)]
    if rows:
        connection.execute(insert(OP), rows)
    for record in transaction.records:
        if record.op.verb is Verb.CREATE:
            _reserve(connection, transaction.calendar, record.op.seed, record.op.generation)


def _reserve(connection: Connection, calendar: str, seed: str | None, generation: int) -> None:
    if seed is None:
        raise InternalError("A create has to say what its event id was minted from.")
    day = seed.partition("|")[0]
    where = (GENERATION.c.calendar == calendar) & (GENERATION.c.day == day) & (GENERATION.c.seed == seed)
    highest = connection.execute(select(GENERATION.c.generation).where(where)).scalar()
    if highest is None:
        values = {"calendar": calendar, "day": day, "seed": seed, "generation": generation}
        connection.execute(insert(GENERATION), values)
    elif highest < generation:
        connection.execute(update(GENERATION).where(where).values(generation=generation))
    else:
        raise VersionConflict("This calendar was written to in the meantime: an event id was used already.")


def _mark(connection: Connection, transaction_id: str, op_ids: tuple[str, ...], state: OpState) -> None:
    if not op_ids:
        return
    marked = connection.execute(
        update(OP)
        .where(OP.c.tx_id == transaction_id, OP.c.op_id.in_(op_ids), OP.c.state.in_(_UNSETTLED_OPS))
        .values(state=state, attempts=OP.c.attempts + (1 if state is OpState.INFLIGHT else 0))
    )
    if marked.rowcount != len(set(op_ids)):
        raise InternalError(f"Transaction {transaction_id}: an op to be {state} is unknown or has ended.")


def _settle(
    connection: Connection, transaction_id: str, record: OpRecord, head: Head | None, forget: str | None
) -> None:
    settled = connection.execute(
        update(OP)
        .where(OP.c.tx_id == transaction_id, OP.c.op_id == record.op.op_id, OP.c.state.in_(_UNSETTLED_OPS))
        .values(
            attempts=case((OP.c.attempts > record.attempts, OP.c.attempts), else_=record.attempts),
            **op_outcome(record),
        )
    )
    if settled.rowcount != 1:
        raise InternalError(f"Transaction {transaction_id}: op {record.op.op_id} is unknown or has ended.")
    if head is None and forget is None:
        return
    calendar, day = connection.execute(select(TX.c.calendar, TX.c.day).where(TX.c.id == transaction_id)).one()
    if forget is not None:
        _forget(connection, calendar, day, forget)
    if head is not None:
        _forget(connection, calendar, head.day, head.key)
        connection.execute(insert(HEAD), head_values(calendar, head))


def _forget(connection: Connection, calendar: str, day: date, key: str) -> None:
    connection.execute(delete(HEAD).where(HEAD.c.calendar == calendar, HEAD.c.day == day, HEAD.c.key == key))


def _close(connection: Connection, transaction_id: str, state: TxState, at: datetime) -> None:
    open_still = state in {TxState.APPLYING, TxState.PAUSED}
    if not open_still and _has_open_ops(connection, transaction_id):
        raise InternalError(f"Transaction {transaction_id} cannot be {state}: some of its ops have not ended.")
    closed = connection.execute(
        update(TX)
        .where(TX.c.id == transaction_id, TX.c.state.in_(_MAY_FOLLOW[state]))
        .values(
            {"state": state} if state is TxState.UNDONE else {"state": state, "settled_at": None if open_still else at}
        )
    )
    if closed.rowcount != 1:
        raise InternalError(f"Transaction {transaction_id} is {_state(connection, transaction_id)}, not to be {state}.")
    if state in _UNDONE_FROM:
        undoes = select(TX.c.undoes).where(TX.c.id == transaction_id).scalar_subquery()
        connection.execute(
            update(TX).where(TX.c.id == undoes, TX.c.state.in_(_UNDONE_FROM)).values(state=TxState.UNDONE)
        )


def _has_open_ops(connection: Connection, transaction_id: str) -> bool:
    query = select(func.count()).select_from(OP).where(OP.c.tx_id == transaction_id, OP.c.state.in_(_UNSETTLED_OPS))
    return bool(connection.execute(query).scalar_one())


def _state(connection: Connection, transaction_id: str) -> TxState | None:
    found = connection.execute(select(TX.c.state).where(TX.c.id == transaction_id)).scalar()
    return None if found is None else TxState(found)


def _ledger(connection: Connection, calendar: str, day: date) -> Ledger:
    heads = connection.execute(select(HEAD).where(HEAD.c.calendar == calendar, HEAD.c.day == day).order_by(HEAD.c.key))
    generations = connection.execute(
        select(GENERATION.c.seed, GENERATION.c.generation).where(
            GENERATION.c.calendar == calendar, GENERATION.c.day == day.isoformat()
        )
    )
    return Ledger(heads=tuple(map(head_of, heads)), generations={row.seed: row.generation for row in generations})
