"""Constraints are tidied up once a day per person, durably, and every change is an event with its reason (S173, S235)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.contracts.stores import new_file
from tests.factories.constraints import version_of
from tests.fakes.manual_clock import ManualClock

from fateforger.adapters.store.store import Store, open_store
from fateforger.memory.versions import Version, select_newest
from fateforger.workers.lanes import MEMORY, TidyUp
from fateforger.workers.memory import TidyScheduler, tidy

NOW = datetime(2026, 3, 3, 12, 0, tzinfo=UTC)
LONG_AGO = "2025-01-01T09:00:00+00:00"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = open_store(new_file(tmp_path))
    yield opened
    await opened.aclose()


async def rounds(store: Store, clock: ManualClock, count: int = 1) -> int:
    """Run that many rounds of tidying, then all jobs, and return their number."""
    tidying = TidyScheduler(store.constraints, store.sessions, store.jobs, clock, tz="Europe/Amsterdam")
    for _ in range(count):
        await tidying.run_once()
    done = 0
    while (job := await store.jobs.claim("memory", "w", now=clock.now(), lease_seconds=60)) is not None:
        wanted = MEMORY.parse(job)
        assert isinstance(wanted, TidyUp)
        await tidy(wanted, job.dedupe, store.constraints, clock.now())
        await store.jobs.finish(job)
        done += 1
    return done


async def in_force(store: Store, user: str = "U1") -> dict[str, Version]:
    return {uid: v for uid, v in select_newest(await store.constraints.of(user), user).items() if not v.retired}


async def test_what_is_over_faded_or_twice_there_is_put_away(store: Store) -> None:
    """S173: a must never fades, what the person confirmed neither; the row is kept, with the reason."""
    versions = [
        version_of("over", end_date="2026-03-01"),
        version_of("lived", ttl_days=10),
        version_of("faded", status="proposed", confidence=0.4, at=LONG_AGO),
        version_of("must", status="proposed", confidence=0.4, necessity="must", at=LONG_AGO),
        version_of("kept", at=LONG_AGO),
        version_of("one", name="Same", description="same"),
        version_of("two", name="Same", description="same"),
    ]
    await store.constraints.write(versions, cause="import")
    clock = ManualClock(NOW)
    assert await rounds(store, clock) == 1
    assert sorted(await in_force(store)) == ["kept", "must", "one"]
    there = select_newest(await store.constraints.of("U1"), "U1")
    assert {uid: there[uid].event.reason for uid in ("over", "lived", "faded", "two")} == {
        "over": "expired",
        "lived": "expired",
        "faded": "never confirmed",
        "two": "duplicate of one",
    }
    wrote = await store.constraints.find_written("U1", "tidy/U1/2026-03-03")
    assert {version.uid for version in wrote} == {"over", "lived", "faded", "two"}


async def test_once_a_day_and_once_after_a_while_away(store: Store) -> None:
    """Also when several programs look, or one looks again."""
    await store.constraints.write([version_of("a", end_date="2026-03-01")], cause="import")
    clock = ManualClock(NOW)
    assert await rounds(store, clock, 3) == 1
    assert await rounds(store, clock, 3) == 0
    clock.at += timedelta(days=30)
    assert await rounds(store, clock, 3) == 1
    assert len(await store.constraints.of("U1")) == 2


async def test_a_day_begins_where_the_person_is(store: Store) -> None:
    await store.constraints.write([version_of("a", end_date="2026-03-03")], cause="import")
    clock = ManualClock(datetime(2026, 3, 3, 22, 30, tzinfo=UTC))
    assert await rounds(store, clock) == 1
    assert sorted(await in_force(store)) == ["a"]
    clock.at += timedelta(hours=1)
    assert await rounds(store, clock) == 1
    assert await in_force(store) == {}


async def test_everybody_on_their_own(store: Store) -> None:
    for user in ("U1", "U2"):
        await store.constraints.write([version_of("a", user=user, end_date="2026-03-01")], cause="import")
    assert await rounds(store, ManualClock(NOW)) == 2
    assert (await in_force(store), await in_force(store, "U2")) == ({}, {})
