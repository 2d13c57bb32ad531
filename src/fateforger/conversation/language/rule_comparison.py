"""Contradictions and repetitions in meaning: a model says what a new statement does to earlier ones (S173, S179)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from fateforger.conversation.language.message_commands import get_numbered
from fateforger.conversation.language.model_calls import ModelQuestion, ask, prompt_for, translate_for_job
from fateforger.conversation.language.tables import list_statements
from fateforger.limits import MAX_COMPARED_RULES
from fateforger.memory.versions import Version
from fateforger.ports.model import Model, Role
from fateforger.session.constants import EXTRACT_LIMIT
from fateforger.workers.contradictions import Judge, Judgment


class ComparedWords(BaseModel):
    """The rows of earlier statements that a new one contradicts, and of those that it says again in other words."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    contradicts: Annotated[tuple[int, ...], Field(max_length=MAX_COMPARED_RULES)] = ()
    repeats: Annotated[tuple[int, ...], Field(max_length=MAX_COMPARED_RULES)] = ()


async def compare_statements(newer: Version, earlier: Sequence[Version], model: Model) -> Judgment:
    """Return the earlier statements that a new one contradicts or repeats, in their order. Raises ``ModelError``.

    A row that is said to be both counts as contradicted.
    """
    prompt = prompt_for("compare", Role.EXTRACT, ComparedWords, newer.record.words, tables=(list_statements(earlier),))

    def fits(words: ComparedWords) -> None:
        for number in (*words.contradicts, *words.repeats):
            get_numbered(earlier, number)

    question = ModelQuestion(prompt, ComparedWords, seconds=EXTRACT_LIMIT, accept=fits)
    words = (await ask(model, question)).value
    contradicted, repeated = set(words.contradicts), set(words.repeats) - set(words.contradicts)
    return Judgment(
        contradicted=tuple(get_numbered(earlier, number) for number in sorted(contradicted)),
        repeated=tuple(get_numbered(earlier, number) for number in sorted(repeated)),
    )


def build_judge(model: Model) -> Judge:
    """Return a function that compares statements with the model."""

    async def judge(newer: Version, earlier: Sequence[Version]) -> Judgment:
        with translate_for_job():
            return await compare_statements(newer, earlier, model)

    return judge
