"""The journal and the leases of calendars, in SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import Any

from sqlalchemy import BigInteger, Connection, Index, Text, delete, exists, literal_column, update
from sqlmodel import Field, Session, select
from sqlmodel.sql.expression import SelectOfScalar

from fateforger.adapters.store.database import OnDatabase, has_ended, read_clock
from fateforger.adapters.store.tables import (
    JOURNAL_VERSION,
    AutoNumber,
    Base,
    Instant,
    dump_mapping,
    expect_version,
    find_rows,
    open_rows,
    parse,
    parse_mapping,
    table,
)
from fateforger.calendar.event import EventImage
from fateforger.calendar.model import Head, Ledger, SyncOp, SyncPlan, Verb
from fateforger.calendar.ports import Lease
from fateforger.calendar.transactions import OpRecord, OpState, Transaction, TxState
from fateforger.errors import InternalError, VersionConflict
from fateforger.text import gettext as _
from fateforger.text import mark_message


class SyncTx(Base, table=True):
    """A transaction; its ops are in :class:`SyncOpRow`. ``seq`` is the order in which transactions began.

    ``session_id`` repeats the session that its context names, if it names one.
    """

    __tablename__ = "sync_tx"
    __table_args__ = (
        Index("ix_sync_tx_cause", "calendar", "cause"),
        Index("ix_sync_tx_day", "calendar", "day"),
        Index("ix_sync_tx_group", "tx_group", "calendar"),
        Index("ix_sync_tx_state", "state"),
        Index("ix_sync_tx_session", "session_id", "calendar"),
        Index("ix_sync_tx_undoes", "undoes"),
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
    session_id: str | None = Field(default=None, sa_type=Text)


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
TX = table(SyncTx)
OP = table(SyncOpRow)
HEAD = table(EventHead)
GENERATION = table(EventGeneration)

# Literal values, which saves expanding a list of parameters each time.
_IS_UNSETTLED = OP.c.state.in_([literal_column(f"'{state}'") for state in OpState if not state.is_settled])
_FINISHED = mark_message("Another program has finished this write to the calendar in the meantime. Please try again.")
_OPEN = (TxState.APPLYING, TxState.PAUSED)
_UNDOABLE = (TxState.COMMITTED, TxState.PARTIAL)


class SqlJournal(OnDatabase):
    """Implements :class:`fateforger.calendar.ports.Journal` over a :class:`Database`."""

    async def begin(self, transaction: Transaction) -> None:
        await self._database.write(lambda connection: _begin(connection, transaction))

    async def mark(self, transaction_id: str, op_ids: Sequence[str], state: OpState) -> None:
        ops = frozenset(op_ids)
        if ops:
            await self._database.write(lambda connection: _mark(connection, transaction_id, ops, state))

    async def settle(
        self, transaction_id: str, record: OpRecord, *, head: Head | None = None, forget: str | None = None
    ) -> None:
        await self._database.write(lambda connection: _settle(connection, transaction_id, record, head, forget))

    async def close(self, transaction_id: str, state: TxState, at: datetime) -> None:
        await self._database.write(lambda connection: _close(connection, transaction_id, state, at))

    async def get(self, transaction_id: str) -> Transaction | None:
        return next(iter(await self._find(select(SyncTx).where(TX.c.id == transaction_id))), None)

    async def by_cause(self, calendar: str, cause: str) -> Transaction | None:
        query = select(SyncTx).where(TX.c.calendar == calendar, TX.c.cause == cause)
        return next(iter(await self._find(query.order_by(TX.c.seq.desc()).limit(1))), None)

    async def list_unsettled(self, calendar: str | None = None) -> tuple[Transaction, ...]:
        query = select(SyncTx).where(TX.c.state.in_(_OPEN)).order_by(TX.c.seq)
        return await self._find(query if calendar is None else query.where(TX.c.calendar == calendar))

    async def history(
        self, calendar: str | None, *, day: date | None = None, group: str | None = None, limit: int = 50
    ) -> tuple[Transaction, ...]:
        query = select(SyncTx).order_by(TX.c.seq.desc()).limit(limit)
        if calendar is not None:
            query = query.where(TX.c.calendar == calendar)
        if day is not None:
            query = query.where(TX.c.day == day)
        if group is not None:
            query = query.where(TX.c.tx_group == group)
        return await self._find(query)

    async def ledger(self, calendar: str, day: date) -> Ledger:
        return await self._database.read(lambda connection: _read_ledger(connection, calendar, day))

    async def acquire(self, calendar: str, owner: str, *, now: datetime, seconds: float) -> Lease | None:
        return await self._database.write(lambda connection: _acquire(connection, calendar, owner, now, seconds))

    async def release(self, lease: Lease) -> None:
        this = (LEASE.c.calendar == lease.calendar) & (LEASE.c.owner == lease.owner) & (LEASE.c.fence == lease.fence)
        release = update(LEASE).where(this).values(expires_at=None)
        await self._database.write(lambda connection: connection.execute(release))

    async def _find(self, query: SelectOfScalar[SyncTx]) -> tuple[Transaction, ...]:
        return await self._database.read(lambda connection: _read_transactions(connection, query))


def _begin(connection: Connection, transaction: Transaction) -> None:
    """Record a transaction.

    Raises ``VersionConflict`` for a used id or generation, or if there is nothing left to undo.
    """
    with open_rows(connection) as rows:
        if _find_tx(rows, transaction.id) is not None:
            raise VersionConflict(f"Transaction {transaction.id} was recorded before.")
        if transaction.undoes is not None:
            undone = _find_tx(rows, transaction.undoes)
            if undone is None or undone.state not in _UNDOABLE:
                raise VersionConflict("What was to be undone is not there to be undone any more.")
        rows.add(_to_tx_row(transaction))
        rows.flush()  # the rows of the ops refer to it
        for n, record in enumerate(transaction.records):
            key: dict[str, Any] = {"tx_id": transaction.id, "n": n, "op_id": record.op.op_id}
            rows.add(SyncOpRow(**key, attempts=record.attempts, **_build_outcome(record)))
            if record.op.verb is Verb.CREATE:
                _reserve(rows, transaction.calendar, record.op.seed, record.op.generation)


def _reserve(rows: Session, calendar: str, seed: str | None, generation: int) -> None:
    if seed is None:
        raise InternalError("A create has to say what its event id was minted from.")
    day = seed.partition("|")[0]
    known = rows.get(EventGeneration, (calendar, day, seed))
    if known is None:
        rows.add(EventGeneration(calendar=calendar, day=day, seed=seed, generation=generation))
    elif known.generation < generation:
        known.generation = generation
    else:
        raise VersionConflict("This calendar was written to in the meantime: an event id was used already.")


def _mark(connection: Connection, transaction_id: str, op_ids: frozenset[str], state: OpState) -> None:
    """Set the state of ops that have not ended."""
    with open_rows(connection) as rows:
        for row in _find_open_ops(rows, transaction_id, op_ids):
            row.state = state.value
            row.attempts += 1 if state is OpState.INFLIGHT else 0


def _settle(
    connection: Connection, transaction_id: str, record: OpRecord, head: Head | None, forget: str | None
) -> None:
    """Record the new state of an op that had not ended, and the change to its block's head."""
    with open_rows(connection) as rows:
        (row,) = _find_open_ops(rows, transaction_id, frozenset({record.op.op_id}))
        row.sqlmodel_update(_build_outcome(record))
        row.attempts = max(row.attempts, record.attempts)
        about = connection.execute(select(TX.c.calendar, TX.c.day).where(TX.c.id == transaction_id)).one()
        if forget is not None:
            this = (HEAD.c.calendar == about.calendar) & (HEAD.c.day == about.day) & (HEAD.c.key == forget)
            connection.execute(delete(HEAD).where(this))
        if head is not None:
            rows.merge(
                EventHead(
                    calendar=about.calendar,
                    day=head.day,
                    key=head.key,
                    event_id=head.event_id,
                    schema_version=JOURNAL_VERSION,
                    head=head.model_dump_json(),
                )
            )


def _find_open_ops(rows: Session, transaction_id: str, op_ids: frozenset[str]) -> Sequence[SyncOpRow]:
    """Return these ops. Raises ``InternalError`` for an unknown one, and ``VersionConflict`` if one has ended."""
    found = rows.exec(select(SyncOpRow).where(OP.c.tx_id == transaction_id, OP.c.op_id.in_(op_ids))).all()
    if missing := op_ids - {row.op_id for row in found}:
        raise InternalError(f"Transaction {transaction_id}: op {min(missing)} is unknown.")
    if any(OpState(row.state).is_settled for row in found):
        raise VersionConflict(_(_FINISHED))
    return found


def _close(connection: Connection, transaction_id: str, state: TxState, at: datetime) -> None:
    """Change the state of a transaction.

    Raises ``InternalError`` for an unknown one and for open ops, ``VersionConflict`` if it has ended.
    """
    has_open_ops = select(exists().where(OP.c.tx_id == transaction_id, _IS_UNSETTLED))
    if state not in _OPEN and connection.execute(has_open_ops).scalar_one():
        raise InternalError(f"Transaction {transaction_id} cannot be {state}: some of its ops have not ended.")
    with open_rows(connection) as rows:
        row = _find_tx(rows, transaction_id)
        if row is None:
            raise InternalError(f"There is no transaction {transaction_id} that could become {state}.")
        before = row.state
        if before not in _list_origins(state):
            raise VersionConflict(_(_FINISHED))
        row.state = state.value
        if before not in _OPEN:
            return
        row.settled_at = at if state in _UNDOABLE else None
        row.schema_version = JOURNAL_VERSION
        if state is TxState.COMMITTED and row.undoes is not None:
            undone = _find_tx(rows, row.undoes)
            if undone is not None and undone.state in _UNDOABLE:
                undone.state = TxState.UNDONE.value


def _list_origins(state: TxState) -> tuple[TxState, ...]:
    """Return the states from which a transaction may change to this one."""
    if state is TxState.UNDONE:
        return _UNDOABLE
    return (*_OPEN, TxState.UNDONE) if state in _UNDOABLE else _OPEN


def _find_tx(rows: Session, transaction_id: str) -> SyncTx | None:
    return rows.exec(select(SyncTx).where(TX.c.id == transaction_id)).first()


def _acquire(connection: Connection, calendar: str, owner: str, now: datetime, seconds: float) -> Lease | None:
    """Take the lease, or renew the owner's own under the same fence; return ``None`` while another owner holds it.

    An owner is named ``role@program``. What a program held that has ended is free, and so is what would be held for
    two leases from now: the clock was set back since. A clock that is corrected by seconds takes nothing.
    """
    length = timedelta(seconds=seconds)
    at = read_clock(connection, now)
    with open_rows(connection) as rows:
        row = rows.get(CalendarLease, calendar)
        if row is None:
            row = CalendarLease(calendar=calendar, owner=owner, fence=0)
            rows.add(row)
        held = row.expires_at is not None and row.expires_at > at
        if held and row.owner != owner:
            is_too_long = row.expires_at is not None and row.expires_at > at + 2 * length
            if not is_too_long and not has_ended(connection, row.owner.rpartition("@")[2]):
                return None
            held = False
        row.owner, row.expires_at = owner, at + length
        row.fence += 0 if held else 1
        return Lease(calendar, owner, row.fence, now + length)


def _read_ledger(connection: Connection, calendar: str, day: date) -> Ledger:
    """Return the heads and generations of a day. Raises ``StoreUnavailable``."""
    heads = select(EventHead).where(HEAD.c.calendar == calendar, HEAD.c.day == day).order_by(HEAD.c.key)
    generations = select(EventGeneration).where(GENERATION.c.calendar == calendar, GENERATION.c.day == day.isoformat())
    return Ledger(
        heads=tuple(map(_to_head, find_rows(connection, heads))),
        generations={row.seed: row.generation for row in find_rows(connection, generations)},
    )


def _read_transactions(connection: Connection, query: SelectOfScalar[SyncTx]) -> tuple[Transaction, ...]:
    """Return the transactions that a query finds, in its order. Raises ``StoreUnavailable``."""
    found = find_rows(connection, query)
    if not found:
        return ()
    of_these = OP.c.tx_id.in_([tx.id for tx in found])
    rows = find_rows(connection, select(SyncOpRow).where(of_these).order_by(OP.c.tx_id, OP.c.n))
    ops: Mapping[str, Sequence[SyncOpRow]] = {tx_id: list(of) for tx_id, of in groupby(rows, lambda row: row.tx_id)}
    return tuple(_to_transaction(tx, ops.get(tx.id, ())) for tx in found)


def _to_tx_row(transaction: Transaction) -> SyncTx:
    session = transaction.context.get("session")
    return SyncTx(
        id=transaction.id,
        calendar=transaction.calendar,
        day=transaction.day,
        tz=transaction.tz,
        kind=transaction.kind,
        state=transaction.state.value,
        created_at=transaction.created_at,
        settled_at=transaction.settled_at,
        cause=transaction.cause,
        tx_group=transaction.group,
        undoes=transaction.undoes,
        schema_version=JOURNAL_VERSION,
        plan=transaction.plan.model_dump_json(),
        context=dump_mapping(transaction.context, "The context of a transaction"),
        session_id=session if isinstance(session, str) else None,
    )


def _build_outcome(record: OpRecord) -> dict[str, Any]:
    """Return the columns of an op that may change after it was recorded, except attempts."""
    return {
        "state": record.state.value,
        "error": record.error,
        "op": record.op.model_dump_json(),
        "observed": None if record.observed is None else record.observed.model_dump_json(),
    }


def _to_transaction(row: SyncTx, ops: Sequence[SyncOpRow]) -> Transaction:
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


def _to_record(row: SyncOpRow, what: str) -> OpRecord:
    return OpRecord(
        op=parse(SyncOp, row.op, what),
        state=OpState(row.state),
        attempts=row.attempts,
        observed=None if row.observed is None else parse(EventImage, row.observed, what),
        error=row.error,
    )


def _to_head(row: EventHead) -> Head:
    what = f"The record of block “{row.key}”"
    expect_version(what, row.schema_version, JOURNAL_VERSION)
    return parse(Head, row.head, what)
