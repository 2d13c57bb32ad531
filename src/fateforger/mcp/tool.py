"""A tool: what it takes, what that needs, and what it does."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from fateforger.agents import Scope
from fateforger.constraints.credentials import LONGEST, REFUSED, TOO_LONG, taken_out
from fateforger.errors import BadInput
from fateforger.mcp.reach import Caller, Reach
from fateforger.plan.mistakes import first_mistake

I = TypeVar("I", bound="Input")  # noqa: E741  a type variable, as short as the others
MOST_WRITTEN = 100_000
"""Characters that the arguments of a call may take as JSON."""
Run = Callable[[Any, Caller, Reach], Awaitable[dict[str, Any]]]


class Input(BaseModel):
    """What a tool takes: nothing beside its fields, and no guessing at types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


@dataclass(frozen=True, slots=True)
class Tool:
    """``takes`` reads the arguments; ``shape`` describes them where that says more. ``run`` raises ``UserError`` for
    what cannot be done."""

    name: str
    description: str
    scope: Scope | tuple[Scope, ...]
    takes: type[Input]
    run: Run
    shape: type[BaseModel] | None = None
    writes: bool = False

    def schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        return (self.shape or self.takes).model_json_schema()


def read_input(takes: type[I], arguments: Mapping[str, Any]) -> I:
    """Return the arguments of a call. Raises ``BadInput`` with one sentence about the first mistake, for a key or a
    password in any of them, and for more text than there is time to look through."""
    try:
        written = json.dumps(arguments)
        texts = list(_texts(arguments))
        if len(written) > MOST_WRITTEN or any(len(text) > LONGEST for text in texts):
            raise BadInput(TOO_LONG)
        if any(taken_out(text)[1] for text in texts):
            raise BadInput(REFUSED)
        return takes.model_validate_json(written)
    except ValidationError as error:
        mistake = first_mistake(error)
        raise BadInput(mistake.sentence, where=mistake.where or None) from None
    except RecursionError:
        raise BadInput("These arguments are nested too deeply.") from None


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield str(name)
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
