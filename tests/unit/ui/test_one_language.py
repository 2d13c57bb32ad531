"""Each text of a card comes from the catalogue, so that no thread mixes languages (S261).

The catalogue of this test puts every message into brackets. What is then outside of them is what people and calendars
wrote, dates, times, and marks.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from gettext import NullTranslations
from pathlib import Path
from typing import Any

import pytest
from tests.factories.wishes import wish
from tests.factories.words import Answer, wanting, wants
from tests.unit.conversation.person import ANNA, Person, open_house_at
from tests.unit.conversation.queue.desk import Desk
from tests.unit.conversation.talking import Talker, talker_at
from tests.unit.conversation.test_parity import guessed
from tests.unit.ui.test_golden_cards import queue, walk

from fateforger import text
from fateforger.conversation.language.model_calls import UNUSABLE
from fateforger.errors import ModelUnusable
from fateforger.ports.people import PersonLanguage
from fateforger.session.cards import Card, Controls, Picture, Prose
from fateforger.session.forms import FormErrors
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
    (other := folder / "other").mkdir()
    async with talker_at(other) as talk:
        await talk.house.store.languages.keep(ANNA, PersonLanguage(LANGUAGE, chosen=True))
        found |= {name: card async for name, card in rare(talk)}
    return found


async def rare(talk: Talker) -> AsyncIterator[tuple[str, Card]]:
    """Cards about rules over the order of a day, the rules of a kind of work, refusals, and a model that fails."""
    anna, desk = talk.anna, talk.desk
    await anna.to_refine("Write report")
    yield "refused", await press(anna, "back", "undo_sync")
    late: dict[str, Any] = {"day_rule": "NEVER: deep_work_after_9_30", "necessity": "must"}
    await anna.fill("rule_day", **late)
    unsure = {**late, "day_rule": "NEVER: commute"}
    await anna.fill("rule_day", **unsure)
    await guess(anna)
    await anna.click("show_memory")
    yield "memory", anna.messages["memory"].card
    yield "against", await press(anna, "redo", "proceed")
    await anna.fill("rule_day", day_rule="ALWAYS: NOT break")
    yield "clash", anna.card
    goal = {"work": {"kind": "decompose"}, "workflow": "decompose"}
    await desk.adds("Move house", **goal)
    yield "goal", desk.card
    task = await desk.adds("Call Bo", workflow="feature-dev")
    yield "feature", desk.card
    await desk.pulls(task.id)
    form = await desk.opens("queue_done", target=task.id)
    yield "done-form", Card(text=form.title, parts=tuple(part for part in form.fields if isinstance(part, Prose)))
    refused = await desk.fill("queue_done", target=task.id, did=("implement",))
    assert isinstance(refused, FormErrors)
    yield "not-done", Card(text=" ".join(refused.errors.values()), parts=())
    yield "unusable", await say(talk, wants("ask"), ModelUnusable(UNUSABLE))
    yield "number", await say(talk, wants("work"), wanting("pause", number=99))
    talk.house.clock.at += timedelta(minutes=5)
    listed = await talk.outside(wanting("memory"), wish("memory_list_constraints"))
    assert listed is not None
    yield "rules", listed


async def press(anna: Person, *actions: str) -> Card:
    for action in actions:
        await anna.click(action)
    return anna.card


async def say(talk: Talker, *answers: Answer | Exception) -> Card:
    await talk.in_thread(*answers)
    return talk.anna.card


async def guess(anna: Person) -> None:
    """Let the newest rule be one that the person has to confirm."""
    newest = max(await anna.house.store.constraints.of(ANNA), key=lambda version: version.seq)
    await anna.house.store.constraints.write([guessed(newest)], cause="guess")


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


JARGON = re.compile(
    r"\b(dispositor|executor|predicate|workflow|wishes\[|[a-z]+_[a-z_]+\b|(BEFORE|AFTER|IF|ON) \w+( THEN|:)|(NEVER|ALWAYS): "
    r"|FREQ=|BYDAY)"
)
"""Words of the code, of the rule language and of data, which mean nothing to a person (S279)."""


async def test_no_jargon_reaches_a_person(tmp_path: Path) -> None:
    """S279: no mode, no name of a step or a field, no text of the rule language."""
    found = {
        (name, words)
        for name, card in (await collect(tmp_path)).items()
        for words in words_of(card)
        if JARGON.search(words.replace("\\_", "_"))
    }
    assert found == set()


async def test_nothing_is_said_past_the_catalogue(tmp_path: Path) -> None:
    found = {
        (name, words)
        for name, card in (await collect(tmp_path)).items()
        for words in words_of(card)
        if re.search("[a-z]{3,}", LEFT_ALONE.sub("", bare(words)), re.IGNORECASE)
    }
    assert found == set()
