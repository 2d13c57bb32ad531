"""Rows that are no longer needed are deleted after their time, a few at a time; the others stay."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert, select, update
from tests.contracts.session_examples import NOON, message, session
from tests.contracts.stores import KINDS, two_stores

from fateforger.adapters.recordings import RecordingFiles
from fateforger.adapters.store import store as retention
from fateforger.adapters.store.journal import TX, SyncTx
from fateforger.adapters.store.store import DEAD_JOBS_KEPT, RECEIPTS_KEPT, SENT_KEPT, Store
from fateforger.app.upkeep import prune
from fateforger.config import read_settings
from fateforger.ports.jobs import NewJob
from fateforger.ports.people import OperatorAction
from fateforger.session.store import Sent

TICK = timedelta(seconds=1)


@pytest.fixture(params=KINDS)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    async with two_stores(request, tmp_path) as stores:
        yield stores[0]


async def finish(store: Store, dedupe: str) -> None:
    assert await store.jobs.enqueue(NewJob("turn", "k", dedupe, {}), now=NOON)
    job = await store.jobs.claim("turn", "w", now=NOON, lease_seconds=9)
    assert job is not None
    assert await store.jobs.finish(job)


async def test_a_receipt_outlives_what_slack_repeats(store: Store) -> None:
    """S357"""
    await finish(store, "event1")
    assert await store.retention.prune(now=NOON + RECEIPTS_KEPT) == 0
    assert not await store.jobs.enqueue(NewJob("turn", "k", "event1", {}), now=NOON)
    assert await store.retention.prune(now=NOON + RECEIPTS_KEPT + TICK) == 1
    assert await store.jobs.enqueue(NewJob("turn", "k", "event1", {}), now=NOON)


async def test_the_receipt_of_a_job_that_is_still_tried_stays(store: Store) -> None:
    """S357"""
    assert await store.jobs.enqueue(NewJob("turn", "k", "slow", {}), now=NOON)
    assert await store.retention.prune(now=NOON + 2 * RECEIPTS_KEPT) == 0
    assert not await store.jobs.enqueue(NewJob("turn", "k", "slow", {}), now=NOON)


async def test_a_job_that_was_given_up_can_be_looked_at_for_a_month(store: Store) -> None:
    await store.jobs.enqueue(NewJob("turn", "k", "bad", {}), now=NOON)
    job = await store.jobs.claim("turn", "w", now=NOON, lease_seconds=9)
    assert job is not None
    await store.jobs.bury(job, "a bug")
    await store.retention.prune(now=NOON + RECEIPTS_KEPT + TICK)
    assert await store.retention.prune(now=NOON + DEAD_JOBS_KEPT) == 0
    assert await store.retention.prune(now=NOON + DEAD_JOBS_KEPT + TICK) == 1


async def test_sent_messages_go_and_what_waits_is_still_sent(store: Store) -> None:
    """S357"""
    await store.sessions.save(session(), expected=0, outgoing=[message("m1", "root"), message("m2")])
    await store.outbox.mark_sent("m1", Sent("D1", "1.1"), now=NOON)
    assert await store.retention.prune(now=NOON + SENT_KEPT) == 0
    assert await store.retention.prune(now=NOON + SENT_KEPT + TICK) == 1
    assert await store.outbox.slot("s1", "root") is None
    assert [waiting.id for waiting in await store.outbox.pending(now=NOON)] == ["m2"]


async def test_a_round_deletes_a_bounded_number(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """S357: the next round goes on."""
    monkeypatch.setattr(retention, "BATCH", 2)
    monkeypatch.setattr(retention, "MOST_BATCHES", 2)
    for n in range(5):
        await finish(store, f"event{n}")
    late = NOON + RECEIPTS_KEPT + TICK
    assert [await store.retention.prune(now=late) for _ in range(3)] == [4, 1, 0]


async def test_what_the_operator_did_is_kept_as_long_as_the_settings_say(store: Store, tmp_path: Path) -> None:
    """S382"""
    log = store.operator_log
    await log.note(OperatorAction("U1", NOON, "person export", "root"))
    longer = read_settings(data_dir=tmp_path, keep_operator_log=365)
    await prune(longer, store, now=NOON + timedelta(days=365))
    assert len(await log.latest("U1", limit=2)) == 1
    await prune(longer, store, now=NOON + timedelta(days=365) + TICK)
    assert not await log.latest("U1", limit=2)
    await log.note(OperatorAction("U1", NOON, "person export", "root"))
    await prune(read_settings(data_dir=tmp_path), store, now=NOON + timedelta(days=90) + TICK)
    assert not await log.latest("U1", limit=2)


async def test_days_go_when_the_settings_say_so(store: Store, tmp_path: Path) -> None:
    """S382: with their messages; a day that was touched since, and a day to come, stay."""
    await store.sessions.save(session(), expected=0, outgoing=[message("m1", "root")])
    settings = read_settings(data_dir=tmp_path)
    long_after = NOON + timedelta(days=400)
    await prune(settings, store, now=long_after)
    assert await store.sessions.load("s1") is not None, "nothing is deleted unless it is asked for"
    await prune(read_settings(data_dir=tmp_path, keep_sessions=401), store, now=long_after)
    assert await store.sessions.load("s1") is not None
    assert await prune(read_settings(data_dir=tmp_path, keep_sessions=30), store, now=long_after) == 1
    assert await store.sessions.load("s1") is None
    assert await store.outbox.slot("s1", "root") is None


async def test_a_day_with_an_unfinished_write_stays(store: Store) -> None:
    """S382: and one whose write is done goes with what was written and its undo."""
    await store.sessions.save(session(), expected=0)

    async def write(state: str, name: str, undoes: str | None = None) -> None:
        row = SyncTx(
            id=name,
            calendar="c",
            day=NOON.date(),
            tz="Etc/UTC",
            kind="submit",
            state=state,
            created_at=NOON,
            cause=name,
            tx_group=name,
            undoes=undoes,
            schema_version=1,
            plan="{}",
            context="{}",
            session_id=None if undoes else "s1",
        )
        await store.database.write(lambda c: c.execute(insert(TX).values(row.model_dump(exclude={"seq"}))))

    await write("applying", "t1")
    late = NOON + timedelta(days=99)
    assert await store.retention.prune_sessions(before=late) == 0
    await store.database.write(lambda c: c.execute(update(TX).values(state="committed")))
    await write("committed", "t2", undoes="t1")
    assert await store.retention.prune_sessions(before=late) == 1
    assert await store.database.read(lambda c: list(c.scalars(select(TX.c.id)))) == []


async def test_recordings_go_when_the_settings_say_so(store: Store, tmp_path: Path) -> None:
    """S382: files that are no recordings stay."""
    folder = tmp_path / "turns"
    files = RecordingFiles(folder)
    for name in ("old.json", "new.json"):
        await files.keep(name, "{}")
    (folder / "notes.txt").write_text("mine")
    for name in ("old.json", "notes.txt"):
        os.utime(folder / name, (0, 0))
    await prune(read_settings(data_dir=tmp_path, record=folder), store, now=NOON)
    assert (folder / "old.json").exists()
    assert await prune(read_settings(data_dir=tmp_path, record=folder, keep_recordings=7), store, now=NOON) == 1
    assert sorted(path.name for path in folder.iterdir()) == ["new.json", "notes.txt"]
