"""The contract of stores of people's languages, checked on the one in memory and the SQL one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.contracts.stores import KINDS, two_stores
from tests.fakes.memory_languages import MemoryLanguages

from fateforger.ports.people import Languages, PersonLanguage

Both = tuple[Languages, Languages]


@pytest.fixture(params=("fake", *KINDS))
async def both(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Both]:
    if request.param == "fake":
        fake = MemoryLanguages()
        yield fake, fake
        return
    async with two_stores(request, tmp_path) as (first, second):
        yield first.languages, second.languages


async def test_a_later_one_replaces_the_former(both: Both) -> None:
    languages, other = both
    assert await languages.of("U1") is None
    await languages.keep("U1", PersonLanguage("nl"))
    assert await other.of("U1") == PersonLanguage("nl")
    await other.keep("U1", PersonLanguage("de", chosen=True))
    assert await languages.of("U1") == PersonLanguage("de", chosen=True)


async def test_each_person_has_their_own(both: Both) -> None:
    languages, other = both
    await languages.keep("U1", PersonLanguage("nl"))
    await languages.keep("U2", PersonLanguage("fr"))
    assert [await other.of(user) for user in ("U1", "U2")] == [PersonLanguage("nl"), PersonLanguage("fr")]
