"""The contract of journals. A test module subclasses the suite and gives it two views of one journal."""

from __future__ import annotations

import asyncio
from datetime import date

import pytest
from tests.contracts.journal_examples import (
    CALENDAR,
    DAY,
    NOON,
    create,
    delete,
    head,
    image,
    later,
    make_applied,
    transaction,
    update,
)

from fateforger.calendar.model import Ledger, Verb
from fateforger.calendar.ports import Journal, Lease
from fateforger.calendar.transactions import OpRecord, OpState, Transaction, TxState
from fateforger.errors import InternalError, VersionConflict

TOMORROW = date(2026, 3, 3)
ENDED = [OpState.APPLIED, OpState.SKIPPED, OpState.CONFLICT, OpState.FAILED, OpState.SUPERSEDED]


async def finish_transaction(journal: Journal, begun: Transaction, state: TxState = TxState.COMMITTED) -> Transaction:
    """Begin a transaction, apply all of it and close it."""
    await journal.begin(begun)
    for record in begun.records:
        await journal.settle(begun.id, make_applied(record.op, attempts=0))
    await journal.close(begun.id, state, later(5))
    records = tuple(make_applied(r.op, attempts=0) for r in begun.records)
    return begun.model_copy(update={"state": state, "settled_at": later(5), "records": records})


class JournalContract:
    """``journal`` is written to, ``other`` is what another part of the program (or another process) sees of it."""

    @pytest.fixture
    def journal(self) -> Journal:
        raise NotImplementedError

    @pytest.fixture
    def other(self) -> Journal:
        raise NotImplementedError

    async def test_a_transaction_comes_back_as_it_was(self, journal: Journal, other: Journal) -> None:
        """S86"""
        begun = transaction(ops=[create(0), update(1), delete(2)])
        await journal.begin(begun)
        assert await other.get("t1") == begun

    async def test_an_unknown_transaction_is_none(self, journal: Journal) -> None:
        assert await journal.get("nope") is None
        assert await journal.by_cause(CALENDAR, "nope") is None
        assert await journal.list_unsettled() == ()
        assert await journal.history(CALENDAR) == ()
        assert await journal.ledger(CALENDAR, DAY) == Ledger()

    async def test_all_day_and_timed_images_keep_their_kind(self, journal: Journal, other: Journal) -> None:
        all_day = image(2).model_copy(update={"start": DAY, "end": TOMORROW})
        begun = transaction(ops=[delete(2).model_copy(update={"before": all_day})])
        await journal.begin(begun)
        assert await other.get("t1") == begun

    async def test_a_transaction_without_ops(self, journal: Journal, other: Journal) -> None:
        done = await finish_transaction(journal, transaction(ops=[]))
        assert await other.get("t1") == done

    async def test_an_id_is_recorded_once(self, journal: Journal) -> None:
        await journal.begin(transaction())
        with pytest.raises(VersionConflict):
            await journal.begin(transaction(ops=[create(7)]))
        assert await journal.get("t1") == transaction()

    async def test_mark_changes_the_state_of_the_named_ops(self, journal: Journal, other: Journal) -> None:
        await journal.begin(transaction(ops=[create(0), create(1), create(2)]))
        await journal.mark("t1", ["t1-0", "t1-2"], OpState.INFLIGHT)
        assert await _states(other) == [("t1-0", "inflight", 1), ("t1-1", "pending", 0), ("t1-2", "inflight", 1)]
        await journal.mark("t1", ["t1-0"], OpState.PENDING)
        await journal.mark("t1", ["t1-0"], OpState.INFLIGHT)
        await journal.mark("t1", ["t1-1"], OpState.SUPERSEDED)
        assert await _states(other) == [("t1-0", "inflight", 2), ("t1-1", "superseded", 0), ("t1-2", "inflight", 1)]

    async def test_mark_is_all_or_nothing(self, journal: Journal) -> None:
        await journal.begin(transaction(ops=[create(0), create(1)]))
        await journal.settle("t1", make_applied(create(1)))
        with pytest.raises(VersionConflict):
            await journal.mark("t1", ["t1-0", "t1-1"], OpState.INFLIGHT)
        with pytest.raises(InternalError):
            await journal.mark("t1", ["t1-0", "t1-9"], OpState.INFLIGHT)
        assert await _states(journal) == [("t1-0", "pending", 0), ("t1-1", "applied", 1)]

    @pytest.mark.parametrize("state", ENDED)
    async def test_an_op_that_ended_never_changes(self, journal: Journal, state: OpState) -> None:
        """P19 of the engine's properties: terminal states are terminal, for ``mark`` and ``settle`` alike."""
        await journal.begin(transaction())
        record = OpRecord(op=create(0), state=state, error="why")
        await journal.settle("t1", record)
        for new in OpState:
            with pytest.raises(VersionConflict):
                await journal.mark("t1", ["t1-0"], new)
            with pytest.raises(VersionConflict):
                await journal.settle("t1", OpRecord(op=create(0), state=new), head=head(0))
        assert await _records(journal) == (record,)
        assert await journal.ledger(CALENDAR, DAY) == Ledger(generations={str(create(0).seed): 0})

    async def test_settle_keeps_what_was_observed(self, journal: Journal, other: Journal) -> None:
        await journal.begin(transaction())
        await journal.mark("t1", ["t1-0"], OpState.INFLIGHT)
        record = make_applied(create(0), image(0))
        await journal.settle("t1", record, head=head(0))
        assert await _records(other) == (record,)
        assert (await other.ledger(CALENDAR, DAY)).heads == (head(0),)

    async def test_settle_never_lowers_the_attempts(self, journal: Journal) -> None:
        await journal.begin(transaction())
        await journal.mark("t1", ["t1-0"], OpState.INFLIGHT)
        await journal.mark("t1", ["t1-0"], OpState.INFLIGHT)
        await journal.settle("t1", make_applied(create(0), attempts=0))
        assert await _states(journal) == [("t1-0", "applied", 2)]

    async def test_an_op_may_be_decided_anew_before_it_ends(self, journal: Journal) -> None:
        await journal.begin(transaction(ops=[update(0)]))
        await journal.mark("t1", ["t1-0"], OpState.INFLIGHT)
        merged = update(0).model_copy(update={"before": image(0, "Edited", '"7"')})
        await journal.settle("t1", OpRecord(op=merged, state=OpState.PENDING, attempts=1))
        assert await _records(journal) == (OpRecord(op=merged, state=OpState.PENDING, attempts=1),)
        await journal.settle("t1", make_applied(merged))
        assert await _states(journal) == [("t1-0", "applied", 1)]

    async def test_settling_an_unknown_op_changes_nothing(self, journal: Journal) -> None:
        await journal.begin(transaction())
        with pytest.raises(InternalError):
            await journal.settle("t1", make_applied(create(9)), head=head(9))
        with pytest.raises(InternalError):
            await journal.settle("t2", make_applied(create(0)), head=head(0))
        assert (await journal.ledger(CALENDAR, DAY)).heads == ()

    async def test_heads_are_replaced_and_forgotten(self, journal: Journal, other: Journal) -> None:
        await journal.begin(transaction(ops=[create(0), create(1), update(0, tx="u"), delete(1, tx="d")]))
        await journal.settle("t1", make_applied(create(0)), head=head(0))
        await journal.settle("t1", make_applied(create(1)), head=head(1))
        await journal.settle("t1", make_applied(update(0, tx="u")), head=head(0, version='"2"'))
        await journal.settle("t1", make_applied(delete(1, tx="d")), forget="key1")
        assert (await other.ledger(CALENDAR, DAY)).heads == (head(0, version='"2"'),)

    async def test_the_same_key_on_two_days_has_two_heads(self, journal: Journal) -> None:
        await journal.begin(transaction("t1", [create(0)]))
        await journal.settle("t1", make_applied(create(0)), head=head(0))
        second = create(0, tx="t2", day=TOMORROW)
        await journal.begin(transaction("t2", [second], day=TOMORROW))
        await journal.settle("t2", make_applied(second), head=head(0, day=TOMORROW))
        assert (await journal.ledger(CALENDAR, DAY)).heads == (head(0),)
        assert (await journal.ledger(CALENDAR, TOMORROW)).heads == (head(0, day=TOMORROW),)
        assert await journal.ledger("local:you", DAY) == Ledger()

    async def test_begin_reserves_generations_for_good(self, journal: Journal, other: Journal) -> None:
        """S73, S237: what was reserved stays used, also when the create never took effect."""
        await journal.begin(transaction("t1", [create(0), create(1)]))
        await journal.settle("t1", OpRecord(op=create(0), state=OpState.FAILED))
        seeds = [str(create(n).seed) for n in (0, 1)]
        assert (await other.ledger(CALENDAR, DAY)).generations == {seeds[0]: 0, seeds[1]: 0}
        await journal.begin(transaction("t2", [create(0, generation=3, tx="t2")]))
        assert (await other.ledger(CALENDAR, DAY)).generations == {seeds[0]: 3, seeds[1]: 0}

    @pytest.mark.parametrize("generation", [0, 1, 2])
    async def test_no_generation_is_used_twice(self, journal: Journal, generation: int) -> None:
        """S237, P3: a plan based on an older ledger raises a conflict, and no part of the transaction is recorded."""
        await journal.begin(transaction("t1", [create(0, generation=2)]))
        stale = transaction("t2", [create(1, tx="t2"), create(0, generation=generation, tx="t2")])
        with pytest.raises(VersionConflict):
            await journal.begin(stale)
        assert await journal.get("t2") is None
        assert (await journal.ledger(CALENDAR, DAY)).generations == {str(create(0).seed): 2}

    async def test_of_equal_transactions_at_once_one_begins(self, journal: Journal, other: Journal) -> None:
        tries = [view.begin(transaction()) for view in [journal, other] * 5]
        outcomes = await asyncio.gather(*tries, return_exceptions=True)
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["NoneType"] + ["VersionConflict"] * 9
        assert await journal.history(CALENDAR) == (transaction(),)

    async def test_of_equal_generations_at_once_one_is_reserved(self, journal: Journal, other: Journal) -> None:
        tries = [
            view.begin(transaction(f"t{n}", [create(0, tx=f"t{n}")])) for n, view in enumerate([journal, other] * 5)
        ]
        outcomes = await asyncio.gather(*tries, return_exceptions=True)
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["NoneType"] + ["VersionConflict"] * 9
        assert len(await journal.history(CALENDAR)) == 1

    async def test_a_create_names_its_seed(self, journal: Journal) -> None:
        with pytest.raises(InternalError):
            await journal.begin(transaction(ops=[create(0).model_copy(update={"seed": None})]))
        assert await journal.get("t1") is None

    async def test_only_creates_reserve(self, journal: Journal) -> None:
        adopt = create(0).model_copy(update={"verb": Verb.ADOPT})
        await journal.begin(transaction(ops=[adopt, update(1), delete(2)]))
        assert (await journal.ledger(CALENDAR, DAY)).generations == {}

    async def test_close_settles(self, journal: Journal, other: Journal) -> None:
        done = await finish_transaction(journal, transaction())
        assert await other.get("t1") == done
        assert await other.list_unsettled() == ()

    async def test_a_paused_transaction_goes_on(self, journal: Journal) -> None:
        await journal.begin(transaction())
        await journal.close("t1", TxState.PAUSED, later(1))
        paused = transaction(state=TxState.PAUSED)
        assert await journal.list_unsettled() == (paused,)
        await journal.close("t1", TxState.APPLYING, later(2))
        assert await journal.list_unsettled() == (transaction(),)
        await journal.settle("t1", make_applied(create(0)))
        await journal.close("t1", TxState.PARTIAL, later(3))
        assert await journal.list_unsettled() == ()

    @pytest.mark.parametrize("open_op", [OpState.PENDING, OpState.INFLIGHT])
    @pytest.mark.parametrize("state", [TxState.COMMITTED, TxState.PARTIAL, TxState.UNDONE])
    async def test_nothing_ends_with_open_ops(self, journal: Journal, state: TxState, open_op: OpState) -> None:
        await journal.begin(transaction(ops=[create(0), create(1)]))
        await journal.settle("t1", make_applied(create(0)))
        await journal.mark("t1", ["t1-1"], open_op)
        with pytest.raises(InternalError):
            await journal.close("t1", state, later(1))
        assert [tx.id for tx in await journal.list_unsettled()] == ["t1"]

    @pytest.mark.parametrize("first", [TxState.COMMITTED, TxState.PARTIAL])
    @pytest.mark.parametrize("then", [TxState.APPLYING, TxState.PAUSED, TxState.COMMITTED, TxState.PARTIAL])
    async def test_what_ended_can_only_be_undone(self, journal: Journal, first: TxState, then: TxState) -> None:
        done = await finish_transaction(journal, transaction(), first)
        with pytest.raises(VersionConflict):
            await journal.close("t1", then, later(9))
        assert await journal.get("t1") == done
        await journal.close("t1", TxState.UNDONE, later(9))
        assert await journal.get("t1") == done.model_copy(update={"state": TxState.UNDONE})
        with pytest.raises(VersionConflict):
            await journal.close("t1", TxState.UNDONE, later(9))

    @pytest.mark.parametrize("how", [TxState.COMMITTED, TxState.PARTIAL])
    async def test_what_was_undone_can_stand_again(self, journal: Journal, other: Journal, how: TxState) -> None:
        """P6b: when the undo is taken back. It changes nothing else, also not what it once undid itself."""
        first = await finish_transaction(journal, transaction("t1"))
        undo = transaction("t2", [delete(0, tx="t2")], kind="undo", undoes="t1")
        done = await finish_transaction(journal, undo)
        await journal.close("t1", TxState.COMMITTED, later(8))
        await journal.close("t2", TxState.UNDONE, later(8))
        await journal.close("t2", how, later(9))
        assert await other.get("t1") == first
        assert await other.get("t2") == done.model_copy(update={"state": how})

    async def test_closing_an_unknown_transaction(self, journal: Journal) -> None:
        with pytest.raises(InternalError):
            await journal.close("nope", TxState.COMMITTED, NOON)

    @pytest.mark.parametrize(("how", "then"), [(TxState.COMMITTED, TxState.UNDONE), (TxState.PARTIAL, TxState.PARTIAL)])
    async def test_a_whole_undo_marks_what_it_undid(
        self, journal: Journal, other: Journal, how: TxState, then: TxState
    ) -> None:
        """S88, S236: what a partial undo left can be undone again."""
        done = await finish_transaction(journal, transaction("t1"), TxState.PARTIAL)
        undo = transaction("t2", [delete(0, tx="t2")], kind="undo", undoes="t1")
        await journal.begin(undo)
        assert await other.get("t1") == done
        await journal.settle("t2", make_applied(undo.records[0].op), forget="key0")
        await journal.close("t2", TxState.PAUSED, later(6))
        assert await other.get("t1") == done
        await journal.close("t2", how, later(7))
        assert await other.get("t1") == done.model_copy(update={"state": then})

    async def test_an_undo_needs_something_to_undo(self, journal: Journal) -> None:
        """S89: also when two undos race."""
        await finish_transaction(journal, transaction("t1"))
        await finish_transaction(journal, transaction("t2", [delete(0, tx="t2")], kind="undo", undoes="t1"))
        await journal.begin(transaction("t3", [create(3, tx="t3")]))
        for undone in ("t1", "t3", "nope"):
            with pytest.raises(VersionConflict):
                await journal.begin(transaction("t4", [delete(0, tx="t4")], kind="undo", undoes=undone))
        assert await journal.get("t4") is None

    async def test_an_undo_can_be_undone(self, journal: Journal) -> None:
        await finish_transaction(journal, transaction("t1"))
        await finish_transaction(journal, transaction("t2", [delete(0, tx="t2")], kind="undo", undoes="t1"))
        redo = transaction("t3", [create(0, generation=1, tx="t3")], kind="undo", undoes="t2")
        await finish_transaction(journal, redo)
        assert [(tx.id, tx.state.value) for tx in await journal.history(CALENDAR)] == [
            ("t3", "committed"),
            ("t2", "undone"),
            ("t1", "undone"),
        ]

    async def test_a_cause_finds_its_last_transaction(self, journal: Journal, other: Journal) -> None:
        await finish_transaction(journal, transaction("t1", cause="c"))
        await journal.begin(transaction("t2", [create(2, tx="t2")], cause="c"))
        await journal.begin(transaction("t3", [create(3, tx="t3")], cause="c", calendar="local:you"))
        found = await other.by_cause(CALENDAR, "c")
        assert found is not None
        assert found.id == "t2"

    async def test_unsettled_is_oldest_first(self, journal: Journal) -> None:
        for n, calendar in enumerate([CALENDAR, "local:you", CALENDAR]):
            await journal.begin(transaction(f"t{n}", [create(n, tx=f"t{n}")], calendar=calendar, created_at=later(-n)))
        await journal.close("t2", TxState.PAUSED, NOON)
        assert [tx.id for tx in await journal.list_unsettled()] == ["t0", "t1", "t2"]
        assert [tx.id for tx in await journal.list_unsettled(CALENDAR)] == ["t0", "t2"]

    async def test_history_is_newest_first(self, journal: Journal) -> None:
        for n in range(4):
            await journal.begin(
                transaction(
                    f"t{n}", [create(n, tx=f"t{n}")], day=[DAY, TOMORROW][n % 2], group="ab"[n // 2], calendar=CALENDAR
                )
            )
        assert [tx.id for tx in await journal.history(CALENDAR)] == ["t3", "t2", "t1", "t0"]
        assert [tx.id for tx in await journal.history(CALENDAR, limit=2)] == ["t3", "t2"]
        assert [tx.id for tx in await journal.history(CALENDAR, day=DAY)] == ["t2", "t0"]
        assert [tx.id for tx in await journal.history(CALENDAR, group="a")] == ["t1", "t0"]
        assert [tx.id for tx in await journal.history(CALENDAR, group="a", day=TOMORROW)] == ["t1"]
        assert await journal.history("local:you") == ()
        await journal.begin(transaction("t4", [create(4, tx="t4")], group="a", calendar="local:you"))
        assert [tx.id for tx in await journal.history(None, group="a")] == ["t4", "t1", "t0"]

    async def test_one_owner_at_a_time(self, journal: Journal, other: Journal) -> None:
        """P20, and the lease part of P2."""
        mine = await journal.acquire(CALENDAR, "a", now=NOON, seconds=10)
        assert mine == Lease(CALENDAR, "a", 1, later(10))
        assert await other.acquire(CALENDAR, "b", now=later(9.9), seconds=10) is None
        assert await other.acquire("local:you", "b", now=NOON, seconds=10) == Lease("local:you", "b", 1, later(10))

    async def test_of_many_at_once_one_gets_the_lease(self, journal: Journal, other: Journal) -> None:
        """P20"""
        tries = [view.acquire(CALENDAR, f"{n}", now=NOON, seconds=10) for n, view in enumerate([journal, other] * 5)]
        got = await asyncio.gather(*tries)
        assert len([lease for lease in got if lease is not None]) == 1

    async def test_a_renewed_lease_keeps_its_fence(self, journal: Journal) -> None:
        await journal.acquire(CALENDAR, "a", now=NOON, seconds=10)
        assert await journal.acquire(CALENDAR, "a", now=later(5), seconds=10) == Lease(CALENDAR, "a", 1, later(15))

    @pytest.mark.parametrize("owner", ["a", "b"])
    async def test_an_expired_lease_is_taken_with_a_higher_fence(
        self, journal: Journal, other: Journal, owner: str
    ) -> None:
        await journal.acquire(CALENDAR, "a", now=NOON, seconds=10)
        assert await other.acquire(CALENDAR, owner, now=later(10), seconds=5) == Lease(CALENDAR, owner, 2, later(15))

    async def test_a_released_lease_is_free_at_once(self, journal: Journal, other: Journal) -> None:
        mine = await journal.acquire(CALENDAR, "a", now=NOON, seconds=10)
        assert mine is not None
        await journal.release(mine)
        assert await other.acquire(CALENDAR, "b", now=NOON, seconds=10) == Lease(CALENDAR, "b", 2, later(10))

    async def test_an_old_lease_does_not_release_a_new_one(self, journal: Journal, other: Journal) -> None:
        old = await journal.acquire(CALENDAR, "a", now=NOON, seconds=1)
        assert old is not None
        await journal.acquire(CALENDAR, "a", now=later(1), seconds=10)
        await journal.release(old)
        assert await other.acquire(CALENDAR, "b", now=later(2), seconds=10) is None

    async def test_a_lost_lease_cannot_be_released(self, journal: Journal, other: Journal) -> None:
        mine = await journal.acquire(CALENDAR, "a", now=NOON, seconds=1)
        assert mine is not None
        await other.acquire(CALENDAR, "b", now=later(1), seconds=10)
        await journal.release(mine)
        assert await journal.acquire(CALENDAR, "a", now=later(2), seconds=10) is None

    async def test_a_clock_that_is_set_back_lengthens_no_lease(self, journal: Journal, other: Journal) -> None:
        """S488: nor does it take the lease from its owner before another one asks."""
        hour = 3600
        await journal.acquire(CALENDAR, "a", now=later(hour), seconds=10)
        assert await other.acquire(CALENDAR, "b", now=NOON, seconds=10) == Lease(CALENDAR, "b", 2, later(10))
        await journal.acquire("local:you", "a", now=later(hour), seconds=10)
        assert await journal.acquire("local:you", "a", now=NOON, seconds=10) == Lease("local:you", "a", 1, later(10))
        assert await other.acquire("local:you", "b", now=later(1), seconds=10) is None
        assert await other.acquire("local:you", "b", now=later(-9), seconds=10) is None


async def _records(journal: Journal) -> tuple[OpRecord, ...]:
    found = await journal.get("t1")
    assert found is not None
    return found.records


async def _states(journal: Journal) -> list[tuple[str, str, int]]:
    return [(r.op.op_id, r.state.value, r.attempts) for r in await _records(journal)]
