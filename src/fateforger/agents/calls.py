"""The audit log: calls of agents and their outcomes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from fateforger.constraints.credentials import remove_credentials

LONGEST_TEXT = 200
LONGEST = 2_000


class NewCall(BaseModel):
    """A call as it is logged before it is carried out. ``asked`` is JSON of bounded length."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    client: str
    user_id: str
    tool: str
    asked: str
    at: datetime


class Call(NewCall):
    """A call in the log.

    ``outcome`` begins with ``done``, ``refused`` or ``failed``; it is ``None`` if the program ended before it was
    known.
    """

    number: int
    outcome: str | None = None
    ended_at: datetime | None = None


def shorten_arguments(arguments: Mapping[str, Any]) -> str:
    """Return the arguments as short JSON: long texts are truncated, and credentials are removed."""
    text = json.dumps(_shorten(arguments), ensure_ascii=False, separators=(",", ":"), default=str)
    text = text.encode("utf-8", "replace").decode()
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _shorten(value: Any) -> Any:
    if isinstance(value, str):
        text = remove_credentials(value[: 4 * LONGEST_TEXT])
        return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"
    if isinstance(value, Mapping):
        return {_shorten(str(name)): _shorten(each) for name, each in list(value.items())[:50]}
    return [_shorten(each) for each in value[:50]] if isinstance(value, list | tuple) else value
