"""Ask a model for a typed value: retry until the answer validates."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from fateforger.errors import ModelTimedOut, ModelUnusable, UserError
from fateforger.plan.mistakes import first_mistake
from fateforger.ports import Completion, Model, Prompt
from fateforger.turn.answers import extract_json
from fateforger.values import replace

T = TypeVar("T", bound=BaseModel)
QUOTED = 4_000
"""Length, in characters, to which a wrong answer is cut when it is sent back to the model."""


@dataclass(frozen=True, slots=True)
class ModelQuestion(Generic[T]):
    """Question to a model, with the type of its answer.

    ``seconds`` limits all tries together, ``tries`` their number; a wrong answer is sent back with its mistake.
    ``accept`` may reject a well-formed answer by raising ``UserError``, whose message is sent back too.
    """

    prompt: Prompt
    answer: type[T]
    seconds: float
    tries: int = 2
    accept: Callable[[T], object] | None = None


@dataclass(frozen=True, slots=True)
class ModelAnswer(Generic[T]):
    """Value of the answer, with every exchange that led to it."""

    value: T
    exchanges: tuple[Completion, ...]


async def ask(model: Model, question: ModelQuestion[T]) -> ModelAnswer[T]:
    """Ask a model and return its answer as a value.

    Raises ``ModelUnusable`` if no try gave a usable answer. Any other ``ModelError`` is raised at once: the adapter has
    already retried transient errors, and asking again would not help.
    """
    prompt, mistake, exchanges = question.prompt, "", list[Completion]()
    try:
        async with asyncio.timeout(question.seconds) as deadline:
            for _ in range(question.tries):
                left = (deadline.when() or 0) - asyncio.get_running_loop().time()
                completion = await model.complete(prompt, seconds=left)
                exchanges.append(completion)
                try:
                    return ModelAnswer(_parse_answer(completion.text, question), tuple(exchanges))
                except ValueError as error:
                    mistake = str(error)
                prompt = replace(prompt, history=(*prompt.history, (completion.text[:QUOTED], mistake)))
    except TimeoutError:
        raise ModelTimedOut("The language model took too long to answer.") from None
    raise ModelUnusable(f"The language model's answer cannot be used: {mistake}", where=question.prompt.name)


def _parse_answer(text: str, question: ModelQuestion[T]) -> T:
    """Parse and validate an answer. Raises ``ValueError`` with the one mistake to fix."""
    try:
        value = question.answer.model_validate(extract_json(text))
    except ValidationError as error:
        mistake = first_mistake(error)
        raise ValueError(f"{mistake.sentence} (at {mistake.where or 'the top'})") from None
    if question.accept is not None:
        try:
            question.accept(value)
        except UserError as error:
            raise ValueError(error.message) from None
    return value
