"""Transactions of ops, as the journal stores them, and their state transitions.

op           PENDING ──> INFLIGHT ──> APPLIED | SKIPPED | CONFLICT | FAILED
                │  ^────────┘ (a probe proves that it did not happen)
                ├──> SUPERSEDED | SKIPPED
                └──> APPLIED                for ops that only change our records

transaction  APPLYING <──> PAUSED
                └────┬───────┘
                     └──> COMMITTED | PARTIAL <──> UNDONE    (back when the undo is undone)

Any other transition is a bug.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date as Date  # noqa: N812  the field is called ``date`` elsewhere
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from fateforger.calendar.event import EventImage
from fateforger.calendar.model import RECORDS, WRITES, SyncOp, SyncPlan
from fateforger.errors import InternalError
from fateforger.values import Value, replace


class OpState(StrEnum):
    """``PENDING -> INFLIGHT -> APPLIED | SKIPPED | CONFLICT | FAILED | SUPERSEDED``.

    A probe that proves that an in-flight op did not happen leads back to ``PENDING``.
    """

    PENDING = "pending"
    INFLIGHT = "inflight"
    APPLIED = "applied"
    SKIPPED = "skipped"
    CONFLICT = "conflict"
    FAILED = "failed"
    SUPERSEDED = "superseded"

    @property
    def is_settled(self) -> bool:
        return self not in {OpState.PENDING, OpState.INFLIGHT}


class TxState(StrEnum):
    """``APPLYING -> COMMITTED | PARTIAL | PAUSED``.

    ``COMMITTED`` and ``PARTIAL`` can become ``UNDONE``, and return to their old state when the undo is undone.
    """

    APPLYING = "applying"
    COMMITTED = "committed"
    PARTIAL = "partial"
    PAUSED = "paused"
    UNDONE = "undone"


TxKind = Literal["submit", "undo"]
UNDOES = "undoes"
"""The name in a transaction's context of all transactions that an undo undoes, the newest first."""


class OpRecord(Value):
    """An op of a transaction and its state. ``observed`` is the event as the calendar showed it afterwards."""

    op: SyncOp
    state: OpState
    attempts: int = 0
    observed: EventImage | None = None
    error: str = ""


class Transaction(Value):
    """One submit or undo.

    ``cause`` names the command that asked for it, so that a repeated command finds it. ``group`` ties together the
    transactions that one Undo undoes as a whole; ``undoes`` names the transaction that an undo undoes. ``context`` is
    data the caller wants to find again (the plan before and after).
    """

    id: str
    calendar: str
    day: Date
    tz: str
    kind: TxKind
    state: TxState
    created_at: datetime
    settled_at: datetime | None = None
    cause: str
    group: str
    undoes: str | None = None
    plan: SyncPlan
    records: tuple[OpRecord, ...]
    context: Mapping[str, Any] = {}

    @property
    def undoable(self) -> bool:
        """Check whether undoing it would do anything: settled, not undone, and at least one op took effect."""
        return self.state in {TxState.COMMITTED, TxState.PARTIAL} and any(
            r.state is OpState.APPLIED and r.op.verb in {"create", "update", "delete"} for r in self.records
        )


_OP_MOVES: Mapping[OpState, frozenset[OpState]] = {
    OpState.PENDING: frozenset(
        {OpState.INFLIGHT, OpState.SUPERSEDED, OpState.APPLIED, OpState.SKIPPED, OpState.CONFLICT}
    ),
    OpState.INFLIGHT: frozenset({OpState.PENDING, OpState.APPLIED, OpState.SKIPPED, OpState.CONFLICT, OpState.FAILED}),
}
_TX_MOVES: Mapping[TxState, frozenset[TxState]] = {
    TxState.APPLYING: frozenset({TxState.PAUSED, TxState.COMMITTED, TxState.PARTIAL}),
    TxState.PAUSED: frozenset({TxState.APPLYING, TxState.PAUSED, TxState.COMMITTED, TxState.PARTIAL}),
    TxState.COMMITTED: frozenset({TxState.UNDONE}),
    TxState.PARTIAL: frozenset({TxState.UNDONE}),
    TxState.UNDONE: frozenset({TxState.COMMITTED, TxState.PARTIAL}),
}


def begin_transaction(
    plan: SyncPlan,
    *,
    id: str,  # noqa: A002  the field's name
    calendar: str,
    kind: TxKind,
    created_at: datetime,
    cause: str,
    group: str,
    undoes: str | None = None,
    context: Mapping[str, Any] | None = None,
) -> Transaction:
    """Return a new transaction for ``plan``: ops with an effect are pending, the others are skipped."""
    return Transaction(
        id=id,
        calendar=calendar,
        day=plan.day,
        tz=plan.tz,
        kind=kind,
        state=TxState.APPLYING,
        created_at=created_at,
        cause=cause,
        group=group,
        undoes=undoes,
        plan=plan,
        records=tuple(OpRecord(op=op, state=_first_state(op)) for op in plan.ops),
        context=dict(context or {}),
    )


def _first_state(op: SyncOp) -> OpState:
    return OpState.PENDING if op.verb in WRITES or op.verb in RECORDS else OpState.SKIPPED


def move_record(record: OpRecord, state: OpState, *, observed: EventImage | None = None, error: str = "") -> OpRecord:
    """Return the record in its next state. Raises ``InternalError`` on an illegal move."""
    if state not in _OP_MOVES.get(record.state, frozenset()):
        raise InternalError(f"Op {record.op.op_id} cannot go from {record.state} to {state}.")
    return replace(
        record,
        state=state,
        observed=observed,
        error=error,
        attempts=record.attempts + (state is OpState.INFLIGHT),
    )


def with_records(transaction: Transaction, *records: OpRecord) -> Transaction:
    """Return the transaction with some of its records replaced, found by op id."""
    new = {record.op.op_id: record for record in records}
    return replace(transaction, records=tuple(new.get(old.op.op_id, old) for old in transaction.records))


def close_transaction(transaction: Transaction, state: TxState, at: datetime) -> Transaction:
    """Return the transaction in its next state.

    Raises ``InternalError`` on an illegal move, and if it would end while one of its ops has not ended.
    """
    if state not in _TX_MOVES.get(transaction.state, frozenset()):
        raise InternalError(f"Transaction {transaction.id} cannot go from {transaction.state} to {state}.")
    ending = state in {TxState.COMMITTED, TxState.PARTIAL}
    if ending and not all(record.state.is_settled for record in transaction.records):
        raise InternalError(f"Transaction {transaction.id} cannot be {state}: some of its ops have not ended.")
    settles = ending and transaction.state is not TxState.UNDONE
    return replace(transaction, state=state, settled_at=at if settles else transaction.settled_at)


def judge_transaction(transaction: Transaction) -> TxState:
    """Return the final state of a transaction whose ops have all ended: partial if one did not go as decided."""
    unwell = {OpState.CONFLICT, OpState.FAILED, OpState.SUPERSEDED}
    return TxState.PARTIAL if any(r.state in unwell for r in transaction.records) else TxState.COMMITTED
