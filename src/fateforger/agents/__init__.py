"""Other agents that work for a person: their permissions, their calls, and proposals that wait for approval."""

from fateforger.agents.calls import Call, NewCall, shorten_arguments
from fateforger.agents.clients import MAX_CALLS_PER_MINUTE, Client, Scope, format_executor, read_scopes
from fateforger.agents.proposals import (
    MAX_PENDING,
    PROPOSAL_LIFETIME,
    ConstraintChange,
    PlanChange,
    Proposal,
    ProposalState,
    can_become,
)

__all__ = [
    "MAX_CALLS_PER_MINUTE",
    "MAX_PENDING",
    "PROPOSAL_LIFETIME",
    "Call",
    "Client",
    "ConstraintChange",
    "NewCall",
    "PlanChange",
    "Proposal",
    "ProposalState",
    "Scope",
    "can_become",
    "format_executor",
    "read_scopes",
    "shorten_arguments",
]
