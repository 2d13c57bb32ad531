"""Other agents: their access, their audit log, and their proposals."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Protocol

from fateforger.agents.clients import Call, Client, Outcome
from fateforger.agents.proposals import Proposal, ProposalState
from fateforger.ports.jobs import NewJob

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

    async def get(self, name: str) -> Client | None: ...

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

        See :func:`fateforger.agents.proposals.can_become`. A refused one that is approved counts a retry.
        A proposal of a client whose access was revoked never becomes approved. Returns ``None`` for an unknown id.
        """
        ...

    async def record_place(self, proposal_id: str, channel: str, ts: str) -> None:
        """Remember the message that shows its card."""
        ...
