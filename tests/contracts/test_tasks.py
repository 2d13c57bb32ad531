"""The queue of tasks in SQL and in memory keep the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.contracts.stores import KINDS, two_stores
from tests.contracts.tasks_contract import TasksContract
from tests.fakes.memory_tasks import MemoryTasks

from fateforger.adapters.store.store import Store
from fateforger.tasks.ports import Tasks


class TestSqlTasks(TasksContract):
    @pytest.fixture(params=KINDS)
    async def stores(self, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Store, Store]]:
        async with two_stores(request, tmp_path) as stores:
            yield stores

    @pytest.fixture
    def tasks(self, stores: tuple[Store, Store]) -> Tasks:
        return stores[0].tasks

    @pytest.fixture
    def other(self, stores: tuple[Store, Store]) -> Tasks:
        return stores[1].tasks


class TestMemoryTasks(TasksContract):
    @pytest.fixture
    def tasks(self) -> Tasks:
        return MemoryTasks()

    @pytest.fixture
    def other(self, tasks: Tasks) -> Tasks:
        return tasks
