"""Domain values as versioned JSON texts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from fateforger.errors import InternalError, StoreUnavailable

JOURNAL_VERSION = 2
"""Format of transactions, ops and heads. 2 adds what events hold beyond the managed fields."""

SESSION_VERSION = 3
"""Format of planning sessions.

2 adds the clock, the basis of a plan, and the events a calendar left out; 3 has the fields in groups.
"""

OUTBOX_VERSION = 3
"""Format of outgoing messages. 3 adds replies."""

CONSTRAINT_VERSION = 1
"""Format of constraint records."""

TASK_VERSION = 3
"""Format of the tasks of a queue. 2 adds reminders, 3 the states of a workflow since the latest step."""

PROPOSAL_VERSION = 1
"""Format of agents' proposals."""

M = TypeVar("M", bound=BaseModel)


def expect_version(what: str, found: int, known: int) -> None:
    """Refuse a value that a newer program has written. Raises ``StoreUnavailable``."""
    if found > known:
        raise StoreUnavailable(
            f"{what} was saved by a newer fateforger (format {found}, this one knows {known}); please upgrade."
        )


def parse(model: type[M], text: str, what: str) -> M:
    """Parse a stored text. Raises ``StoreUnavailable`` when it is damaged."""
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(map(str, problem["loc"])) or "its start"
        raise StoreUnavailable(f"{what} cannot be read from the database: {problem['msg']} at {where}.") from error


def parse_mapping(text: str, what: str) -> Mapping[str, Any]:
    """Parse a stored JSON object. Raises ``StoreUnavailable`` when it is damaged."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise StoreUnavailable(f"{what} cannot be read from the database: {error}.") from error
    if not isinstance(value, dict):
        raise StoreUnavailable(f"{what} cannot be read from the database: it is not an object.")
    return value


def dump_mapping(value: Mapping[str, Any], what: str) -> str:
    """Return the JSON text of a mapping of plain values. Raises ``InternalError`` for other values."""
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InternalError(f"{what} is not JSON: {error}") from error
