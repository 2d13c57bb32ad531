"""A person with an empty queue."""

from __future__ import annotations

import pytest
from tests.unit.coordinator.person import House
from tests.unit.coordinator.queue.desk import Desk


@pytest.fixture
def anna(house: House) -> Desk:
    return Desk(house)
