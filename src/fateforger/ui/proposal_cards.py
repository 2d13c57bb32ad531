"""Card of an agent's proposal. Text from the agent is always quoted."""

from __future__ import annotations

from typing import assert_never

from fateforger.agents.proposals import ConstraintChange, PlanChange, Proposal, ProposalState
from fateforger.session.cards import Button, Card, Controls, Heading, Note, Prose, plain
from fateforger.session.commands.thread import AnswerProposal
from fateforger.text import format_day, join_sentences, label_text, mark_message
from fateforger.text import gettext as _

UNDO = "proposal.undo"
WAITS = mark_message("Nothing changes unless you say yes. It waits for a day.")
_LONGEST_LINE = 700
_LONGEST_REASON = 500

_DECIDED = {
    ProposalState.APPROVED: mark_message("⏳ You said yes"),
    ProposalState.APPLIED: mark_message("✅ Applied"),
    ProposalState.HELD: mark_message("✋ Waits for you"),
    ProposalState.REFUSED: mark_message("⚠️ Not done"),
    ProposalState.DENIED: mark_message("Denied"),
    ProposalState.EXPIRED: mark_message("Not applied"),
    ProposalState.OUTDATED: mark_message("Out of date"),
    ProposalState.SUPERSEDED: mark_message("Replaced"),
    ProposalState.UNDONE: mark_message("↩️ Taken back"),
}


def proposal_card(proposal: Proposal) -> Card:
    """Return the card: with its buttons while it is pending, otherwise one line with the result."""
    if proposal.state is ProposalState.PENDING:
        return _build_asking(proposal)
    how, what = _(_DECIDED[proposal.state]), _what(proposal)
    outcome = plain(proposal.outcome, _LONGEST_LINE) if proposal.outcome else ""
    ended = _("{how}: {what}, proposed by **{client}**.", how=how, what=what, client=plain(proposal.client))
    prose = Prose(text=join_sentences(ended, outcome), control=_find_control(proposal))
    return Card(text=label_text(how, f"{what}."), parts=(prose, Note(text=_name(proposal))))


def _find_control(proposal: Proposal) -> Button | None:
    if proposal.state is ProposalState.REFUSED:
        return AnswerProposal.apply.button(proposal.id, label=_("Try again"))
    if proposal.state is ProposalState.APPLIED and isinstance(proposal.change, ConstraintChange):
        spoken = _("Undo what was proposed and applied")
        return Button(label=_("Undo"), action=UNDO, target=proposal.id, spoken=spoken)
    return None


def _build_asking(proposal: Proposal) -> Card:
    lines = "\n".join(f"- {plain(line, _LONGEST_LINE)}" for line in proposal.preview)
    apply, deny = AnswerProposal.apply.button(proposal.id, style="primary"), AnswerProposal.deny.button(proposal.id)
    return Card(
        text=_sentence(proposal),
        parts=(
            Heading(text=_("An agent proposes a change")),
            Prose(text=f"{_sentence(proposal)}\n{lines}"),
            Prose(text=_("Its reason, as it wrote it: “{quote}”", quote=plain(proposal.reason, _LONGEST_REASON))),
            Controls(items=(apply, deny)),
            Note(text=join_sentences(_(WAITS), _name(proposal))),
        ),
    )


def _name(proposal: Proposal) -> str:
    """Return the id of a proposal, by which its agent and the log of calls speak of it."""
    return _("Proposal `{id}`.", id=proposal.id)


def _sentence(proposal: Proposal) -> str:
    match proposal.change:
        case PlanChange(before=plan):
            return _(
                "**{client}** would like to change your plan of {day}:",
                client=plain(proposal.client),
                day=format_day(plan.date),
            )
        case ConstraintChange(replaces=replaces):
            if replaces is None:
                ask = _("**{client}** would like me to remember this about your days:", client=plain(proposal.client))
            else:
                ask = _(
                    "**{client}** would like me to remember this about your days in the place of another rule:",
                    client=plain(proposal.client),
                )
            return ask
        case _:
            assert_never(proposal.change)


def _what(proposal: Proposal) -> str:
    match proposal.change:
        case PlanChange(before=plan):
            return _("the change of your plan of {day}", day=format_day(plan.date))
        case ConstraintChange(record=record):
            return _("the rule “{name}”", name=plain(record.name))
        case _:
            assert_never(proposal.change)
