"""Asking a model for a value: text goes out, text comes in, and only what fits its type gets any further."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from fateforger.errors import ModelTimedOut, ModelUnusable, UserError
from fateforger.plan.mistakes import first_mistake
from fateforger.ports import Completion, Model, Prompt
from fateforger.turn.answers import json_in

T = TypeVar("T", bound=BaseModel)
QUOTED = 4_000
"""Characters of a wrong answer that are shown to the model again."""


@dataclass(frozen=True, slots=True)
class Question(Generic[T]):
    """``answer`` is the type that is wanted. ``seconds`` is for all tries together, ``tries`` how many there may be:
    a wrong answer goes back with what is wrong about it. ``accept`` may refuse a well-formed answer by raising
    ``UserError``; its sentence goes back too."""

    prompt: Prompt
    answer: type[T]
    seconds: float
    tries: int = 2
    accept: Callable[[T], object] | None = None


@dataclass(frozen=True, slots=True)
class Asked(Generic[T]):
    """The value, and every exchange that it took."""

    value: T
    exchanges: tuple[Completion, ...]


async def ask(model: Model, question: Question[T]) -> Asked[T]:
    """The model's answer as a value. Raises ``ModelUnusable`` when no try gave one; any other ``ModelError`` at once:
    what the server refused will not get better by asking again, and its adapter has tried what may."""
    prompt, mistake, exchanges = question.prompt, "", list[Completion]()
    try:
        async with asyncio.timeout(question.seconds) as deadline:
            for _ in range(question.tries):
                left = (deadline.when() or 0) - asyncio.get_running_loop().time()
                completion = await model.complete(prompt, seconds=left)
                exchanges.append(completion)
                try:
                    return Asked(_read(completion.text, question), tuple(exchanges))
                except ValueError as error:
                    mistake = str(error)
                prompt = replace(prompt, history=(*prompt.history, (completion.text[:QUOTED], mistake)))
    except TimeoutError:
        raise ModelTimedOut("The language model took too long to answer.") from None
    raise ModelUnusable(f"The language model's answer cannot be used: {mistake}", where=question.prompt.name)


def _read(text: str, question: Question[T]) -> T:
    """The value in an answer. Raises ``ValueError`` with the one thing to mend."""
    try:
        value = question.answer.model_validate(json_in(text))
    except ValidationError as error:
        mistake = first_mistake(error)
        raise ValueError(f"{mistake.sentence} (at {mistake.where or 'the top'})") from None
    if question.accept is not None:
        try:
            question.accept(value)
        except UserError as error:
            raise ValueError(error.message) from None
    return value
