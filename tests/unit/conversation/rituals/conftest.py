"""A person who lets the bot write by itself."""

from __future__ import annotations

import pytest
from tests.unit.conversation.person import Harness
from tests.unit.conversation.rituals.morning import MorningPerson


@pytest.fixture
def anna(harness: Harness) -> MorningPerson:
    return MorningPerson(harness)
