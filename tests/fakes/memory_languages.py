"""Languages of people, in memory."""

from __future__ import annotations

from fateforger.ports.people import PersonLanguage
from fateforger.text import SOURCE
from fateforger.workers.people import LanguageService


class MemoryLanguages:
    """Implements :class:`fateforger.ports.people.Languages` in a dictionary."""

    def __init__(self) -> None:
        self._kept: dict[str, PersonLanguage] = {}

    async def of(self, user_id: str) -> PersonLanguage | None:
        return self._kept.get(user_id)

    async def keep(self, user_id: str, language: PersonLanguage) -> None:
        self._kept[user_id] = language


def languages() -> LanguageService:
    return LanguageService(MemoryLanguages(), SOURCE)
