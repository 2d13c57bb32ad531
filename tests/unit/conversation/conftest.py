"""A program on a fresh database, and a person who uses it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.unit.conversation.person import Harness, Person, open_harness_at

from fateforger.conversation import turns


@pytest.fixture
async def harness(tmp_path: Path) -> AsyncIterator[Harness]:
    opened = await open_harness_at(tmp_path)
    yield opened
    await opened.close()


@pytest.fixture(autouse=True)
def kept(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Check that no turn of any test breaks a rule of the session: the program checks each turn itself, and logs it."""
    yield
    told = [record.getMessage() for record in caplog.get_records("call") if record.name == turns.__name__]
    assert [line for line in told if " broke " in line] == []


@pytest.fixture
def anna(harness: Harness) -> Person:
    return Person(harness)
