"""The count of requests in SQL keeps the contract."""

from __future__ import annotations

import pytest
from tests.contracts.quota_contract import ME, TEN, Clock, QuotaContract, make_reservation

from fateforger.adapters.store.calendars import USE, SqlQuota
from fateforger.adapters.store.store import Store
from fateforger.calendar.ports import Quota, Settlement


class TestSqlQuota(QuotaContract):
    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()

    @pytest.fixture
    def quota(self, stores: tuple[Store, Store], clock: Clock) -> Quota:
        return SqlQuota(stores[0].database, now=clock)

    @pytest.fixture
    def other(self, stores: tuple[Store, Store], clock: Clock) -> Quota:
        return SqlQuota(stores[1].database, now=clock)


async def test_the_clock_is_the_one_that_all_share(stores: tuple[Store, Store]) -> None:
    """Without a clock of the test: what is there expires by itself, and leaves no row behind."""
    quota = stores[0].quota
    first = make_reservation(10)
    assert await quota.reserve(ME, first, TEN) == 0
    assert 59 < await stores[1].quota.reserve(ME, make_reservation(), TEN) <= 60
    assert await stores[1].quota.reserve(ME, make_reservation(10), TEN, settled=[Settlement(first.id, 10, ago=61)]) == 0
    rows = await stores[0].database.read(lambda connection: connection.execute(USE.select()).all())
    assert [row.id == first.id for row in rows] == [False]
