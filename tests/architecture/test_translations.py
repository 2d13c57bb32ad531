"""Each language has a text for every message, and it fits where the message does."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po
from tests.sources import modules

from fateforger.text import LOCALES, SOURCE, list_languages

TEMPLATE = Path(str(LOCALES)) / "fateforger.pot"
LANGUAGES = [language for language in list_languages() if language != SOURCE]
LONGEST_LABEL = 75
"""Most characters of a button in Slack."""
FORMS = {"Form", "build_task_form"}
"""Names of what makes a modal."""
LONGEST_TITLE = 24
"""Most characters of the title and the buttons of a modal in Slack; others are cut."""


def read(language: str) -> Catalog:
    with (Path(str(LOCALES)) / language / "LC_MESSAGES" / "fateforger.po").open("rb") as file:
        return read_po(file, locale=language)


def placeholders(text: str) -> set[tuple[str, str | None]]:
    return {(name, form) for _, name, form, _ in Formatter().parse(text) if name is not None}


def texts(message: Message) -> tuple[str, ...]:
    return (message.string,) if isinstance(message.string, str) else tuple(message.string or ())


@cache
def modal_titles() -> frozenset[str]:
    """Return the messages that are titles and buttons of modals."""
    return frozenset(find_modal_titles())


def find_modal_titles() -> Iterator[str]:
    for module in modules().values():
        for node in module.find(ast.Call):
            if not isinstance(node.func, ast.Name) or node.func.id not in FORMS:
                continue
            given = (each.value for each in node.keywords if each.arg in {"title", "submit", "close"})
            calls = (call for value in given for call in ast.walk(value) if isinstance(call, ast.Call))
            texts = (call.args[0] for call in calls if isinstance(call.func, ast.Name) and call.func.id == "_")
            yield from (each.value for each in texts if isinstance(each, ast.Constant) and isinstance(each.value, str))


def test_there_are_five_languages() -> None:
    assert list_languages() == ("en", "de", "es", "fr", "nl")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_message_is_translated(language: str) -> None:
    """``make messages TO=nl`` adds new messages to a translation, where they are written by hand."""
    with TEMPLATE.open("rb") as file:
        wanted = {message.id for message in read_po(file) if message.id}
    found = {message.id: message for message in read(language) if message.id}
    assert found.keys() == wanted
    assert [each.id for each in found.values() if each.fuzzy or not all(texts(each))] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_text_has_the_placeholders_of_its_message(language: str) -> None:
    wrong = []
    for message in read(language):
        source = message.id if isinstance(message.id, str) else message.id[-1]
        *singular, last = texts(message)
        if message.id and placeholders(last) != placeholders(source):
            wrong.append(source)
        if any(not placeholders(text) <= placeholders(source) for text in singular):
            wrong.append(source)
    assert wrong == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_label_grows_too_long(language: str) -> None:
    """A text that fits on a button in English, without an end of a sentence, fits there in every language."""
    long = [
        message.id
        for message in read(language)
        if isinstance(message.id, str) and 0 < len(message.id) < 40 and message.id[-1] not in ".!?:"
        for text in texts(message)
        if len(text) > LONGEST_LABEL
    ]
    assert long == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_title_of_a_modal_is_cut(language: str) -> None:
    assert {"Add a task", "Save"} <= modal_titles()
    catalog = read(language)
    found = [message for title in modal_titles() if (message := catalog.get(title)) is not None]
    assert [text for message in found for text in texts(message) if len(text) > LONGEST_TITLE] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_message_looks_like_one_of_another_format(language: str) -> None:
    """Babel takes ``% o`` for a placeholder of the old kind, and ``msgfmt -c`` then refuses the translation."""
    assert [message.id for message in read(language) if message.python_format] == []


def test_french_punctuation_is_not_broken_from_its_word() -> None:
    """A colon comes after a no-break space; the other signs that take a space have a narrow one."""
    broken = re.compile(r"[ \u00a0][;?!»](?!\S)|«[ \u00a0]| :(?!\w+:)|\w'\w")
    assert [text for message in read("fr") for text in texts(message) if message.id and broken.search(text)] == []
