"""Cards come out in the language of their task, and in English without one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po
from tests.unit.conversation.sessions import session

from fateforger import text
from fateforger.config import read_settings
from fateforger.errors import BadInput
from fateforger.session.cards import Button, Heading, Prose
from fateforger.text import count_blocks, format_day, gettext, join_words, list_languages, load_catalogue, use_language
from fateforger.ui.day_cards import date_card

GERMAN: dict[str | tuple[str, ...], str | tuple[str, ...]] = {
    "Which day shall we plan?": "Welchen Tag planen wir?",
    "Shall we plan {day}?": "Planen wir {day}?",
    "Plan this day": "Diesen Tag planen",
    "EEEE d MMMM": "EEEE, d. MMMM",
    "{first} and {last}": "{first} und {last}",
    ("{count} block", "{count} blocks"): ("{count} Block", "{count} Blöcke"),
}


@pytest.fixture
def german(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    catalog = Catalog(locale="de")
    for source, translation in GERMAN.items():
        catalog.add(source, translation)
    file = BytesIO()
    write_po(file, catalog)
    place = tmp_path / "de" / "LC_MESSAGES"
    place.mkdir(parents=True)
    (place / "fateforger.po").write_bytes(file.getvalue())
    monkeypatch.setattr(text, "LOCALES", tmp_path)
    load_catalogue.cache_clear()
    list_languages.cache_clear()
    before = text._language.set("en")
    yield
    text._language.reset(before)
    load_catalogue.cache_clear()
    list_languages.cache_clear()


@pytest.mark.usefixtures("german")
def test_a_card_comes_out_in_the_language() -> None:
    settings = read_settings(language="de")
    english = date_card(session())
    use_language(settings.language)
    card = date_card(session())
    assert card.text == "Planen wir Montag, 2. März?"
    assert [part.text for part in card.parts if isinstance(part, Heading)] == ["Welchen Tag planen wir?"]
    assert [part.kind for part in card.parts] == [part.kind for part in english.parts]
    assert english.text == "Shall we plan Monday 2 March?"


@pytest.mark.usefixtures("german")
def test_counts_dates_and_lists_follow_the_language() -> None:
    use_language("de")
    assert [count_blocks(n) for n in (1, 2)] == ["1 Block", "2 Blöcke"]
    assert join_words(["a", "b", "c"]) == "a, b und c"
    assert format_day(date(2026, 3, 2)) == "Montag, 2. März"
    assert Button(label="Plan this day", action="a").localize().label == "Diesen Tag planen"


@pytest.mark.usefixtures("german")
def test_what_has_no_translation_stays_english() -> None:
    use_language("de")
    assert gettext("Try again") == "Try again"


def test_a_language_without_a_catalogue_is_refused() -> None:
    with pytest.raises(BadInput, match="There is no catalogue for the language 'xx'"):
        read_settings(language="xx")


def test_braces_in_titles_are_left_alone() -> None:
    assert gettext("“{title}”", title="{x}") == "“{x}”"
    assert Prose(text=gettext("Try again")).text == "Try again"
