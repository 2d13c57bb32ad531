"""Legal moves of ops and transactions, and only those (P19)."""

from __future__ import annotations

import itertools

import pytest
from tests.factories.days import NOON
from tests.factories.paper import Paper, day_of, event, fields, make_block

from fateforger.calendar.transactions import (
    OpRecord,
    OpState,
    Transaction,
    TxState,
    begin_transaction,
    close_transaction,
    judge_transaction,
    move_record,
    with_records,
)
from fateforger.errors import InternalError

S = OpState
ALLOWED = {
    (S.PENDING, S.INFLIGHT),
    (S.PENDING, S.SUPERSEDED),
    (S.PENDING, S.APPLIED),
    (S.PENDING, S.SKIPPED),
    (S.PENDING, S.CONFLICT),
    (S.INFLIGHT, S.PENDING),
    (S.INFLIGHT, S.APPLIED),
    (S.INFLIGHT, S.SKIPPED),
    (S.INFLIGHT, S.CONFLICT),
    (S.INFLIGHT, S.FAILED),
}
T = TxState
ALLOWED_TX = {
    (T.APPLYING, T.PAUSED),
    (T.APPLYING, T.COMMITTED),
    (T.APPLYING, T.PARTIAL),
    (T.PAUSED, T.APPLYING),
    (T.PAUSED, T.PAUSED),
    (T.PAUSED, T.COMMITTED),
    (T.PAUSED, T.PARTIAL),
    (T.COMMITTED, T.UNDONE),
    (T.PARTIAL, T.UNDONE),
    (T.UNDONE, T.COMMITTED),
    (T.UNDONE, T.PARTIAL),
}


def transaction() -> Transaction:
    paper = (
        Paper().submit(day_of(make_block("gone", fields("gone", 400))))[0].with_event(event("user1", fields("b", 700)))
    )
    plan = paper.plan(day_of(make_block("a"), make_block("b", fields("b", 700), index=1)))
    return begin_transaction(plan, id="t", calendar="c", kind="submit", created_at=NOON, cause="x", group="g")


@pytest.mark.parametrize(("first", "then"), list(itertools.product(OpState, OpState)))
def test_moves_of_an_op(first: OpState, then: OpState) -> None:
    record = OpRecord(op=transaction().records[0].op, state=first)
    if (first, then) not in ALLOWED:
        with pytest.raises(InternalError):
            move_record(record, then)
        return
    after = move_record(record, then, error="why")
    assert (after.state, after.error, after.attempts) == (then, "why", int(then is OpState.INFLIGHT))


@pytest.mark.parametrize(("first", "then"), list(itertools.product(TxState, TxState)))
def test_moves_of_a_transaction(first: TxState, then: TxState) -> None:
    done = transaction().model_copy(update={"state": first, "records": ()})
    if (first, then) not in ALLOWED_TX:
        with pytest.raises(InternalError):
            close_transaction(done, then, NOON)
        return
    after = close_transaction(done, then, NOON)
    ended = then in {TxState.COMMITTED, TxState.PARTIAL} and first is not TxState.UNDONE
    assert (after.state, after.settled_at) == (then, NOON if ended else None)


def test_a_transaction_begins_with_everything_pending() -> None:
    """An op that only informs (a linked block) is skipped from the start."""
    begins = transaction()
    assert [(r.op.key, r.state) for r in begins.records] == [
        ("a", S.PENDING),
        ("b", S.SKIPPED),
        ("gone", S.PENDING),
    ]
    assert (begins.state, begins.undoable) == (TxState.APPLYING, False)


def test_it_cannot_end_while_an_op_has_not() -> None:
    with pytest.raises(InternalError, match="have not ended"):
        close_transaction(transaction(), TxState.COMMITTED, NOON)
    assert close_transaction(transaction(), TxState.PAUSED, NOON).state is TxState.PAUSED


@pytest.mark.parametrize(
    ("state", "verdict"),
    [
        (S.APPLIED, TxState.COMMITTED),
        (S.SKIPPED, TxState.COMMITTED),
        (S.CONFLICT, TxState.PARTIAL),
        (S.FAILED, TxState.PARTIAL),
        (S.SUPERSEDED, TxState.PARTIAL),
    ],
)
def test_how_it_ends(state: OpState, verdict: TxState) -> None:
    """S87"""
    open_ = transaction()
    first, _, last = open_.records
    done = with_records(open_, last.model_copy(update={"state": S.APPLIED}), first.model_copy(update={"state": state}))
    assert [r.state for r in done.records] == [state, S.SKIPPED, S.APPLIED]
    assert judge_transaction(done) is verdict
    assert close_transaction(done, verdict, NOON).undoable
