"""Other agents: their access, their audit log, and what they propose."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from fateforger.agents import Asked, Call, Client, Proposal, ProposalState
from fateforger.ports.jobs import NewJob

PROPOSAL_LANE = "proposal"
"""Where the program learns of proposals that others wrote down."""


def show_job(proposal: Proposal) -> NewJob:
    """The job of making the card of a proposal show how it stands."""
    return _job(proposal, f"show {proposal.state.value}", {"do": "show"})


def expire_job(proposal: Proposal) -> NewJob:
    """The job of ending a proposal once it is too old. Its key is its own, so that nothing waits behind it."""
    job = _job(proposal, "expire", {"do": "expire"}, key=f"{proposal.id} expire")
    return NewJob(job.lane, job.key, job.dedupe, job.payload, run_at=proposal.expires_at)


def _job(proposal: Proposal, what: str, payload: Mapping[str, str], *, key: str | None = None) -> NewJob:
    return NewJob(PROPOSAL_LANE, key or proposal.id, f"{proposal.id} {what}", {"proposal": proposal.id, **payload})


class Clients(Protocol):
    """Who may ask for what. Raises :class:`~fateforger.errors.StoreError`."""

    async def add(self, client: Client, token_hash: str) -> None:
        """Keep a client. Raises ``BadInput`` when one ever had that name."""
        ...

    async def all(self) -> tuple[Client, ...]:
        """Every client there ever was, by name."""
        ...

    async def get(self, name: str) -> Client | None: ...

    async def with_key(self, key: str) -> tuple[Client, str] | None:
        """The client whose token has that public part, and the hash of its token."""
        ...

    async def revoke(self, name: str, *, now: datetime) -> Client | None:
        """End its access and whatever it proposed that still waits, in one commit. ``None`` when there is no such
        client; one that was revoked stays as it is."""
        ...


class Calls(Protocol):
    """The audit log. Raises :class:`~fateforger.errors.StoreError`."""

    async def begin(self, asked: Asked, *, since: datetime, most: int) -> int | None:
        """Put a call into the log, before anything is done for it, and return its number. ``None`` when the client made
        ``most`` calls since that instant already: then at most one line more is kept, which says so."""
        ...

    async def end(self, number: int, outcome: str, *, now: datetime) -> None:
        """What came of it."""
        ...

    async def latest(self, *, limit: int = 100, client: str | None = None) -> tuple[Call, ...]:
        """The newest first."""
        ...


class Proposals(Protocol):
    """What waits for a person's word. Each call is one commit. Raises :class:`~fateforger.errors.StoreError`."""

    async def stage(self, proposal: Proposal) -> Proposal:
        """Keep a proposal and put the jobs of showing it and of ending it on their lane, in one commit. Those of the
        same client about the same subject that still wait are superseded by it. Raises ``BadInput`` when too many of
        the client's wait, or when the client's access has ended."""
        ...

    async def get(self, proposal_id: str) -> Proposal | None: ...

    async def waiting(self, user_id: str) -> tuple[Proposal, ...]:
        """Return what waits for that person's word, the oldest first."""
        ...

    async def settle(
        self, proposal_id: str, state: ProposalState, *, outcome: str, now: datetime
    ) -> tuple[Proposal, bool] | None:
        """Let it become that if it may (:func:`fateforger.agents.may_become`), and say whether it did so just now; it
        is returned as it is then. No proposal of a client whose access was revoked becomes approved. ``None`` when
        there is none of that id."""
        ...

    async def told(self, proposal_id: str, outcome: str) -> None:
        """What came of one that was approved or undone."""
        ...

    async def placed(self, proposal_id: str, channel: str, ts: str) -> None:
        """Remember where its card stands."""
        ...
