"""Other agents that work for a person: their permissions, their calls, and proposals that wait for approval."""

from fateforger.agents.calls import Asked, Call, bounded
from fateforger.agents.clients import MOST_A_MINUTE, Client, Scope, executor_of, read_scopes
from fateforger.agents.proposals import (
    LASTS,
    MOST_PENDING,
    ConstraintChange,
    PlanChange,
    Proposal,
    ProposalState,
    may_become,
)

__all__ = [
    "LASTS",
    "MOST_A_MINUTE",
    "MOST_PENDING",
    "Asked",
    "Call",
    "Client",
    "ConstraintChange",
    "PlanChange",
    "Proposal",
    "ProposalState",
    "Scope",
    "bounded",
    "executor_of",
    "may_become",
    "read_scopes",
]
