"""The rules that a model sees when a person writes: each with its kind, source and certainty.

Those about the day or the message come first (S174, S176, S177).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.factories.constraints import version_of
from tests.factories.wishes import wish
from tests.factories.words import day, inputs, new, outside, wants
from tests.fakes.scripted_model import Line, ScriptedModel
from tests.unit.conversation.person import ANNA, Harness, Person, open_harness_at
from tests.unit.conversation.queue.person import words_of
from tests.unit.conversation.talker import talker_at

from fateforger.memory.ports import Recollection
from fateforger.memory.versions import Version
from fateforger.ports.model import Prompt

HEADER = "{number,necessity,kind,words,source,said,when,times,sure}:"
SHELLFISH = "never eat shellfish"


class NearestIndex:
    """An index in which one rule is near to any question, in any language."""

    async def search(self, user_id: str, text: str, *, limit: int = 10) -> tuple[Recollection, ...]:
        assert (user_id, bool(text), limit > 0) == (ANNA, True, True)
        return (Recollection("shellfish", 0.5),)


def rules(count: int = 0) -> list[Version]:
    """Return a rule about food, and others that do not mention it and that would otherwise come before it."""
    diet = {"dimension": "value", "category": "food"}
    about: dict[str, Any] = {"topics": ["food", "diet"], "aspect_classification": diet, "necessity": "prefer"}
    one = version_of("shellfish", user=ANNA, description=SHELLFISH, confidence=0.5, status="proposed", **about)
    neutral: dict[str, Any] = {"topics": ["finance"], "confidence": 1.0, "necessity": "prefer"}
    return [
        one,
        *(version_of(f"n{n:02}", user=ANNA, description=f"a neutral wish {n}", **neutral) for n in range(count)),
    ]


async def at_tasks(path: Path, known: list[Version], **parts: Any) -> tuple[Harness, Person]:
    """Return a person at the stage of the tasks."""
    harness = await open_harness_at(path, model=ScriptedModel(by=understand))
    for name, part in parts.items():
        setattr(harness, name, part)
    harness.restart()
    await harness.remembered.write(known, cause="earlier")
    anna = Person(harness)
    await anna.to_frame()
    await anna.press("Continue")
    return harness, anna


def understand(prompt: Prompt) -> Line:
    if prompt.name.startswith("decide/"):
        return wants("answer")
    return inputs(add=[new("Cook food", 60)]) if "add food" in prompt.user else day()


async def last_prompt(harness: Harness, anna: Person, text: str) -> str:
    await anna.says(text)
    await anna.read()
    assert isinstance(harness.model, ScriptedModel)
    return harness.model.prompts[-1].user


async def test_each_rule_has_its_kind_source_and_certainty(tmp_path: Path) -> None:
    """S174"""
    must = version_of(
        "must", user=ANNA, description="insulin at noon", necessity="must", rule_kind="buffer", confidence=None
    )
    harness, anna = await at_tasks(tmp_path, [*rules(), must])
    prompt = await last_prompt(harness, anna, "nothing else")
    assert f'must_follow[1]{HEADER}\n  1,must,policy,insulin at noon,user,2026-02-01,"","",1' in prompt
    assert f'consider[1]{HEADER}\n  2,prefer,value,{SHELLFISH},user,2026-02-01,"","",0.5?' in prompt
    await harness.close()


async def test_what_the_day_is_about_comes_first_of_fifty(tmp_path: Path) -> None:
    """S176: a task of the day names the topic."""
    harness, anna = await at_tasks(tmp_path, rules(50))
    assert SHELLFISH not in await last_prompt(harness, anna, "nothing else")
    await anna.says("add food")
    await anna.read()
    assert f"{HEADER}\n  1,prefer,value,{SHELLFISH}," in await last_prompt(harness, anna, "nothing else")
    await harness.close()


async def test_what_the_message_is_about_comes_first_of_seventy(tmp_path: Path) -> None:
    """S175, S176: the index finds the rule by meaning, and its topics lead."""
    harness, anna = await at_tasks(tmp_path, rules(70), index=NearestIndex())
    assert f"{HEADER}\n  1,prefer,value,{SHELLFISH}," in await last_prompt(harness, anna, "what about lobster?")
    await harness.close()


async def test_only_what_the_person_values_is_listed(tmp_path: Path) -> None:
    """S177: "what do you know about my values?", outside of a plan."""
    async with talker_at(tmp_path) as talk:
        await talk.harness.remembered.write(rules(2), cause="earlier")
        listing = wish("memory_list_constraints", only={"dimensions": ["value"]})
        card = await talk.outside(outside("memory"), listing, text="what do you know about my values?")
        assert card is not None
        assert "Rule shellfish" in words_of(card)
        assert "Rule n00" not in words_of(card)
        assert 'dimensions?: ("policy" | "value" | "goal" | "state")[]' in talk.model.prompts[-1].system
