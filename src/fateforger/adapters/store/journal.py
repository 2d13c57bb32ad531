"""The journal and the leases of calendars, in SQL.

Statements are built once: building one takes several times as long as executing it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import cache
from importlib import import_module
from itertools import groupby
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Executable,
    Index,
    Row,
    Select,
    Text,
    bindparam,
    case,
    delete,
    exists,
    insert,
    literal_column,
    select,
    update,
)
from sqlmodel import Field

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.documents import (
    JOURNAL_VERSION,
    dump_mapping,
    expect_version,
    parse,
    parse_mapping,
)
from fateforger.adapters.store.tables import AutoNumber, Base, Instant, table
from fateforger.calendar.event import EventImage
from fateforger.calendar.model import Head, Ledger, SyncOp, SyncPlan, Verb
from fateforger.calendar.ports import Lease
from fateforger.calendar.transactions import OpRecord, OpState, Transaction, TxState
from fateforger.errors import InternalError, VersionConflict


class SyncTx(Base, table=True):
    """A transaction; its ops are in :class:`SyncOpRow`. ``seq`` is the order in which transactions began."""

    __tablename__ = "sync_tx"
    __table_args__ = (
        Index("ix_sync_tx_cause", "calendar", "cause"),
        Index("ix_sync_tx_day", "calendar", "day"),
        Index("ix_sync_tx_group", "calendar", "tx_group"),
        Index("ix_sync_tx_state", "state"),
        {"sqlite_autoincrement": True},
    )

    seq: int | None = Field(default=None, primary_key=True, sa_type=AutoNumber)
    id: str = Field(unique=True, sa_type=Text)
    calendar: str = Field(sa_type=Text)
    day: date
    tz: str = Field(sa_type=Text)
    kind: str = Field(sa_type=Text)
    state: str = Field(sa_type=Text)
    created_at: datetime = Field(sa_type=Instant)
    settled_at: datetime | None = Field(default=None, sa_type=Instant)
    cause: str = Field(sa_type=Text)
    tx_group: str = Field(sa_type=Text)
    undoes: str | None = Field(default=None, foreign_key="sync_tx.id", sa_type=Text)
    schema_version: int
    plan: str = Field(sa_type=Text)
    context: str = Field(sa_type=Text)


class SyncOpRow(Base, table=True):
    """One op of a transaction and its state."""

    __tablename__ = "sync_op"

    tx_id: str = Field(primary_key=True, foreign_key="sync_tx.id", sa_type=Text)
    n: int = Field(primary_key=True)
    op_id: str = Field(unique=True, sa_type=Text)
    state: str = Field(sa_type=Text)
    attempts: int
    error: str = Field(sa_type=Text)
    op: str = Field(sa_type=Text)
    observed: str | None = Field(default=None, sa_type=Text)


class EventHead(Base, table=True):
    """Our last write for a block of a day, as the calendar returned it."""

    __tablename__ = "event_head"

    calendar: str = Field(primary_key=True, sa_type=Text)
    day: date = Field(primary_key=True)
    key: str = Field(primary_key=True, sa_type=Text)
    event_id: str = Field(sa_type=Text)
    schema_version: int
    head: str = Field(sa_type=Text)


class EventGeneration(Base, table=True):
    """The highest generation ever minted from a seed; ``day`` is the date that the seed starts with."""

    __tablename__ = "event_generation"

    calendar: str = Field(primary_key=True, sa_type=Text)
    day: str = Field(primary_key=True, sa_type=Text)
    seed: str = Field(primary_key=True, sa_type=Text)
    generation: int


class CalendarLease(Base, table=True):
    """The right to write to a calendar. The row stays after the lease is released, so that fences only grow."""

    __tablename__ = "calendar_lease"

    calendar: str = Field(primary_key=True, sa_type=Text)
    owner: str = Field(sa_type=Text)
    fence: int = Field(sa_type=BigInteger)
    expires_at: datetime | None = Field(default=None, sa_type=Instant)


LEASE = table(CalendarLease)

_HELD = select(LEASE).where(LEASE.c.calendar == bindparam("of_calendar"))
_FIRST = insert(LEASE)
_TAKE = (
    update(LEASE)
    .where(LEASE.c.calendar == bindparam("of_calendar"))
    .values(owner=bindparam("owner"), fence=bindparam("fence"), expires_at=bindparam("expires_at"))
)
_RELEASE = (
    update(LEASE)
    .where(
        LEASE.c.calendar == bindparam("of_calendar"),
        LEASE.c.owner == bindparam("of_owner"),
        LEASE.c.fence == bindparam("of_fence"),
    )
    .values(expires_at=None)
)


def acquire_lease(connection: Connection, calendar: str, owner: str, now: datetime, seconds: float) -> Lease | None:
    """Take the lease, or renew the owner's own under the same fence; return ``None`` while another owner holds it."""
    until = now + timedelta(seconds=seconds)
    row = connection.execute(_HELD, {"of_calendar": calendar}).first()
    if row is None:
        connection.execute(_FIRST, {"calendar": calendar, "owner": owner, "fence": 1, "expires_at": until})
        return Lease(calendar, owner, 1, until)
    held = row.expires_at is not None and row.expires_at > now
    if held and row.owner != owner:
        return None
    lease = Lease(calendar, owner, row.fence if held else row.fence + 1, until)
    connection.execute(
        _TAKE, {"of_calendar": calendar, "owner": owner, "fence": lease.fence, "expires_at": lease.expires_at}
    )
    return lease


def release_lease(connection: Connection, lease: Lease) -> None:
    """Release the lease, unless another owner has it by now."""
    connection.execute(_RELEASE, {"of_calendar": lease.calendar, "of_owner": lease.owner, "of_fence": lease.fence})


TX = table(SyncTx)
OP = table(SyncOpRow)
HEAD = table(EventHead)
GENERATION = table(EventGeneration)

# Literal values, which saves expanding a list of parameters each time.
UNSETTLED = OP.c.state.in_([literal_column(f"'{state}'") for state in OpState if not state.is_settled])
"""Condition: the op has not ended."""

UNDOABLE = (TxState.COMMITTED, TxState.PARTIAL)

_STATE = select(TX.c.state).where(TX.c.id == bindparam("of_tx"))
_OPS = select(OP).where(OP.c.tx_id.in_(bindparam("of_txs", expanding=True))).order_by(OP.c.tx_id, OP.c.n)
_HEADS = (
    select(HEAD)
    .where(HEAD.c.calendar == bindparam("of_calendar"), HEAD.c.day == bindparam("of_day"))
    .order_by(HEAD.c.key)
)
_GENERATIONS = select(GENERATION.c.seed, GENERATION.c.generation).where(
    GENERATION.c.calendar == bindparam("of_calendar"), GENERATION.c.day == bindparam("of_date")
)


def build_tx_values(transaction: Transaction) -> dict[str, Any]:
    """Return the row of a transaction, without its ops."""
    return {
        "id": transaction.id,
        "calendar": transaction.calendar,
        "day": transaction.day,
        "tz": transaction.tz,
        "kind": transaction.kind,
        "state": transaction.state,
        "created_at": transaction.created_at,
        "settled_at": transaction.settled_at,
        "cause": transaction.cause,
        "tx_group": transaction.group,
        "undoes": transaction.undoes,
        "schema_version": JOURNAL_VERSION,
        "plan": transaction.plan.model_dump_json(),
        "context": dump_mapping(transaction.context, "The context of a transaction"),
    }


def build_op_values(transaction_id: str, n: int, record: OpRecord) -> dict[str, Any]:
    """Return the row of the ``n``-th op."""
    return {"tx_id": transaction_id, "n": n, "op_id": record.op.op_id, "attempts": record.attempts} | build_op_outcome(
        record
    )


def build_op_outcome(record: OpRecord) -> dict[str, Any]:
    """Return the columns of an op that may change after it was recorded, except attempts."""
    return {
        "state": record.state,
        "error": record.error,
        "op": record.op.model_dump_json(),
        "observed": None if record.observed is None else record.observed.model_dump_json(),
    }


def build_head_values(head: Head) -> dict[str, Any]:
    """Return the row of a head, without its calendar."""
    return {
        "day": head.day,
        "key": head.key,
        "event_id": head.event_id,
        "schema_version": JOURNAL_VERSION,
        "head": head.model_dump_json(),
    }


def read_transactions(connection: Connection, query: Select[Any], values: Mapping[str, Any]) -> tuple[Transaction, ...]:
    """Return the transactions that ``query``, a select of ``sync_tx``, finds, in its order.

    Raises ``StoreUnavailable``.
    """
    found = connection.execute(query, values).all()
    if not found:
        return ()
    rows = connection.execute(_OPS, {"of_txs": [tx.id for tx in found]})
    ops: Mapping[str, Sequence[Row[Any]]] = {tx_id: list(of) for tx_id, of in groupby(rows, lambda row: row.tx_id)}
    return tuple(_to_transaction(tx, ops.get(tx.id, ())) for tx in found)


def read_state(connection: Connection, transaction_id: str) -> TxState | None:
    """Return the state of a transaction, ``None`` for an unknown one."""
    found = connection.execute(_STATE, {"of_tx": transaction_id}).scalar()
    return None if found is None else TxState(found)


def read_ledger(connection: Connection, calendar: str, day: date) -> Ledger:
    """Return the heads and generations of a day. Raises ``StoreUnavailable``."""
    heads = connection.execute(_HEADS, {"of_calendar": calendar, "of_day": day})
    generations = connection.execute(_GENERATIONS, {"of_calendar": calendar, "of_date": day.isoformat()})
    return Ledger(
        heads=tuple(_to_head(row) for row in heads), generations={row.seed: row.generation for row in generations}
    )


def _to_head(row: Row[Any]) -> Head:
    what = f"The record of block “{row.key}”"
    expect_version(what, row.schema_version, JOURNAL_VERSION)
    return parse(Head, row.head, what)


def _to_transaction(row: Row[Any], ops: Sequence[Row[Any]]) -> Transaction:
    what = f"Transaction {row.id}"
    expect_version(what, row.schema_version, JOURNAL_VERSION)
    return Transaction(
        id=row.id,
        calendar=row.calendar,
        day=row.day,
        tz=row.tz,
        kind=row.kind,
        state=TxState(row.state),
        created_at=row.created_at,
        settled_at=row.settled_at,
        cause=row.cause,
        group=row.tx_group,
        undoes=row.undoes,
        plan=parse(SyncPlan, row.plan, what),
        records=tuple(_to_record(op, what) for op in ops),
        context=parse_mapping(row.context, what),
    )


def _to_record(row: Row[Any], what: str) -> OpRecord:
    return OpRecord(
        op=parse(SyncOp, row.op, what),
        state=OpState(row.state),
        attempts=row.attempts,
        observed=None if row.observed is None else parse(EventImage, row.observed, what),
        error=row.error,
    )


_INSERT_TX = insert(TX)
_INSERT_OPS = insert(OP)
_INSERT_GENERATION = insert(GENERATION)
_SAME_SEED = (
    (GENERATION.c.calendar == bindparam("of_calendar"))
    & (GENERATION.c.day == bindparam("of_day"))
    & (GENERATION.c.seed == bindparam("of_seed"))
)
_HIGHEST = select(GENERATION.c.generation).where(_SAME_SEED)
_RAISE_GENERATION = update(GENERATION).where(_SAME_SEED).values(generation=bindparam("new"))
_MARK = (
    update(OP)
    .where(
        OP.c.tx_id == bindparam("of_tx"),
        OP.c.op_id == bindparam("of_op"),
        UNSETTLED,
    )
    .values(state=bindparam("new_state"), attempts=OP.c.attempts + bindparam("more"))
)
_SETTLE = (
    update(OP)
    .where(OP.c.tx_id == bindparam("of_tx"), OP.c.op_id == bindparam("of_op"), UNSETTLED)
    .values(
        state=bindparam("state"),
        error=bindparam("error"),
        op=bindparam("op"),
        observed=bindparam("observed"),
        attempts=case((OP.c.attempts > bindparam("made"), OP.c.attempts), else_=bindparam("made")),
    )
)
_CALENDAR = select(TX.c.calendar).where(TX.c.id == bindparam("of_tx")).scalar_subquery()
_DAY = select(TX.c.day).where(TX.c.id == bindparam("of_tx")).scalar_subquery()
_FORGET = delete(HEAD).where(HEAD.c.calendar == _CALENDAR, HEAD.c.day == _DAY, HEAD.c.key == bindparam("of_key"))


@cache
def _build_upsert(dialect: str) -> Executable:
    """Return the statement that inserts or replaces a head. Loads no other dialect, because they are heavy."""
    columns: dict[str, ColumnElement[Any]] = {column.name: bindparam(column.name) for column in HEAD.c}
    put = import_module(f"sqlalchemy.dialects.{dialect}").insert(HEAD).values(columns | {"calendar": _CALENDAR})
    statement: Executable = put.on_conflict_do_update(
        index_elements=list(HEAD.primary_key),
        set_={name: put.excluded[name] for name in ("event_id", "schema_version", "head")},
    )
    return statement


def begin_transaction(connection: Connection, transaction: Transaction) -> None:
    """Record a transaction.

    Raises ``VersionConflict`` for a used id or generation, or if there is nothing left to undo.
    """
    if read_state(connection, transaction.id) is not None:
        raise VersionConflict(f"Transaction {transaction.id} was recorded before.")
    if transaction.undoes is not None:
        undone = read_state(connection, transaction.undoes)
        if undone not in UNDOABLE:
            raise VersionConflict("What was to be undone is not there to be undone any more.")
    connection.execute(_INSERT_TX, build_tx_values(transaction))
    if transaction.records:
        rows = [build_op_values(transaction.id, n, record) for n, record in enumerate(transaction.records)]
        connection.execute(_INSERT_OPS, rows)
    for record in transaction.records:
        if record.op.verb is Verb.CREATE:
            _reserve(connection, transaction.calendar, record.op.seed, record.op.generation)


def mark_ops(connection: Connection, transaction_id: str, op_ids: frozenset[str], state: OpState) -> None:
    """Set the state of ops that have not ended. Raises ``InternalError`` if one is unknown or has ended."""
    values = {"of_tx": transaction_id, "new_state": state, "more": 1 if state is OpState.INFLIGHT else 0}
    for op_id in sorted(op_ids):
        if connection.execute(_MARK, values | {"of_op": op_id}).rowcount != 1:
            raise InternalError(f"Transaction {transaction_id}: op {op_id}, to be {state}, is unknown or has ended.")


def settle_op(
    connection: Connection, transaction_id: str, record: OpRecord, head: Head | None, forget: str | None
) -> None:
    """Record the new state of an op that had not ended, and the change to its block's head."""
    values = {"of_tx": transaction_id, "of_op": record.op.op_id, "made": record.attempts} | build_op_outcome(record)
    if connection.execute(_SETTLE, values).rowcount != 1:
        raise InternalError(f"Transaction {transaction_id}: op {record.op.op_id} is unknown or has ended.")
    if forget is not None:
        connection.execute(_FORGET, {"of_tx": transaction_id, "of_key": forget})
    if head is not None:
        connection.execute(_build_upsert(connection.dialect.name), {"of_tx": transaction_id} | build_head_values(head))


def _reserve(connection: Connection, calendar: str, seed: str | None, generation: int) -> None:
    if seed is None:
        raise InternalError("A create has to say what its event id was minted from.")
    row = {"calendar": calendar, "day": seed.partition("|")[0], "seed": seed, "generation": generation}
    same_seed = {"of_calendar": calendar, "of_day": row["day"], "of_seed": seed}
    highest = connection.execute(_HIGHEST, same_seed).scalar()
    if highest is None:
        connection.execute(_INSERT_GENERATION, row)
    elif highest < generation:
        connection.execute(_RAISE_GENERATION, same_seed | {"new": generation})
    else:
        raise VersionConflict("This calendar was written to in the meantime: an event id was used already.")


_OPEN = (TxState.APPLYING, TxState.PAUSED)
_HAS_OPEN_OPS = select(exists().where(OP.c.tx_id == bindparam("of_tx"), UNSETTLED))
_CLOSE = (
    update(TX)
    .where(TX.c.id == bindparam("of_tx"), TX.c.state.in_(_OPEN))
    .values(state=bindparam("new_state"), settled_at=bindparam("at"), schema_version=JOURNAL_VERSION)
)
_UNDO = update(TX).where(TX.c.id == bindparam("of_tx"), TX.c.state.in_(UNDOABLE)).values(state=TxState.UNDONE)
_STAND_AGAIN = (
    update(TX).where(TX.c.id == bindparam("of_tx"), TX.c.state == TxState.UNDONE).values(state=bindparam("new_state"))
)
_UNDOES = select(TX.c.undoes).where(TX.c.id == bindparam("of_tx"))


def close_transaction(connection: Connection, transaction_id: str, state: TxState, at: datetime) -> None:
    """Change the state of a transaction. Raises ``InternalError`` for a change that is not allowed."""
    this = {"of_tx": transaction_id}
    if state not in _OPEN and connection.execute(_HAS_OPEN_OPS, this).scalar_one():
        raise InternalError(f"Transaction {transaction_id} cannot be {state}: some of its ops have not ended.")
    if state is TxState.UNDONE:
        changed = connection.execute(_UNDO, this).rowcount
    else:
        changed = connection.execute(
            _CLOSE, this | {"new_state": state, "at": at if state in UNDOABLE else None}
        ).rowcount
        if not changed and state in UNDOABLE and connection.execute(_STAND_AGAIN, this | {"new_state": state}).rowcount:
            return
    if changed != 1:
        before = read_state(connection, transaction_id) or "unknown"
        raise InternalError(f"Transaction {transaction_id} is {before} and cannot become {state}.")
    undoes = connection.execute(_UNDOES, this).scalar() if state is TxState.COMMITTED else None
    if undoes is not None:
        connection.execute(_UNDO, {"of_tx": undoes})


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
    """Implements :class:`fateforger.calendar.ports.Journal` over a :class:`Database`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, transaction: Transaction) -> None:
        await self._database.write(lambda connection: begin_transaction(connection, transaction))

    async def mark(self, transaction_id: str, op_ids: Sequence[str], state: OpState) -> None:
        ops = frozenset(op_ids)
        if ops:
            await self._database.write(lambda connection: mark_ops(connection, transaction_id, ops, state))

    async def settle(
        self, transaction_id: str, record: OpRecord, *, head: Head | None = None, forget: str | None = None
    ) -> None:
        await self._database.write(lambda connection: settle_op(connection, transaction_id, record, head, forget))

    async def close(self, transaction_id: str, state: TxState, at: datetime) -> None:
        await self._database.write(lambda connection: close_transaction(connection, transaction_id, state, at))

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
        return await self._database.write(lambda connection: acquire_lease(connection, calendar, owner, now, seconds))

    async def release(self, lease: Lease) -> None:
        await self._database.write(lambda connection: release_lease(connection, lease))

    async def _first(self, query: Select[Any], **values: Any) -> Transaction | None:
        found = await self._all(query, **values)
        return found[0] if found else None

    async def _all(self, query: Select[Any], **values: Any) -> tuple[Transaction, ...]:
        return await self._database.read(lambda connection: read_transactions(connection, query, values))
