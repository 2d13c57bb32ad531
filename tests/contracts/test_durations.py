"""The contract of stores of observed durations, checked on the one in memory and the SQL one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import date, timedelta
from pathlib import Path

import pytest
from tests.contracts.stores import KINDS, two_stores
from tests.fakes.memory_durations import MemoryDurations

from fateforger.tasks.durations import Observation
from fateforger.tasks.ports import MOST_OBSERVATIONS, Durations

DAY = date(2026, 3, 2)
Both = tuple[Durations, Durations]


def make_observation(n: int, *, title: str = "Weekly report", actual: int = 90) -> Observation:
    day = DAY + timedelta(days=n)
    return Observation(id=f"s{n}/t1", title=title, deep=True, planned=60, actual=actual, day=day, source="changed")


@pytest.fixture(params=("fake", *KINDS))
async def both(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Both]:
    if request.param == "fake":
        fake = MemoryDurations()
        yield fake, fake
        return
    async with two_stores(request, tmp_path) as (first, second):
        yield first.durations, second.durations


async def test_the_oldest_comes_first(both: Both) -> None:
    durations, other = both
    assert await durations.of("U1") == ()
    await durations.keep("U1", [make_observation(2), make_observation(0)])
    await durations.keep("U1", [make_observation(1)])
    assert await other.of("U1") == (make_observation(0), make_observation(1), make_observation(2))


async def test_a_later_one_replaces_that_of_the_same_id(both: Both) -> None:
    durations, other = both
    await durations.keep("U1", [make_observation(0)])
    await durations.keep("U1", [make_observation(0, actual=75)])
    assert await other.of("U1") == (make_observation(0, actual=75),)


async def test_dropped_ones_are_gone_and_those_of_other_people_stay(both: Both) -> None:
    durations, other = both
    await durations.keep("U1", [make_observation(0), make_observation(1)])
    await durations.keep("U2", [make_observation(0, title="Slides")])
    await durations.keep("U1", [make_observation(2)], gone=["s0/t1", "s9/unknown"])
    assert await other.of("U1") == (make_observation(1), make_observation(2))
    assert await other.of("U2") == (make_observation(0, title="Slides"),)


async def test_only_the_latest_are_read(both: Both) -> None:
    durations, other = both
    every = [make_observation(n) for n in range(MOST_OBSERVATIONS + 2)]
    await durations.keep("U1", every)
    assert await other.of("U1") == tuple(every[2:])
