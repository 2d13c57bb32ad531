"""A client: another agent that may do some things for one person, known by its token."""

from __future__ import annotations

import re
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, field_validator

from fateforger.errors import BadInput

MOST_A_MINUTE = 60
"""Calls of one client, through all doors together."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


class Scope(StrEnum):
    """What a client may do. Proposing writes nothing that the person did not approve."""

    TASKS_READ = "tasks:read"
    TASKS_WRITE = "tasks:write"
    PLAN_READ = "plan:read"
    PLAN_PROPOSE = "plan:propose"
    CONSTRAINTS_READ = "constraints:read"
    CONSTRAINTS_PROPOSE = "constraints:propose"


class Client(BaseModel):
    """Who it works for, what it may do and until when. ``name`` is for people, and is never used twice, because the
    audit log speaks of it. ``key`` is the public part of its token; the rest is nowhere kept but as a hash."""

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
    def _can_be_typed(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError("a client's name has 1 to 40 letters, digits, dots, dashes and underscores")
        return name

    def barred(self, now: datetime) -> str | None:
        """Why its token is of no use any more; ``None`` while it is."""
        if self.revoked_at is not None:
            return "This token was revoked. Ask its owner for a new one (fateforger mcp client add)."
        if self.expires_at is not None and self.expires_at <= now:
            return "This token has expired. Ask its owner for a new one (fateforger mcp client add)."
        return None


def executor_of(client: Client) -> str:
    """What a client is called as the executor of tasks."""
    return f"mcp:{client.name}"


def read_scopes(text: str) -> tuple[Scope, ...]:
    """Scopes as they are typed, with commas between. Raises ``BadInput``."""
    names = [part.strip() for part in text.split(",") if part.strip()]
    known = {scope.value: scope for scope in Scope}
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        wrong = f"There is no scope “{unknown[0]}”." if unknown else "A client needs at least one scope."
        raise BadInput(f"{wrong} Scopes are {', '.join(known)}.", where="scopes")
    return tuple(dict.fromkeys(known[name] for name in names))
