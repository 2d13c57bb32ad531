"""Sessions in SQL keep the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.contracts.sessions_contract import SessionsContract
from tests.contracts.stores import KINDS, two_stores

from fateforger.adapters.store.store import Store
from fateforger.session.store import Outbox, Sessions


class TestSqlSessions(SessionsContract):
    @pytest.fixture(params=KINDS)
    async def stores(self, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Store, Store]]:
        async with two_stores(request, tmp_path) as stores:
            yield stores

    @pytest.fixture
    def sessions(self, stores: tuple[Store, Store]) -> Sessions:
        return stores[0].sessions

    @pytest.fixture
    def other(self, stores: tuple[Store, Store]) -> Sessions:
        return stores[1].sessions

    @pytest.fixture
    def outbox(self, stores: tuple[Store, Store]) -> Outbox:
        return stores[1].outbox
