"""Constraints in SQL and in memory keep the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.contracts.constraints_contract import ConstraintsContract
from tests.contracts.stores import KINDS, two_stores
from tests.fakes.memory_constraints import MemoryConstraints

from fateforger.adapters.store.store import Store
from fateforger.memory.ports import Constraints


class TestSqlConstraints(ConstraintsContract):
    @pytest.fixture(params=KINDS)
    async def stores(self, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Store, Store]]:
        async with two_stores(request, tmp_path) as stores:
            yield stores

    @pytest.fixture
    def constraints(self, stores: tuple[Store, Store]) -> Constraints:
        return stores[0].constraints

    @pytest.fixture
    def other(self, stores: tuple[Store, Store]) -> Constraints:
        return stores[1].constraints


class TestMemoryConstraints(ConstraintsContract):
    @pytest.fixture
    def constraints(self) -> Constraints:
        return MemoryConstraints()

    @pytest.fixture
    def other(self, constraints: Constraints) -> Constraints:
        return constraints
