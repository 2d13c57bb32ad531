"""Contradictions in meaning: a model says which earlier statements a new one contradicts (S179)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from fateforger.conversation.language.message_commands import get_numbered
from fateforger.conversation.language.model_calls import ModelQuestion, ask, prompt_for, translate_for_job
from fateforger.conversation.language.tables import list_statements
from fateforger.memory.contradiction import MOST_CANDIDATES
from fateforger.memory.versions import Version
from fateforger.ports.model import Model, Role
from fateforger.session.constants import EXTRACT_LIMIT
from fateforger.workers.contradictions import Judge


class ComparedWords(BaseModel):
    """The rows of earlier statements that a new one contradicts; none of them if all can be followed together."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    contradicts: Annotated[tuple[int, ...], Field(max_length=MOST_CANDIDATES)] = ()


async def find_contradicted(newer: Version, earlier: Sequence[Version], model: Model) -> tuple[Version, ...]:
    """Return the earlier statements that a new one contradicts, in their order. Raises ``ModelError``."""
    prompt = prompt_for("compare", Role.EXTRACT, ComparedWords, newer.record.words, tables=(list_statements(earlier),))

    def fits(words: ComparedWords) -> None:
        for number in words.contradicts:
            get_numbered(earlier, number)

    question = ModelQuestion(prompt, ComparedWords, seconds=EXTRACT_LIMIT, accept=fits)
    words = (await ask(model, question)).value
    return tuple(get_numbered(earlier, number) for number in sorted(set(words.contradicts)))


def build_judge(model: Model) -> Judge:
    """Return a function that judges contradictions with the model."""

    async def judge(newer: Version, earlier: Sequence[Version]) -> tuple[Version, ...]:
        with translate_for_job():
            return await find_contradicted(newer, earlier, model)

    return judge
