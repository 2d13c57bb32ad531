"""Clients: other agents that may act for one person, their tokens, and the audit log of their calls.

A token is ``ffa_KEY_SECRET``. Only a SHA-256 hash is stored. The secret has 256 random bits, so that one round of
hashing is enough.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator

from fateforger.errors import BadInput
from fateforger.memory.credentials import remove_credentials
from fateforger.text import truncate

MAX_CALLS_PER_MINUTE = 60
"""Maximum number of calls per minute of one client, over all transports together."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


class Scope(StrEnum):
    """A permission of a client. A proposal writes nothing until the person approves it."""

    TASKS_READ = "tasks:read"
    TASKS_WRITE = "tasks:write"
    PLAN_READ = "plan:read"
    PLAN_PROPOSE = "plan:propose"
    CONSTRAINTS_READ = "constraints:read"
    CONSTRAINTS_PROPOSE = "constraints:propose"


class Client(BaseModel):
    """A client: its person, its permissions, and its lifetime.

    ``name`` is shown to people and never reused, because the audit log refers to it. ``key`` is the public part of the
    token; the rest of the token is stored only as a hash.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    key: str
    user_id: str
    scopes: tuple[Scope, ...]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    @field_validator("name")
    @classmethod
    def _check_name(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError("a client's name has 1 to 40 letters, digits, dots, dashes and underscores")
        return name

    def explain_refusal(self, now: datetime) -> str | None:
        """Return the message that refuses an expired or revoked token; ``None`` while it is valid."""
        if self.revoked_at is not None:
            return "This token was revoked. Ask its owner for a new one (fateforger mcp client add)."
        if self.expires_at is not None and self.expires_at <= now:
            return "This token has expired. Ask its owner for a new one (fateforger mcp client add)."
        return None


def format_executor(client: Client) -> str:
    """Return the name under which a client executes tasks."""
    return f"mcp:{client.name}"


def read_scopes(text: str) -> tuple[Scope, ...]:
    """Parse a comma-separated list of scopes. Raises ``BadInput``."""
    names = [part.strip() for part in text.split(",") if part.strip()]
    known = {scope.value: scope for scope in Scope}
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        wrong = f"There is no scope “{unknown[0]}”." if unknown else "A client needs at least one scope."
        raise BadInput(f"{wrong} Scopes are {', '.join(known)}.", where="scopes")
    return tuple(dict.fromkeys(known[name] for name in names))


_TOKEN = re.compile(r"ffa_([0-9a-f]{12})_([A-Za-z0-9_-]{40,64})")


def format_token(key: str, secret: str) -> str:
    """Return a token. ``key`` is 12 hexadecimal digits, ``secret`` 43 characters of URL-safe base64."""
    return f"ffa_{key}_{secret}"


def parse_key(token: str) -> str | None:
    """Return the public part of a token; ``None`` if the text is not a valid token."""
    found = _TOKEN.fullmatch(token)
    return None if found is None else found.group(1)


def hash_token(token: str) -> str:
    """Return the hash under which a token is stored."""
    return hashlib.sha256(token.encode()).hexdigest()


def matches_hash(token: str, kept: str) -> bool:
    """Check whether a token matches a stored hash, in constant time."""
    return hmac.compare_digest(hash_token(token), kept)


LONGEST_TEXT = 200
LONGEST = 2_000


class Call(BaseModel):
    """A call in the log; it gets its ``number`` there before it is carried out.

    ``asked`` is JSON of bounded length. ``outcome`` begins with ``done``, ``refused`` or ``failed``; it is ``None`` if
    the program ended before it was known.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    client: str
    user_id: str
    tool: str
    asked: str
    at: datetime
    number: int = 0
    outcome: str | None = None
    ended_at: datetime | None = None


def shorten_arguments(arguments: Mapping[str, Any]) -> str:
    """Return the arguments as short JSON: long texts are truncated, and credentials are removed."""
    text = json.dumps(_shorten(arguments), ensure_ascii=False, separators=(",", ":"), default=str)
    text = text.encode("utf-8", "replace").decode()
    return truncate(text, LONGEST)


def _shorten(value: Any) -> Any:
    if isinstance(value, str):
        return truncate(remove_credentials(value[: 4 * LONGEST_TEXT]), LONGEST_TEXT)
    if isinstance(value, Mapping):
        return {_shorten(str(name)): _shorten(each) for name, each in list(value.items())[:50]}
    return [_shorten(each) for each in value[:50]] if isinstance(value, list | tuple) else value
