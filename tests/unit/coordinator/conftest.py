"""A house on a fresh database, and a person in front of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.unit.coordinator.person import House, Person, open_house_at


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    opened = await open_house_at(tmp_path)
    yield opened
    await opened.close()


@pytest.fixture
def anna(house: House) -> Person:
    return Person(house)
