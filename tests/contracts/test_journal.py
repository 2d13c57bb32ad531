"""The journal in SQL keeps the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.contracts.journal_contract import JournalContract
from tests.contracts.stores import KINDS, two_stores

from fateforger.adapters.store.store import Store
from fateforger.calendar.ports import Journal


class TestSqlJournal(JournalContract):
    @pytest.fixture(params=KINDS)
    async def stores(self, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Store, Store]]:
        async with two_stores(request, tmp_path) as stores:
            yield stores

    @pytest.fixture
    def journal(self, stores: tuple[Store, Store]) -> Journal:
        return stores[0].journal

    @pytest.fixture
    def other(self, stores: tuple[Store, Store]) -> Journal:
        return stores[1].journal
