"""Stage a proposal for the person, and report its state."""

from __future__ import annotations

import secrets
from typing import Annotated, Any

from pydantic import Field

from fateforger.agents import PROPOSAL_LIFETIME, ConstraintChange, PlanChange, Proposal, Scope
from fateforger.errors import BadInput
from fateforger.mcp.reach import AgentAccess, Caller
from fateforger.mcp.tool import Input, Tool

WAITS = "The person is asked in Slack. Until they approve it, nothing changes; get_proposal says what became of it."


async def stage_proposal(
    change: PlanChange | ConstraintChange,
    subject: str,
    preview: tuple[str, ...],
    reason: str,
    caller: Caller,
    reach: AgentAccess,
) -> dict[str, Any]:
    """Store a proposal; the running program asks the person. Raises ``BadInput`` if too many are pending."""
    proposal = Proposal(
        id=secrets.token_hex(8),
        client=caller.client.name,
        user_id=caller.user_id,
        change=change,
        subject=subject,
        preview=preview,
        reason=reason,
        made_at=caller.at,
        expires_at=caller.at + PROPOSAL_LIFETIME,
    )
    return {"proposal": _to_document(await reach.proposals.stage(proposal)), "message": WAITS}


class GetProposal(Input):
    id: Annotated[str, Field(min_length=1, max_length=64, description="As it was given back")]


async def get_proposal(given: GetProposal, caller: Caller, reach: AgentAccess) -> dict[str, Any]:
    """Return the state of a proposal of this client."""
    proposal = await reach.proposals.get(given.id)
    if proposal is None or (proposal.client, proposal.user_id) != (caller.client.name, caller.user_id):
        raise BadInput("You made no proposal of that id.", where="id")
    return {"proposal": _to_document(proposal)}


def _to_document(proposal: Proposal) -> dict[str, Any]:
    return {
        "id": proposal.id,
        "kind": proposal.change.kind,
        "state": proposal.state.value,
        "preview": list(proposal.preview),
        "outcome": proposal.outcome,
        "expires_at": proposal.expires_at.isoformat(),
    }


PROPOSAL_TOOLS = (
    Tool("get_proposal", "What became of a proposal of yours: pending, approved, denied, expired, superseded, undone.",
         (Scope.PLAN_PROPOSE, Scope.CONSTRAINTS_PROPOSE), GetProposal, get_proposal),
)  # fmt: skip
