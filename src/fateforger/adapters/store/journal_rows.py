"""Convert transactions, ops and heads of the journal to rows and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, literal_column, select

from fateforger.adapters.store.documents import (
    JOURNAL_VERSION,
    dump_mapping,
    expect_version,
    parse,
    parse_mapping,
)
from fateforger.adapters.store.tables import EventGeneration, EventHead, SyncOpRow, SyncTx, table
from fateforger.journal.model import OpRecord, OpState, Transaction, TxState
from fateforger.sync.model import EventImage, Head, Ledger, SyncOp, SyncPlan

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
