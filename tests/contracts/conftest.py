"""Databases of the contract suites that ask for no more than two stores over one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.contracts.stores import KINDS, two_stores

from fateforger.adapters.store.store import Store


@pytest.fixture(params=KINDS)
async def both(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Store, Store]]:
    async with two_stores(request, tmp_path) as stores:
        yield stores


@pytest.fixture
def stores(both: tuple[Store, Store]) -> tuple[Store, Store]:
    return both
