"""Tests of a model server: its answers, its speed, and how long a prompt it really reads."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fateforger.adapters.model.client import ChatModel
from fateforger.adapters.model.endpoint import Answers, Endpoint
from fateforger.errors import ModelError
from fateforger.ports.model import Completion, Prompt, Role, estimate_tokens
from fateforger.session.constants import PATCH_LIMIT
from fateforger.values import replace

PROBE_SECONDS = 30.0


def _build_schema(**fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


SUM = "17 plus 25"
_SUM = Prompt(
    name="probe/1",
    role=Role.DECIDE,
    system='Answer with one JSON object of the form {"sum": <integer>} and nothing else.',
    user=f"What is {SUM}?",
    schema=_build_schema(sum={"type": "integer"}),
)
_THOUGHTFUL = 60
"""Tokens that no model needs for that answer alone."""


@dataclass(frozen=True, slots=True)
class EndpointReport:
    """The result of a short question.

    ``answers`` is the strictest way of holding the server to JSON that worked; ``None`` when none did. ``seconds`` is
    the time of one short answer. ``wrong`` is an answer of the right form to the question in ``SUM`` that is not the
    right one. ``thinks`` is true if most of the answer was thinking.
    """

    model: str
    answers: Answers | None
    seconds: float
    wrong: int | None = None
    thinks: bool = False


async def probe_model(endpoint: Endpoint, role: Role) -> EndpointReport:
    """Ask a role's model a question with one right answer, from the strictest way down.

    Raises ``ModelError`` when the server cannot be reached or refuses the key.
    """
    model, last, wrong, seconds = endpoint.model_for(role), None, None, 0.0
    for answers in Answers:
        client = ChatModel(replace(endpoint, answers=answers))
        try:
            completion = await client.complete(replace(_SUM, role=role), seconds=PROBE_SECONDS * client.time_factor)
        except ModelError as error:
            last = error
            continue
        finally:
            await client.aclose()
        seconds, last = completion.seconds, None
        match _parse(completion.text):
            case {"sum": 42, **rest} if not rest:
                return EndpointReport(model, client.get_answers(model), seconds, thinks=_has_thought(completion))
            case {"sum": int(found), **rest} if not rest:
                wrong = found
    if last is not None:
        raise last
    return EndpointReport(model, None, seconds, wrong)


def _has_thought(completion: Completion) -> bool:
    return (completion.completion_tokens or estimate_tokens(completion.text)) > _THOUGHTFUL


@dataclass(frozen=True, slots=True)
class LengthReport:
    """The result of a long prompt.

    ``tokens`` is its estimated length. ``complete`` is true if the model has read it from its beginning. ``rate`` is
    the number of tokens answered in a second, with the time for reading; ``None`` if the server does not count.
    """

    tokens: int
    complete: bool
    seconds: float
    rate: float | None


async def probe_length(endpoint: Endpoint, role: Role, text: str) -> LengthReport:
    """Send a role's model a code word before a long text, and ask it for that word and for an answer of usual length.

    Raises ``ModelError``, ``ModelRejected`` among them if the server does not take a prompt of that length.
    """
    # A new word each time, so that the server reads the text again.
    word = secrets.token_hex(4)
    prompt = Prompt(
        name="probe/2",
        role=role,
        system=f"The code word is {word}. The text that follows is only there to be long.\n\n{text}",
        user="Do nothing of the above. Answer with one JSON object and nothing else:"
        ' {"word": <the code word at the very beginning>, "numbers": [<the whole numbers from 1 to 40>]}',
        schema=_build_schema(word={"type": "string"}, numbers={"type": "array", "items": {"type": "integer"}}),
    )
    client = ChatModel(endpoint)
    try:
        completion = await client.complete(prompt, seconds=2 * PATCH_LIMIT * client.time_factor)
    finally:
        await client.aclose()
    rate = completion.completion_tokens / max(completion.seconds, 0.001) if completion.completion_tokens else None
    size = estimate_tokens(prompt.system + prompt.user)
    return LengthReport(size, word in completion.text, completion.seconds, rate)


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
