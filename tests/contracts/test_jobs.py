"""Jobs in SQL keep the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.contracts.jobs_contract import JobsContract
from tests.contracts.stores import KINDS, two_stores

from fateforger.adapters.store.store import Store
from fateforger.ports.jobs import Jobs


class TestSqlJobs(JobsContract):
    @pytest.fixture(params=KINDS)
    async def stores(self, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Store, Store]]:
        async with two_stores(request, tmp_path) as stores:
            yield stores

    @pytest.fixture
    def jobs(self, stores: tuple[Store, Store]) -> Jobs:
        return stores[0].jobs

    @pytest.fixture
    def other(self, stores: tuple[Store, Store]) -> Jobs:
        return stores[1].jobs
