"""A person with an empty queue."""

from __future__ import annotations

import pytest
from tests.unit.conversation.person import House
from tests.unit.conversation.queue.desk import Desk


@pytest.fixture
def anna(house: House) -> Desk:
    return Desk(house)
