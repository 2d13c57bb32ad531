"""Transactions run outside the event loop, one after the other, whole or not at all."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, insert, select
from tests.contracts.jobs_contract import put, take_job
from tests.contracts.stores import new_file

from fateforger.adapters.store.jobs import JobReceipt
from fateforger.adapters.store.store import Store, open_store
from fateforger.adapters.store.tables import Instant, table
from fateforger.errors import UserError

RECEIPT = table(JobReceipt)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return new_file(tmp_path)


@pytest.fixture
async def store(path: Path) -> AsyncIterator[Store]:
    store = open_store(path)
    yield store
    await store.aclose()


def accept(connection: Connection, name: str) -> None:
    connection.execute(insert(RECEIPT), {"lane": "l", "dedupe": name})


async def list_receipts(store: Store) -> list[str]:
    return await store.database.read(
        lambda connection: list(connection.execute(select(RECEIPT.c.dedupe).order_by(RECEIPT.c.dedupe)).scalars())
    )


async def test_what_raises_is_rolled_back(store: Store) -> None:
    def work(connection: Connection) -> None:
        accept(connection, "a")
        raise UserError("no")

    with pytest.raises(UserError):
        await store.database.write(work)
    assert await list_receipts(store) == []


async def test_the_event_loop_goes_on_meanwhile(store: Store, path: Path) -> None:
    """S100: another process holds the lock; only what needs the database waits."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    writing = asyncio.ensure_future(put(store.jobs, "j1"))
    for _ in range(50):
        await asyncio.sleep(0)
    assert not writing.done()
    other.execute("COMMIT")
    other.close()
    assert await writing


async def test_writers_run_one_after_the_other(store: Store) -> None:
    running = threading.Semaphore(1)

    def work(connection: Connection) -> bool:
        alone = running.acquire(blocking=False)
        accept(connection, threading.current_thread().name + str(connection.execute(select(RECEIPT)).all()))
        if alone:
            running.release()
        return alone

    assert await asyncio.gather(*(store.database.write(work) for _ in range(20))) == [True] * 20


async def test_a_cancelled_call_is_carried_out_whole_or_not_at_all(store: Store) -> None:
    entered, go_on = threading.Event(), threading.Event()

    def work(connection: Connection) -> None:
        accept(connection, "a")
        entered.set()
        go_on.wait(10)
        accept(connection, "b")

    running = asyncio.ensure_future(store.database.write(work))
    waiting = asyncio.ensure_future(store.database.write(lambda connection: accept(connection, "c")))
    await asyncio.to_thread(entered.wait, 10)
    running.cancel()
    waiting.cancel()
    go_on.set()
    outcomes = await asyncio.gather(running, waiting, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [asyncio.CancelledError] * 2
    assert await list_receipts(store) == ["a", "b"]


async def test_closing_waits_for_what_is_under_way(tmp_path: Path) -> None:
    path = new_file(tmp_path)
    store = open_store(path)
    writes = [asyncio.ensure_future(put(store.jobs, f"j{n}")) for n in range(10)]
    await asyncio.sleep(0)
    await store.aclose()
    assert await asyncio.gather(*writes) == [True] * 10
    again = open_store(path)
    assert (await take_job(again.jobs)).dedupe == "j0"
    await again.aclose()


ZONES = st.integers(-12 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(st.datetimes(timezones=ZONES))
def test_instants_come_back_exactly(instant: datetime) -> None:
    kind = Instant()
    stored = kind.process_bind_param(instant, None)  # type: ignore[arg-type]  # the dialect does not matter
    back = kind.process_result_value(stored, None)  # type: ignore[arg-type]  # the same
    assert back == instant
    assert back is not None
    assert back.tzinfo is UTC


@given(st.datetimes(timezones=ZONES), st.datetimes(timezones=ZONES))
def test_stored_instants_keep_their_order(one: datetime, other: datetime) -> None:
    first, second = (Instant().process_bind_param(instant, None) for instant in (one, other))  # type: ignore[arg-type]  # the same
    assert first is not None
    assert second is not None
    assert (first < second, first == second) == (one < other, one == other)
