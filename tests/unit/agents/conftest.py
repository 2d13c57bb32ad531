"""The tools of agents over a fresh store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.contracts.stores import new_file
from tests.factories.agents import Agents

from fateforger.adapters.store.store import open_store


@pytest.fixture
async def agents(tmp_path: Path) -> AsyncIterator[Agents]:
    store = open_store(new_file(tmp_path))
    yield Agents(store)
    await store.aclose()
