"""Journal writes of a running transaction. Each function is called inside one database transaction.

Statements are built once: building one takes several times as long as executing it.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, case, delete, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from fateforger.adapters.store.journal_rows import (
    GENERATION,
    HEAD,
    OP,
    TX,
    UNDOABLE,
    UNSETTLED,
    build_head_values,
    build_op_outcome,
    build_op_values,
    build_tx_values,
    read_state,
)
from fateforger.errors import InternalError, VersionConflict
from fateforger.journal.model import OpRecord, OpState, Transaction
from fateforger.sync.model import Head, Verb

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


def _build_upsert(head: sqlite.Insert | postgresql.Insert) -> sqlite.Insert | postgresql.Insert:
    columns: dict[str, ColumnElement[Any]] = {column.name: bindparam(column.name) for column in HEAD.c}
    put = head.values(columns | {"calendar": _CALENDAR})
    return put.on_conflict_do_update(
        index_elements=list(HEAD.primary_key),
        set_={name: put.excluded[name] for name in ("event_id", "schema_version", "head")},
    )


_PUT = {"sqlite": _build_upsert(sqlite.insert(HEAD)), "postgresql": _build_upsert(postgresql.insert(HEAD))}


def begin(connection: Connection, transaction: Transaction) -> None:
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


def mark(connection: Connection, transaction_id: str, op_ids: frozenset[str], state: OpState) -> None:
    """Set the state of ops that have not ended. Raises ``InternalError`` if one is unknown or has ended."""
    values = {"of_tx": transaction_id, "new_state": state, "more": 1 if state is OpState.INFLIGHT else 0}
    for op_id in sorted(op_ids):
        if connection.execute(_MARK, values | {"of_op": op_id}).rowcount != 1:
            raise InternalError(f"Transaction {transaction_id}: op {op_id}, to be {state}, is unknown or has ended.")


def settle(
    connection: Connection, transaction_id: str, record: OpRecord, head: Head | None, forget: str | None
) -> None:
    """Record the new state of an op that had not ended, and the change to its block's head."""
    values = {"of_tx": transaction_id, "of_op": record.op.op_id, "made": record.attempts} | build_op_outcome(record)
    if connection.execute(_SETTLE, values).rowcount != 1:
        raise InternalError(f"Transaction {transaction_id}: op {record.op.op_id} is unknown or has ended.")
    if forget is not None:
        connection.execute(_FORGET, {"of_tx": transaction_id, "of_key": forget})
    if head is not None:
        connection.execute(_PUT[connection.dialect.name], {"of_tx": transaction_id} | build_head_values(head))


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
