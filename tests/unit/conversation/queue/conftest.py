"""A person with an empty queue."""

from __future__ import annotations

import pytest
from tests.unit.conversation.person import Harness
from tests.unit.conversation.queue.person import QueuePerson


@pytest.fixture
def anna(harness: Harness) -> QueuePerson:
    return QueuePerson(harness)
