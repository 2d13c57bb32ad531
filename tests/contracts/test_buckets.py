"""Token buckets in SQL: no more is given than a provider allows, to however many programs, and writes go first."""

from __future__ import annotations

import asyncio
from random import Random

import pytest
from tests.contracts.quota_contract import Clock

from fateforger.adapters.store.calendars import BUCKET, SqlBuckets
from fateforger.adapters.store.store import Store
from fateforger.calendar.calls import Buckets, Purpose, TokenBucket

ANNA, BEN = (TokenBucket(name, size=10, per_second=1) for name in ("anna", "ben"))
ALL = TokenBucket("all", size=15, per_second=2)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def one(stores: tuple[Store, Store], clock: Clock) -> Buckets:
    return SqlBuckets(stores[0].database, now=clock)


@pytest.fixture
def other(stores: tuple[Store, Store], clock: Clock) -> Buckets:
    return SqlBuckets(stores[1].database, now=clock)


async def take(buckets: Buckets, whose: TokenBucket, times: int, purpose: Purpose = Purpose.WRITE) -> list[float]:
    return [await buckets.take((whose, ALL), purpose) for _ in range(times)]


async def test_an_account_gets_its_size_and_more_as_time_passes(one: Buckets, other: Buckets, clock: Clock) -> None:
    assert await take(one, ANNA, 6) + await take(other, ANNA, 4) == [0] * 10
    assert await take(one, ANNA, 1) == [1.0]
    clock.go_on(0.5)
    assert await take(other, ANNA, 1) == [0.5]
    clock.go_on(0.5)
    assert await take(other, ANNA, 2) == [0, 1.0]


async def test_the_bucket_of_all_limits_each(one: Buckets, clock: Clock) -> None:
    """A request that one bucket refuses takes nothing from the other."""
    assert await take(one, ANNA, 10) + await take(one, BEN, 5) == [0] * 15
    assert await take(one, BEN, 3) == [0.5] * 3
    clock.go_on(5)
    assert await take(one, BEN, 11) == [0] * 10 + [1.0]


async def test_reads_leave_room_for_writes_and_background_reads_for_both(one: Buckets) -> None:
    assert await take(one, ANNA, 6, Purpose.BACKGROUND) == [0] * 5 + [1.0]
    assert await take(one, ANNA, 5, Purpose.READ) == [0] * 4 + [1.0]
    assert await take(one, ANNA, 2, Purpose.WRITE) == [0, 1.0]


async def test_of_many_at_once_only_so_many_get_through(one: Buckets, other: Buckets) -> None:
    waits = await asyncio.gather(
        *(each.take((whose, ALL), Purpose.WRITE) for _ in range(8) for each in (one, other) for whose in (ANNA, BEN))
    )
    assert waits.count(0) == 15


async def test_in_any_span_of_time_no_more_is_given_than_promised(one: Buckets, clock: Clock) -> None:
    """A random hour of an account that always wants more."""
    rng, given = Random(12), list[float]()
    for _ in range(600):
        wait = await one.take((ANNA,), Purpose.WRITE)
        if not wait:
            given.append(clock().timestamp())
        clock.go_on(rng.choice((0.0, 0.1, 0.5, wait, 7.0 if rng.random() < 0.05 else 0.0)))
    for first, begin in enumerate(given):
        for last, end in enumerate(given[first:], start=1):
            assert last <= 10 + (end - begin) + 0.001, (begin, end)


async def test_a_clock_that_was_set_back_stops_nobody_for_longer(one: Buckets, clock: Clock) -> None:
    await take(one, ANNA, 10)
    clock.go_on(-86_400)
    assert await take(one, ANNA, 1) == [1.0]
    clock.go_on(1)
    assert await take(one, ANNA, 1) == [0]


async def test_a_full_bucket_leaves_no_row_and_no_row_names_anybody(
    stores: tuple[Store, Store], one: Buckets, clock: Clock
) -> None:
    await take(one, ANNA, 3)
    clock.go_on(60)
    await take(one, BEN, 1)
    rows = await stores[0].database.read(lambda connection: connection.execute(BUCKET.select()).all())
    assert len(rows) == 2
    assert "ben" not in str(rows)


async def test_the_clock_is_the_one_that_all_share(stores: tuple[Store, Store]) -> None:
    slow = TokenBucket("slow", size=1, per_second=0.01)
    assert await stores[0].buckets.take((slow,), Purpose.WRITE) == 0
    assert 99 < await stores[1].buckets.take((slow,), Purpose.WRITE) <= 100
