"""The journal that the sweeps run on keeps the same contract as the one in SQL."""

from __future__ import annotations

import pytest
from tests.contracts.journal_contract import JournalContract
from tests.fakes.memory_journal import MemoryJournal

from fateforger.calendar.ports import Journal


class TestMemoryJournal(JournalContract):
    @pytest.fixture
    def journal(self) -> Journal:
        return MemoryJournal()

    @pytest.fixture
    def other(self, journal: Journal) -> Journal:
        return journal
