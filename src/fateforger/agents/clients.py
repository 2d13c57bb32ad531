"""A client: another agent that may act for one person, identified by its token."""

from __future__ import annotations

import re
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, field_validator

from fateforger.errors import BadInput

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
