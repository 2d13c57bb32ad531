"""The outbox in SQL keeps the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.contracts.outbox_contract import OutboxContract
from tests.contracts.stores import KINDS, two_stores

from fateforger.adapters.store.store import Store
from fateforger.session.store import Outbox, Sessions


class TestSqlOutbox(OutboxContract):
    @pytest.fixture(params=KINDS)
    async def stores(self, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Store, Store]]:
        async with two_stores(request, tmp_path) as stores:
            yield stores

    @pytest.fixture
    def outbox(self, stores: tuple[Store, Store]) -> Outbox:
        return stores[0].outbox

    @pytest.fixture
    def other(self, stores: tuple[Store, Store]) -> Outbox:
        return stores[1].outbox

    @pytest.fixture
    def sessions(self, stores: tuple[Store, Store]) -> Sessions:
        return stores[0].sessions
