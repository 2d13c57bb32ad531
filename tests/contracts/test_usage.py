"""Usage in SQL keeps the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.contracts.stores import KINDS, two_stores
from tests.contracts.usage_contract import UsageContract

from fateforger.adapters.store.store import Store
from fateforger.ports.model import Usage


class TestSqlUsage(UsageContract):
    @pytest.fixture(params=KINDS)
    async def stores(self, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Store, Store]]:
        async with two_stores(request, tmp_path) as stores:
            yield stores

    @pytest.fixture
    def usage(self, stores: tuple[Store, Store]) -> Usage:
        return stores[0].usage

    @pytest.fixture
    def other(self, stores: tuple[Store, Store]) -> Usage:
        return stores[1].usage
