"""Card of an agent's proposal. Text from the agent is always quoted."""

from __future__ import annotations

from typing import assert_never

from fateforger.agents.proposals import ConstraintChange, PlanChange, Proposal, ProposalState
from fateforger.session.cards import Button, Card, Controls, Heading, Note, Part, Prose, plain
from fateforger.session.commands import AnswerProposal
from fateforger.session.day import day_words

UNDO = "proposal.undo"
WAITS = "Nothing changes unless you say yes. It waits for a day."
_LONGEST_LINE = 700
_LONGEST_REASON = 500
_TURNS = dict.fromkeys(
    [0x200E, 0x200F, 0x061C, *range(0x202A, 0x202F), *range(0x2066, 0x206A)],
)
"""Bidirectional control characters, which can make text read as something else."""


def proposal_card(proposal: Proposal) -> Card:
    """Return the card: with its buttons while it is pending, otherwise one line with the outcome."""
    match proposal.state:
        case ProposalState.PENDING:
            return _build_asking(proposal)
        case ProposalState.APPROVED:
            return _build_ended(proposal, "✅ Applied", undo=isinstance(proposal.change, ConstraintChange))
        case ProposalState.DENIED:
            return _build_ended(proposal, "Denied")
        case ProposalState.EXPIRED:
            return _build_ended(proposal, "Not applied")
        case ProposalState.SUPERSEDED:
            return _build_ended(proposal, "Not applied")
        case ProposalState.UNDONE:
            return _build_ended(proposal, "↩️ Taken back")
        case _:
            assert_never(proposal.state)


def _build_asking(proposal: Proposal) -> Card:
    lines = "\n".join(f"- {_quote_text(line, _LONGEST_LINE)}" for line in proposal.preview)
    apply, deny = AnswerProposal.apply.button(proposal.id, style="primary"), AnswerProposal.deny.button(proposal.id)
    return Card(
        text=_sentence(proposal),
        parts=(
            Heading(text="An agent proposes a change"),
            Prose(text=f"{_sentence(proposal)}\n{lines}"),
            Prose(text=f"Its reason, as it wrote it: “{_quote_text(proposal.reason, _LONGEST_REASON)}”"),
            Controls(items=(apply, deny)),
            Note(text=WAITS),
        ),
    )


def _build_ended(proposal: Proposal, how: str, *, undo: bool = False) -> Card:
    what = _what(proposal)
    outcome = f" {_quote_text(proposal.outcome, _LONGEST_LINE)}" if proposal.outcome else ""
    text = f"{how}: {what}, proposed by **{plain(proposal.client)}**.{outcome}"
    button = Button(label="Undo", action=UNDO, target=proposal.id, spoken="Undo what was proposed and applied")
    parts: tuple[Part, ...] = (Prose(text=text, control=button if undo else None),)
    return Card(text=f"{how}: {what}.", parts=parts)


def _sentence(proposal: Proposal) -> str:
    match proposal.change:
        case PlanChange(before=plan):
            return f"**{plain(proposal.client)}** would like to change your plan of {day_words(plan.date)}:"
        case ConstraintChange(replaces=replaces):
            instead = "" if replaces is None else " in the place of another rule"
            return f"**{plain(proposal.client)}** would like me to remember this about your days{instead}:"
        case _:
            assert_never(proposal.change)


def _what(proposal: Proposal) -> str:
    match proposal.change:
        case PlanChange(before=plan):
            return f"the change of your plan of {day_words(plan.date)}"
        case ConstraintChange(record=record):
            return f"the rule “{plain(record.name)}”"
        case _:
            assert_never(proposal.change)


def _quote_text(text: str, limit: int) -> str:
    return plain(text.translate(_TURNS), limit)
