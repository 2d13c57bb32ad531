"""A tool: its arguments, the scope it requires, and its function."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from fateforger.agents import Scope
from fateforger.constraints.credentials import LONGEST, REFUSED, TOO_LONG, redact_credentials
from fateforger.errors import BadInput
from fateforger.mcp.reach import AgentAccess, Caller
from fateforger.plan.mistakes import first_mistake

I = TypeVar("I", bound="Input")  # noqa: E741  a type variable, as short as the others
MOST_WRITTEN = 100_000
"""Maximum length of a call's arguments as JSON."""
Run = Callable[[Any, Caller, AgentAccess], Awaitable[dict[str, Any]]]


class Input(BaseModel):
    """The arguments of a tool: no extra fields, no type coercion."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.

    ``takes`` parses the arguments; ``shape`` provides a more detailed schema, if set. ``run`` raises ``UserError`` for
    a request that cannot be fulfilled.
    """

    name: str
    description: str
    scope: Scope | tuple[Scope, ...]
    takes: type[Input]
    run: Run
    shape: type[BaseModel] | None = None
    writes: bool = False

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the arguments."""
        return (self.shape or self.takes).model_json_schema()


def read_input(takes: type[I], arguments: Mapping[str, Any]) -> I:
    """Return the parsed arguments of a call.

    Raises ``BadInput`` with one sentence about the first mistake, for credentials in any argument, and for texts too
    long to search for credentials.
    """
    try:
        written = json.dumps(arguments)
        texts = list(_find_texts(arguments))
        if len(written) > MOST_WRITTEN or any(len(text) > LONGEST for text in texts):
            raise BadInput(TOO_LONG)
        if any(redact_credentials(text)[1] for text in texts):
            raise BadInput(REFUSED)
        return takes.model_validate_json(written)
    except ValidationError as error:
        mistake = first_mistake(error)
        raise BadInput(mistake.sentence, where=mistake.where or None) from None
    except RecursionError:
        raise BadInput("These arguments are nested too deeply.") from None


def _find_texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield str(name)
            yield from _find_texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _find_texts(each)
