"""The journal in SQL keeps the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import timedelta
from pathlib import Path

import pytest
from tests.contracts.clocks import DatabaseClockJournal, with_turned_clock
from tests.contracts.journal_contract import JournalContract
from tests.contracts.stores import KINDS, new_database, two_stores

from fateforger.adapters.clock import SystemClock
from fateforger.adapters.store.store import open_store
from fateforger.calendar.ports import Journal


class TestSqlJournal(JournalContract):
    @pytest.fixture(params=KINDS)
    async def journals(self, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Journal, Journal]]:
        if request.param != "postgres":
            async with two_stores(request, tmp_path) as (store, another):
                yield store.journal, another.journal
            return
        with new_database("postgres", request, tmp_path) as where:
            turned = await with_turned_clock(where)
            async with aclosing(open_store(turned)) as store, aclosing(open_store(turned)) as another:
                yield DatabaseClockJournal(store.database), DatabaseClockJournal(another.database)

    @pytest.fixture
    def journal(self, journals: tuple[Journal, Journal]) -> Journal:
        return journals[0]

    @pytest.fixture
    def other(self, journals: tuple[Journal, Journal]) -> Journal:
        return journals[1]


async def test_a_program_whose_clock_is_ahead_takes_no_lease(postgres: str) -> None:
    """S418: on PostgreSQL the server's time counts."""
    async with aclosing(open_store(postgres)) as store, aclosing(open_store(postgres)) as ahead:
        now = SystemClock().now()
        lease = await store.journal.acquire("google:me", "turn@one", now=now, seconds=30)
        assert lease is not None
        assert lease.expires_at == now + timedelta(seconds=30)
        later = now + timedelta(minutes=45)
        assert await ahead.journal.acquire("google:me", "recovery@two", now=later, seconds=30) is None
