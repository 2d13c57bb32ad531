"""Cards about the connection of a calendar, and of an agent's proposal. Text from an agent is always quoted."""

from __future__ import annotations

from typing import assert_never

from fateforger.agents.clients import ConstraintChange, PlanChange, Proposal, ProposalState
from fateforger.calendar.connections import Connection, ConnectionView
from fateforger.session.cards import Button, Card, Controls, Divider, Heading, Note, Part, Prose, plain
from fateforger.session.commands.thread import AnswerProposal
from fateforger.text import format_day, join_sentences, join_words, label_text, mark_message, quote_title
from fateforger.text import gettext as _
from fateforger.ui.card_parts import START

UNDO = "proposal.undo"
WAITS_A_DAY = mark_message("Nothing changes unless you say yes. It waits for a day.")
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
        spoken = label_text(_("Undo"), _what(proposal))
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
            Note(text=join_sentences(_(WAITS_A_DAY), _name(proposal))),
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


PAGE = "calendar.page"
"""Action of the buttons that open the page."""
CONNECT = mark_message("Connect your own calendar, and we can begin.")
CHANGE = mark_message("Choose here which calendars I read, and which one I write to.")
YOURS_ALONE = mark_message(
    "The button is for you alone. Its page works for half an hour; after that, it sends you a new link."
)
WAITS = mark_message("Your plans wait, and nothing is lost: once it is connected again, we go on where we were.")
NO_PAGE = mark_message(
    "Your calendar is not connected here yet, and I plan on nobody else's. Please ask whoever runs me: they can connect"
    " it for you with `fateforger calendars connect`, or set FATEFORGER_PUBLIC_URL, so that you can do it yourself."
)
CONFIGURED = mark_message("I plan on the calendar that I was set up with.")
DISCONNECT = Button(
    label=mark_message("Disconnect"),
    action="calendar.disconnect",
    confirm=mark_message(
        "I forget your login and end my access. What I put on your calendar stays there, and I keep the history of it:"
        " if you connect the same calendar again, you can still undo it."
    ),
)
OFFER = mark_message(
    "Your administrator has opened your {service} calendar to me, so you do not need to sign in. I read its events, so"
    " that a plan fits between them. I write only the blocks of your plan to it, and you can take them off again. I"
    " never change an event that I did not make."
)
JOIN = Button(label=mark_message("Use my calendar"), action="calendar.join", style="primary")
MOST_NAMED = 5


def build_page_button(view: ConnectionView, label: str, *, style: str = "primary") -> Button | None:
    """Return the button that opens the page, if people can reach one."""
    if view.link is None:
        return None
    return Button(label=label, action=PAGE, url=view.link, style="primary" if style == "primary" else "default")


def connect_card(view: ConnectionView, user_id: str) -> Card:
    """Return the card on which a person connects a calendar, or mends the connection that they have."""
    if view.offer and (view.connection is None or not view.connection.is_open):
        text = join_sentences(view.problem, _(OFFER, service=view.offer))
        other = build_page_button(view, _("Connect another one"), style="default")
        return Card(text=text, parts=(Prose(text=text), *_build_row(JOIN.localize(), other)))
    if view.link is None:
        whom = _("Your id here is {user_id}.", user_id=user_id)
        text = join_sentences(view.problem, _(NO_PAGE))
        return Card(text=join_sentences(text, whom), parts=(Prose(text=text), Note(text=whom)))
    if view.problem:
        text, button = join_sentences(view.problem, _(WAITS)), build_page_button(view, _("Reconnect"))
    elif view.connection is not None and view.connection.is_open:
        text, button = _(CHANGE), build_page_button(view, _("Open"))
    else:
        text, button = _(CONNECT), build_page_button(view, _("Connect your calendar"))
    return Card(text=text, parts=(Prose(text=text), *_build_row(button), Note(text=_(YOURS_ALONE))))


def joined_card(view: ConnectionView, words: str) -> Card:
    """Return the answer to *Use my calendar*; ``words`` say whether it worked."""
    found = view.connection
    joined = found is not None and found.is_open
    change = build_page_button(view, _("Change"), style="default")
    buttons = (START.localize(), change) if joined else (change,)
    return Card(text=words, parts=(Prose(text=words), *_build_row(*buttons)))


def broken_card(view: ConnectionView) -> Card:
    """Return the message that a connection broke."""
    text = join_sentences(_("I can no longer reach your calendar."), view.problem, _(WAITS))
    return Card(text=text, parts=(Prose(text=text), *_build_row(build_page_button(view, _("Reconnect")))))


def build_connection_parts(view: ConnectionView) -> tuple[Part, ...]:
    """Return the part of App Home about the connection of the calendar."""
    found = view.connection
    if found is None or found.has_ended:
        if not view.configured:
            return ()
        change = build_page_button(view, _("Connect your own calendar"), style="default")
        return Divider(), Heading(text=_("Your calendar")), Prose(text=_(CONFIGURED), control=change)
    label, style = (_("Reconnect"), "primary") if found.problem else (_("Change"), "default")
    change = build_page_button(view, label, style=style)
    return (
        Divider(),
        Heading(text=_("Your calendar")),
        Prose(text=describe_connection(found)),
        *((Prose(text=join_sentences(found.problem, _(WAITS))),) if found.problem else ()),
        *_build_row(change, DISCONNECT.localize()),
    )


def describe_connection(connection: Connection) -> str:
    """Say which calendar is connected, since when, what is read, and what is written."""
    account, service = plain(connection.account), connection.provider.service
    day = format_day(connection.connected_at.date())
    place = _("**{account}** ({service}), connected on {day}.", account=account, service=service, day=day)
    return f"{place} {describe_use(connection)}"


def describe_use(connection: Connection) -> str:
    """Say which calendars are read, and which one is written to."""
    written = quote_title(plain(connection.name_of(connection.calendar_id)))
    others = [quote_title(plain(connection.name_of(each))) for each in connection.reads]
    if not others:
        return _("I read {calendar}, and write only the blocks of your plan to it.", calendar=written)
    return _(
        "I read {calendars}, and write only the blocks of your plan, only to {calendar}.",
        calendars=join_words([written, *others], MOST_NAMED),
        calendar=written,
    )


def _build_row(*buttons: Button | None) -> tuple[Part, ...]:
    shown = tuple(button for button in buttons if button is not None)
    return (Controls(items=shown),) if shown else ()
