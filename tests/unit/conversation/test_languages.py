"""Each person is answered in their language: the one that they chose, else the one in which they write (S261)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.factories.words import Answer, frame, inputs_of, new, opening, wants
from tests.fakes.openai_server import KEY, MODEL, ScriptedAnswer, model_server
from tests.fakes.scripted_model import Line, ScriptedModel
from tests.unit.conversation.person import AMSTERDAM, ANNA, CHANNEL, Harness, Person, open_harness_at

from fateforger.adapters.model.client import open_model
from fateforger.adapters.model.endpoint import Endpoint
from fateforger.errors import ModelRejected
from fateforger.ports.model import Prompt
from fateforger.ports.people import PersonLanguage
from fateforger.session.cards import Card, Prose, Select
from fateforger.session.commands.thread import Opening
from fateforger.session.messages import Outgoing
from fateforger.text import speak

LINES: list[Answer] = []


def _reads(prompt: Prompt) -> Line:
    return ModelRejected("This one only reads.") if prompt.name.startswith("draft") else LINES.pop(0)


@pytest.fixture
async def harness(tmp_path: Path) -> AsyncIterator[Harness]:
    LINES.clear()
    opened = await open_harness_at(tmp_path, model=ScriptedModel(by=_reads))
    with speak("en"):
        yield opened
    await opened.close()
    assert LINES == []


async def says(person: Person, *answers: Answer) -> None:
    LINES.extend(answers)
    with speak("en"):
        await person.says("…")


async def opens(harness: Harness, text: str, **said: Any) -> Person:
    LINES.append(opening(**said))
    given = {"command_id": "m1", "user_id": ANNA, "at": harness.clock.now(), "channel": CHANNEL, "tz": AMSTERDAM}
    command = Opening.model_validate({**given, "thread_ts": "1.0", "text": text})
    with speak("en"):
        assert await harness.coordinator.on_opening(command) is True
    anna = Person(harness)
    await anna.read()
    return anna


def headline(card: Card) -> str:
    return card.text.splitlines()[0]


async def test_a_first_message_is_answered_in_its_language(harness: Harness) -> None:
    tasks = inputs_of(add=[new("Rapport", 90)])
    anna = await opens(harness, "plan morgen, rapport van 90 minuten", date="2026-03-03", inputs=tasks, language="nl")
    assert headline(anna.card) == "Wat wil je op dinsdag 3 maart gedaan krijgen?"
    with speak("en"):
        await anna.click("back")
    assert headline(anna.card) == "Dinsdag 3 maart: wanneer begint je dag, en wanneer eindigt hij?"
    assert await harness.store.languages.of(ANNA) == PersonLanguage("nl")


async def test_a_thread_follows_the_language_that_its_person_writes(harness: Harness) -> None:
    """K17, S261"""
    anna = await opens(harness, "plan tomorrow", date="2026-03-03", language="en")
    await says(anna, wants("answer") | {"language": "de"}, frame(day_start="08:00"))
    assert headline(anna.card) == "Dienstag, 3. März: Wann beginnt dein Tag, und wann endet er?"
    await says(anna, wants("answer") | {"language": None}, frame(day_start="08:30"))
    assert headline(anna.card).startswith("Dienstag"), "a message that is too short to tell changes nothing"
    await says(anna, wants("answer") | {"language": "pt"}, frame(day_start="08:00"))
    assert headline(anna.card).startswith("Dienstag"), "there are no texts in that language"


async def test_what_a_person_chose_stays_whatever_they_write(harness: Harness) -> None:
    await harness.languages.choose(ANNA, "fr")
    anna = await opens(harness, "plan tomorrow", date="2026-03-03", language="en")
    assert headline(anna.card).startswith("Mardi 3 mars")
    await says(anna, wants("proceed") | {"language": "en"})
    assert "mardi 3 mars" in headline(anna.card)


async def test_the_language_is_chosen_on_app_home(harness: Harness) -> None:
    anna = Person(harness)
    await anna.click("language.choose", value="es")
    home = await harness.coordinator.home(ANNA)
    assert home.text == "Planifica un día."
    (select,) = [part.control for part in home.parts if isinstance(part, Prose) and isinstance(part.control, Select)]
    assert (select.selected, [choice.label for choice in select.choices][1:]) == (
        "es",
        ["English", "Deutsch", "Español", "Français", "Nederlands"],
    )
    await anna.click("language.choose", value="written")
    assert await harness.store.languages.of(ANNA) == PersonLanguage("es")


async def test_the_language_of_a_profile_counts_until_more_is_known(harness: Harness) -> None:
    await harness.languages.note_profile(ANNA, "nl-BE")
    assert await harness.languages.of(ANNA) == PersonLanguage("nl")
    await harness.languages.note_written(ANNA, "de")
    await harness.languages.note_profile(ANNA, "nl-BE")
    assert await harness.languages.of(ANNA) == PersonLanguage("de")


async def test_a_day_begun_by_a_button_is_in_the_language_of_its_person(harness: Harness) -> None:
    await harness.languages.choose(ANNA, "nl")
    anna = Person(harness)
    with speak("en"):
        await anna.start()
    assert headline(anna.card) == "Zullen we maandag 2 maart plannen?"


REFUSED_KEY = {
    "en": "The language model's server does not accept my key.",
    "nl": "De server van het taalmodel accepteert mijn sleutel niet.",
    "de": "Der Server des Sprachmodells akzeptiert meinen Schlüssel nicht.",
    "fr": "Le serveur du modèle de langage n’accepte pas ma clé.",
    "es": "El servidor del modelo de lenguaje no acepta mi clave.",
}
UNREAD = {
    "en": "I could not check your last message for rules",
    "nl": "Ik kon je laatste bericht niet op regels nalezen",
    "de": "Ich konnte in deiner letzten Nachricht nicht nach Regeln suchen",
    "fr": "Je n’ai pas pu chercher de règles",
    "es": "No he podido buscar reglas",
}


def list_texts(messages: Iterable[Outgoing]) -> list[str]:
    """Return the new text of each message: its reply first, then its card without that."""
    cards: list[Card] = []
    last: dict[str, Outgoing] = {}
    for message in messages:
        new = message.after(last.get(message.slot))
        last[message.slot] = new.without_reply()
        cards += (*(() if new.reply is None else (new.reply,)), last[message.slot].card)
    return [part.text for card in cards for part in card.parts if isinstance(part, Prose)]


@pytest.mark.parametrize("language", REFUSED_KEY)
async def test_a_refused_key_is_said_in_the_language_of_the_person_and_once(tmp_path: Path, language: str) -> None:
    """S124: the card that follows in the background, because nothing was read for rules either, does not repeat it."""
    async with model_server(lambda _: ScriptedAnswer(status=401)) as server:
        model = open_model(Endpoint(url=server.url, model=MODEL, key=KEY))
        harness = await open_harness_at(tmp_path, model=model)
        harness.extractor = model
        harness.restart()
        await harness.languages.choose(ANNA, language)
        anna = Person(harness)
        await anna.to_frame()
        before = len(anna.arrived)
        await anna.says("…")
        await harness.work()
        await anna.read()
        texts = list_texts(anna.arrived[before:])
        assert [REFUSED_KEY[language] in text for text in texts].count(True) == 1
        assert [UNREAD[language] in text for text in texts].count(True) == 1
        await harness.close()
        await model.aclose()
