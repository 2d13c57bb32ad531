"""Changes that an agent proposes and the person has to approve.

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

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

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
