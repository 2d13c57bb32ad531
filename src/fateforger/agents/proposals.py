"""What an agent would like to change and may not: it waits for the person's word.

            ┌──> APPROVED ──> UNDONE
PENDING ────┼──> DENIED
            ├──> EXPIRED       a day went by, or the agent lost its access
            └──> SUPERSEDED    the same agent thought again, or what it was about is not so any more
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from fateforger.constraints import ConstraintRecord
from fateforger.ops import Patch
from fateforger.plan import TBPlan

_FROZEN = ConfigDict(frozen=True, extra="forbid")
LASTS = timedelta(days=1)
MOST_PENDING = 5
"""Proposals of one client that may wait at once, so that no agent can fill a person's messages."""
LONGEST_REASON = 500


class PlanChange(BaseModel):
    """A patch of the plan of the session ``session_id``. ``before`` is the plan it was made for and ``after`` what it
    makes of it, with the moves that make room: that is what the person approves, and nothing else is ever applied."""

    model_config = _FROZEN
    kind: Literal["plan"] = "plan"
    session_id: str
    patch: Patch
    before: TBPlan
    after: TBPlan


class ConstraintChange(BaseModel):
    """A constraint to be remembered, in the place of the one with the uid ``replaces`` if there is one."""

    model_config = _FROZEN
    kind: Literal["constraint"] = "constraint"
    record: ConstraintRecord
    replaces: str | None = None


class ProposalState(StrEnum):
    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    UNDONE = "undone"


class Proposal(BaseModel):
    """``preview`` says in sentences what it would change. ``reason`` is what the agent wrote and may be anything: it is
    shown as a quotation, and is put into no prompt. ``subject`` is what it is about: a newer proposal of the same
    client about the same takes its place. ``place`` is the channel and the time stamp of its card, once that stands.
    ``outcome`` says how it ended."""

    model_config = _FROZEN
    id: str
    client: str
    user_id: str
    change: Annotated[PlanChange | ConstraintChange, Field(discriminator="kind")]
    subject: str
    preview: tuple[str, ...] = Field(min_length=1)
    reason: str = Field("", max_length=LONGEST_REASON)
    made_at: datetime
    expires_at: datetime
    state: ProposalState = ProposalState.PENDING
    settled_at: datetime | None = None
    outcome: str = ""
    place: tuple[str, str] | None = None

    @property
    def session_id(self) -> str:
        """The session it is about; empty when it is about none."""
        return self.change.session_id if isinstance(self.change, PlanChange) else ""

    @property
    def command_id(self) -> str:
        """The command that it becomes: the same however often it is approved, so it is carried out once."""
        return f"proposal-{self.id}"


_S = ProposalState
MOVES: Mapping[ProposalState, frozenset[ProposalState]] = {
    _S.PENDING: frozenset({_S.APPROVED, _S.DENIED, _S.EXPIRED, _S.SUPERSEDED}),
    _S.APPROVED: frozenset({_S.UNDONE}),
    _S.DENIED: frozenset(),
    _S.EXPIRED: frozenset(),
    _S.SUPERSEDED: frozenset(),
    _S.UNDONE: frozenset(),
}


def may_become(state: ProposalState, to: ProposalState) -> bool:
    """Whether that is a legal move."""
    return to in MOVES[state]
