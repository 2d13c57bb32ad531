"""Test a model server for ``doctor``: whether it answers, how well it keeps to JSON, and how fast it is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from fateforger.adapters.model.client import ChatModel
from fateforger.adapters.model.endpoint import Answers, Endpoint
from fateforger.errors import ModelError
from fateforger.ports import Prompt, Role
from fateforger.values import replace

SECONDS = 30.0

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"sum": {"type": "integer"}},
    "required": ["sum"],
    "additionalProperties": False,
}
_PROMPT = Prompt(
    name="probe/1",
    role=Role.DECIDE,
    system='Answer with one JSON object of the form {"sum": <integer>} and nothing else.',
    user="What is 17 plus 25?",
    schema=_SCHEMA,
)


@dataclass(frozen=True, slots=True)
class EndpointReport:
    """The result of a test.

    ``answers`` is the strictest way of holding the server to JSON that worked; ``None`` when none did. ``seconds`` is
    the time of one short answer. ``said`` is the text of a wrong answer.
    """

    model: str
    answers: Answers | None
    seconds: float
    said: str = ""


async def probe_model(endpoint: Endpoint, role: Role) -> EndpointReport:
    """Ask a role's model a question with one right answer, from the strictest way down.

    Raises ``ModelError`` when the server cannot be reached or refuses the key.
    """
    model, last, said, seconds = endpoint.model_for(role), None, "", 0.0
    for answers in Answers:
        client = ChatModel(replace(endpoint, answers=answers), step_down=False)
        try:
            completion = await client.complete(replace(_PROMPT, role=role), seconds=SECONDS)
        except ModelError as error:
            last = error
            continue
        finally:
            await client.aclose()
        said, seconds, last = completion.text, completion.seconds, None
        if _is_right(completion.text):
            return EndpointReport(model, answers, seconds)
    if last is not None:
        raise last
    return EndpointReport(model, None, seconds, said[:80])


def _is_right(text: str) -> bool:
    try:
        return bool(json.loads(text) == {"sum": 42})
    except ValueError:
        return False
