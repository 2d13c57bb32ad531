"""Clients (other agents that act for one person), and the changes that they propose to the person.

A token is ``ffa_KEY_SECRET``. Only a SHA-256 hash is stored. The secret has 256 random bits, so that one round of
hashing is enough.

                          ┌──────────> APPLIED <──> UNDONE
            ┌──> APPROVED ┼──> HELD ──────^           it breaks a rule of the person, who is asked
            │       ^     └──> REFUSED                it was not done; it can be tried again
            │       └─────────────┘
PENDING ────┼──> DENIED
            ├──> EXPIRED       a day went by, or the agent lost its access
            ├──> OUTDATED      what it was made for has changed, so it would do something else
            └──> SUPERSEDED    the same agent made a newer one

It is APPROVED from the person's yes until the store or the session shows the result.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from fateforger.errors import BadInput
from fateforger.limits import MAX_REASON_CHARS
from fateforger.memory.record import ConstraintRecord
from fateforger.planning.patch import Patch
from fateforger.planning.plan import TBPlan
from fateforger.values import Value

PROPOSAL_LIFETIME = timedelta(days=1)


class PlanChange(Value):
    """A patch of the plan of the session ``session_id``.

    ``before`` is the plan it was made for. ``after`` is the result, including the moves that make room: the person
    approves exactly this, and nothing else is ever applied.
    """

    kind: Literal["plan"] = "plan"
    session_id: str
    patch: Patch
    before: TBPlan
    after: TBPlan


class ConstraintChange(Value):
    """A constraint to remember; it replaces the constraint with the uid ``replaces``, if there is one."""

    kind: Literal["constraint"] = "constraint"
    record: ConstraintRecord
    replaces: str | None = None


class ProposalState(StrEnum):
    PENDING = "pending"
    APPROVED = "approved"
    APPLIED = "applied"
    HELD = "held"
    REFUSED = "refused"
    DENIED = "denied"
    EXPIRED = "expired"
    OUTDATED = "outdated"
    SUPERSEDED = "superseded"
    UNDONE = "undone"


class Proposal(Value):
    """A proposed change and its state.

    ``preview`` describes the change in sentences. ``reason`` is untrusted text of the agent: it is shown as a quotation
    and never enters a prompt. A newer proposal of the same client with the same ``subject`` supersedes this one.
    ``place`` is the channel and the timestamp of the card, once it is posted. ``outcome`` describes the result of the
    proposal. ``retries`` counts the times that the person had it tried again.
    """

    id: str
    client: str
    user_id: str
    change: Annotated[PlanChange | ConstraintChange, Field(discriminator="kind")]
    subject: str
    preview: tuple[str, ...] = Field(min_length=1)
    reason: str = Field("", max_length=MAX_REASON_CHARS)
    made_at: datetime
    expires_at: datetime
    state: ProposalState = ProposalState.PENDING
    settled_at: datetime | None = None
    outcome: str = ""
    retries: int = 0
    place: tuple[str, str] | None = None

    @property
    def session_id(self) -> str:
        """The session that the proposal changes; empty if there is none."""
        return self.change.session_id if isinstance(self.change, PlanChange) else ""

    @property
    def card_id(self) -> str:
        return f"proposal-{self.id}"

    @property
    def command_id(self) -> str:
        """The id of the command that an approval runs. It is the same for each try, so that the command runs once."""
        return f"{self.card_id}-{self.retries}" if self.retries else self.card_id


_S = ProposalState
MOVES: Mapping[ProposalState, frozenset[ProposalState]] = {
    _S.PENDING: frozenset({_S.APPROVED, _S.DENIED, _S.EXPIRED, _S.OUTDATED, _S.SUPERSEDED}),
    _S.APPROVED: frozenset({_S.APPLIED, _S.HELD, _S.REFUSED, _S.OUTDATED}),
    _S.HELD: frozenset({_S.APPLIED, _S.DENIED, _S.REFUSED}),
    _S.REFUSED: frozenset({_S.APPROVED, _S.EXPIRED, _S.OUTDATED, _S.SUPERSEDED}),
    _S.APPLIED: frozenset({_S.UNDONE}),
    _S.UNDONE: frozenset({_S.APPLIED}),
    _S.DENIED: frozenset(),
    _S.EXPIRED: frozenset(),
    _S.OUTDATED: frozenset(),
    _S.SUPERSEDED: frozenset(),
}
OPEN = frozenset({_S.PENDING, _S.REFUSED})
"""States in which the person can have a proposal carried out."""


def can_become(state: ProposalState, to: ProposalState) -> bool:
    """Check whether a proposal may change from one state to another."""
    return to in MOVES[state]


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


class Scope(StrEnum):
    """A permission of a client. A proposal writes nothing until the person approves it."""

    TASKS_READ = "tasks:read"
    TASKS_WRITE = "tasks:write"
    PLAN_READ = "plan:read"
    PLAN_PROPOSE = "plan:propose"
    CONSTRAINTS_READ = "constraints:read"
    CONSTRAINTS_PROPOSE = "constraints:propose"


class Client(Value):
    """A client: its person, its permissions, and its lifetime.

    ``name`` is shown to people and never reused, because the audit log refers to it. ``key`` is the public part of the
    token; the rest of the token is stored only as a hash.
    """

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


KEPT_FOR = timedelta(days=90)
"""Age from which a line of the log is deleted."""
MOST_KEPT = 1_000
"""Most lines of the log that are kept for each client; the newest stay."""


UNKNOWN_TOOL = "unknown"
"""Name in the log of a tool that does not exist; the one that was asked for may hold any words."""
Outcome = Literal["done", "refused", "failed"]


class Call(Value):
    """A call in the log; it gets its ``number`` there before it is carried out.

    No words of a person or an agent are in it: ``asked`` names the arguments, with the value of one that is a day or an
    id. ``outcome`` is ``None`` if the program ended before it was known. ``about`` is the id of the proposal that was
    made or read, or the kind of a refusal.
    """

    client: str
    user_id: str
    tool: str
    asked: str
    at: datetime
    number: int = 0
    outcome: Outcome | None = None
    about: str = ""
    ended_at: datetime | None = None


_WORDLESS = re.compile(r"\d{4}-\d\d-\d\d|[0-9a-f]{16}|ff-[0-9a-z]{4,12}")
"""Days, the ids of proposals and the ids of tasks."""


def name_arguments(arguments: Mapping[str, Any], known: Collection[str]) -> str:
    """Return the names of the arguments that a tool has, with values that hold no words; the others are counted."""
    named = [f"{name}={value}" if _is_wordless(value) else name for name, value in arguments.items() if name in known]
    more = len(arguments) - len(named)
    return ", ".join((*sorted(named), *((f"{more} unknown",) if more else ())))


def _is_wordless(value: object) -> bool:
    return isinstance(value, str) and _WORDLESS.fullmatch(value) is not None
