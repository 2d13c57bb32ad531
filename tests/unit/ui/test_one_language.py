"""Each text of a card comes from the catalogue, so that no thread mixes languages (S261).

The catalogue of this test puts every message into brackets. What is then outside of them is what people and calendars
wrote, dates, times, and marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from gettext import NullTranslations
from pathlib import Path

import pytest
from tests.unit.conversation.person import ANNA, Person, open_house_at
from tests.unit.conversation.queue.desk import Desk
from tests.unit.ui.test_golden_cards import queue, walk

from fateforger import text
from fateforger.ports.people import PersonLanguage
from fateforger.session.cards import Card, Controls, Picture
from fateforger.ui.picture_words import describe

LANGUAGE = "nl"


LEFT_ALONE = re.compile(
    "Write report|Call Bo|Move house|Stand-up|No guests|Ask Ann|Buy milk|maandag 2 maart"
    "|English|Nederlands|Deutsch|Français|Español|Europe/Amsterdam|ff-[a-z0-9]+"
)
"""What people wrote, dates, and names."""


class Brackets(NullTranslations):
    def gettext(self, message: str) -> str:
        return message if message in {"d MMMM y", "EEEE d MMMM"} else f"⟦{message}⟧"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return f"⟦{msgid1 if n == 1 else msgid2}⟧"


@pytest.fixture(autouse=True)
def bracketed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(text, "load_catalogue", lambda _language: Brackets())
    with text.speak(LANGUAGE):
        yield


def bare(words: str) -> str:
    """Return what is outside of all brackets."""
    while (less := re.sub("⟦[^⟦⟧]*⟧", "", words)) != words:
        words = less
    return words


async def collect(folder: Path) -> dict[str, Card]:
    house = await open_house_at(folder)
    await house.store.languages.keep(ANNA, PersonLanguage(LANGUAGE, chosen=True))
    found = {name: card async for name, card in walk(Person(house), house)}
    found |= {name: card async for name, card in queue(Desk(house), house)}
    await house.close()
    return found


def words_of(card: Card) -> Iterator[str]:
    """Yield everything that a person reads on a card."""
    yield card.text
    for part in card.parts:
        controls = part.items if isinstance(part, Controls) else [getattr(part, "control", None)]
        yield from (describe(part.day),) if isinstance(part, Picture) else (getattr(part, "text", ""),)
        for control in controls:
            for name in ("label", "confirm", "spoken", "placeholder"):
                yield getattr(control, name, None) or ""
            yield from (choice.label for choice in getattr(control, "choices", ()))


async def test_nothing_is_said_past_the_catalogue(tmp_path: Path) -> None:
    found = {
        (name, words)
        for name, card in (await collect(tmp_path)).items()
        for words in words_of(card)
        if re.search("[a-z]{3,}", LEFT_ALONE.sub("", bare(words)), re.IGNORECASE)
    }
    assert found == set()
