"""Other agents: access of one call to tools, its scope, and the ports of their audit log and proposals."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from fateforger.agents.clients import Call, Client, Outcome, Proposal, ProposalState, Scope
from fateforger.errors import BadInput, first_mistake
from fateforger.limits import MAX_CALL_CHARS, MAX_MESSAGE_CHARS
from fateforger.memory.credentials import REFUSED, TOO_LONG, redact_credentials
from fateforger.memory.versions import Version
from fateforger.ports.jobs import NewJob
from fateforger.session.day import local_today
from fateforger.session.model import Session, SessionStatus
from fateforger.tasks.ports import Tasks
from fateforger.tasks.workflows import Workflows
from fateforger.text import format_day
from fateforger.workflow.trace import Facts, NothingAllowed

PROPOSAL_LANE = "proposal"
"""The lane on which the program learns of proposals."""


def build_show_job(proposal: Proposal) -> NewJob:
    """Return the job that updates the card of a proposal, once for each change of its state."""
    since = "" if proposal.settled_at is None else f" {proposal.settled_at.timestamp():.6f}"
    return _build_job(proposal, f"show {proposal.state.value}{since}", {"do": "show"})


def build_failure_job(proposal_id: str, command_id: str) -> NewJob:
    """Return the job that records that the command of an approval was given up."""
    return NewJob(PROPOSAL_LANE, proposal_id, f"{command_id} failed", {"proposal": proposal_id, "do": "fail"})


def build_expire_job(proposal: Proposal) -> NewJob:
    """Return the job that expires a proposal. It has a key of its own, so that nothing waits behind it."""
    job = _build_job(proposal, "expire", {"do": "expire"}, key=f"{proposal.id} expire")
    return NewJob(job.lane, job.key, job.dedupe, job.payload, run_at=proposal.expires_at)


def _build_job(proposal: Proposal, what: str, payload: Mapping[str, str], *, key: str | None = None) -> NewJob:
    return NewJob(PROPOSAL_LANE, key or proposal.id, f"{proposal.id} {what}", {"proposal": proposal.id, **payload})


class Clients(Protocol):
    """Clients and their access. Raises :class:`~fateforger.errors.StoreError`."""

    async def add(self, client: Client, token_hash: str) -> None:
        """Store a client. Raises ``BadInput`` if its name was ever used."""
        ...

    async def all(self) -> tuple[Client, ...]:
        """Return every client there ever was, by name."""
        ...

    async def with_key(self, key: str) -> tuple[Client, str] | None:
        """Return the client whose token has that public part, and the hash of its token."""
        ...

    async def revoke(self, name: str, *, now: datetime) -> Client | None:
        """Revoke a client's access and expire its pending proposals, in one commit.

        Returns ``None`` if there is no such client; a revoked one stays as it is.
        """
        ...


class Calls(Protocol):
    """The audit log, of bounded age and length. Raises :class:`~fateforger.errors.StoreError`."""

    async def begin(self, asked: Call, *, since: datetime, most: int) -> int | None:
        """Log a call before it is carried out, and return its number.

        Returns ``None`` if the client already made ``most`` calls since that instant; at most one further line is kept
        then, which says so. Lines that are too old, or too many of the client's, are deleted.
        """
        ...

    async def end(self, number: int, outcome: Outcome, about: str, *, now: datetime) -> None:
        """Record the outcome of a call, and its kind or subject."""
        ...

    async def latest(
        self, *, limit: int = 100, client: str | None = None, user_id: str | None = None
    ) -> tuple[Call, ...]:
        """Return the calls of a client, for a person, or of all, the newest first."""
        ...


class Proposals(Protocol):
    """Proposals of agents.

    Each call is one commit. Raises :class:`~fateforger.errors.StoreError`.
    """

    async def stage(self, proposal: Proposal) -> Proposal:
        """Store a proposal and enqueue the jobs that show and expire it, in one commit.

        Open ones of the same client about the same subject are superseded. Raises ``BadInput`` if too many of the
        client's are pending, or if its access has ended.
        """
        ...

    async def get(self, proposal_id: str) -> Proposal | None: ...

    async def of(self, user_id: str, states: Collection[ProposalState]) -> tuple[Proposal, ...]:
        """Return the person's proposals in these states, the oldest first."""
        ...

    async def settle(
        self, proposal_id: str, state: ProposalState, *, outcome: str, now: datetime
    ) -> tuple[Proposal, bool] | None:
        """Change the state if allowed; return the proposal and whether it changed.

        See :func:`fateforger.agents.clients.can_become`. A refused one that is approved counts a retry.
        A proposal of a client whose access was revoked never becomes approved. Returns ``None`` for an unknown id.
        """
        ...

    async def record_place(self, proposal_id: str, channel: str, ts: str) -> None:
        """Remember the message that shows its card."""
        ...


MOST_SESSIONS = 100


@dataclass(frozen=True, slots=True)
class AgentAccess:
    """Read access to sessions and constraints; write access to tasks, and to proposals that the person has to approve.

    ``sessions_of`` returns a person's sessions, the most recently changed first; ``constraints_of`` all versions of
    their constraints. ``tz`` is the time zone of people who have not planned a day yet. ``facts`` are what the rules of
    ``workflows`` may look at.
    """

    sessions_of: Callable[[str], Awaitable[tuple[Session, ...]]]
    constraints_of: Callable[[str], Awaitable[tuple[Version, ...]]]
    tasks: Tasks
    proposals: Proposals
    tz: str
    workflows: Workflows = field(default_factory=Workflows)
    facts: Facts = field(default_factory=NothingAllowed)


@dataclass(frozen=True, slots=True)
class Caller:
    """The calling client, the time of the call, and its number in the audit log."""

    client: Client
    number: int
    at: datetime

    @property
    def user_id(self) -> str:
        """The person that the agent works for."""
        return self.client.user_id


async def find_day(reach: AgentAccess, caller: Caller, day: date | None) -> tuple[date, str, Session | None]:
    """Return the day (today if ``day`` is ``None``), its time zone, and the session that plans it.

    An open session is preferred to one that has ended.
    """
    sessions = await reach.sessions_of(caller.user_id)
    tz = sessions[0].tz if sessions else reach.tz
    wanted = day or local_today(caller.at, tz)
    mine = [session for session in sessions if session.date == wanted]
    mine.sort(key=lambda session: session.status is not SessionStatus.ACTIVE)
    return wanted, mine[0].tz if mine else tz, mine[0] if mine else None


def require_session(day: date, session: Session | None) -> Session:
    """Return the session. Raises ``BadInput`` if there is none."""
    if session is None:
        raise BadInput(f"Nothing is planned for {format_day(day)}; the person starts a plan in Slack.", where="date")
    return session


I = TypeVar("I", bound="Input")  # noqa: E741  a type variable, as short as the others
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
        if len(written) > MAX_CALL_CHARS or any(len(text) > MAX_MESSAGE_CHARS for text in texts):
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
