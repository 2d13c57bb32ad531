"""The subject of a message decides which rules its prompt shows, for any plan (S172, S175, S176; C-01, C-02)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.factories.constraints import version_of
from tests.factories.words import wants
from tests.fakes.scripted_model import Line, ScriptedModel
from tests.unit.conversation.person import ANNA, Harness, Person, open_harness_at

from fateforger.adapters.memory.adapter import Mem0Memory
from fateforger.adapters.memory.vectors import Embedded, LocalMeaning
from fateforger.errors import MemoryUnavailable
from fateforger.memory.ports import Recollection
from fateforger.memory.versions import Version
from fateforger.ports.model import Prompt
from fateforger.workers.memory import Indexer

MEANING = LocalMeaning()


@pytest.fixture
async def harness(tmp_path: Path) -> AsyncIterator[Harness]:
    """Yield a program with a real index that knows meaning."""
    harness = await open_harness_at(tmp_path)
    memory = Mem0Memory(Embedded(tmp_path / "qdrant"), MEANING, home=tmp_path)
    harness.index = Indexer(harness.store.constraints, memory)
    yield harness
    await memory.aclose()
    await harness.close()


def rule(uid: str, words: str, **fields: Any) -> Version:
    return version_of(uid, user=ANNA, **{"name": uid, "description": words, "necessity": "prefer", **fields})


async def prompt_for(harness: Harness, message: str, intent: str, *rules: Version) -> str:
    """Return the prompt for a message in Refine, for a session that has recalled the person's rules."""
    await harness.store.constraints.write(rules, cause="rules")
    if isinstance(harness.index, Indexer):
        await harness.index.run_once()

    def say(prompt: Prompt) -> Line:
        return wants(intent) if prompt.name.startswith("decide") else {"answer": "Yes.", "block": None}

    harness.model = model = ScriptedModel(by=say)
    harness.restart()
    person = Person(harness)
    await person.to_refine("Report")
    await person.says(message)
    return next(prompt.user for prompt in model.prompts if prompt.name.startswith(("ask/", "patch/")))


@pytest.mark.parametrize("intent", ["ask", "change"])
async def test_c_01_a_wish_about_what_the_plan_does_not_hold_yet_reaches_the_prompt(
    harness: Harness, intent: str
) -> None:
    """There is no meeting on that day, so the plan alone would leave out the rules about meetings; and no common word."""
    early = rule("Mornings", "no calls before ten", applies_event_types=["M"])
    other = rule("Sport", "running in the park", applies_event_types=["H"])
    prompt = await prompt_for(harness, "could the supplier ring me at nine for a demo?", intent, early, other)
    assert "no calls before ten" in prompt


@pytest.mark.parametrize("message", ["may I order the lobster?", "darf ich den Hummer bestellen?"])
async def test_c_02_of_fifty_rules_the_one_that_matters_comes_first(harness: Harness, message: str) -> None:
    """S176: sorted before anything is cut, by meaning, also in another language than the rule's."""
    neutral = [
        rule(f"n{n}", f"project {n} gets an hour on Mondays", necessity="should", confidence=1.0) for n in range(50)
    ]
    shellfish = rule("Food", "never eat shellfish", status="proposed", confidence=0.3)
    prompt = await prompt_for(harness, message, "ask", *neutral, shellfish)
    told = prompt[prompt.index("consider") :]
    assert "never eat shellfish" in told
    assert told.index("never eat shellfish") < told.index("gets an hour on Mondays")


class UnfinishedIndex:
    """An index that is being built."""

    async def search(self, user_id: str, text: str, *, limit: int = 10) -> tuple[Recollection, ...]:
        raise MemoryUnavailable("The index of constraints is being built.")


async def test_while_the_index_is_away_rules_are_found_by_spelling(harness: Harness) -> None:
    neutral = [rule(f"n{n}", f"project {n} gets an hour on Mondays", necessity="should") for n in range(50)]
    harness.index = UnfinishedIndex()
    prompt = await prompt_for(harness, "is shellfish allowed?", "ask", *neutral, rule("Food", "never eat shellfish"))
    assert prompt.index("never eat shellfish") < prompt.index("gets an hour on Mondays")
