"""Memory card: a summary of the person's rules, the first ones in detail, and questions to decide (S32-S36)."""

from __future__ import annotations

from collections.abc import Sequence

from fateforger.constraints.findings import Kind
from fateforger.session.cards import Button, Card, Controls, Divider, Heading, Note, Part, Prose, plain
from fateforger.session.days import day_words
from fateforger.session.memory import MemoryOffer, MemoryQuestion, MemoryRow, MemoryView
from fateforger.session.model import Session
from fateforger.turn.present.deciding import choice
from fateforger.turn.present.rules import ADD, ADD_DAY, REVIEW, describe_rule, marks, undo_button

MOST_ASKED = 3
"""Questions and offers with buttons of their own; the others follow once these are answered."""
EMPTY = "I know no rules of yours yet. Add one, and I keep to it when I plan your days."
NONE_SUCH = "I know no rule of yours about that any more."
MOVED = "Your rules: further down in this thread."
CLOSE = Button(label="Close", action="hide_memory")
WHAT = "Deny / Edit opens one rule: confirm it, change it, or tell me not to use it."


def card(session: Session, view: MemoryView) -> Card:
    """Return the card: the last change with its Undo, a summary, open questions, and the first rules."""
    title = f"Your rules for {day_words(session.date)}"
    rows = [part for row in view.rows for part in _row(row)]
    return Card(
        text=f"{title}: {count_words(view)}.{_asked_words(session, view)}",
        parts=(
            Heading(text=title),
            *_build_last_change(session, view),
            *_trouble(view),
            Prose(text=f"{summary(view)} {WHAT}" if view.total else NONE_SUCH if view.only else EMPTY),
            *_questions(session.memory_questions),
            *_offers(view.offers),
            *((Divider(),) if rows else ()),
            *rows,
            *_rest(view),
            Controls(
                items=(*((REVIEW,) if view.total else ()), ADD, ADD_DAY, Button(label="Close", action="hide_memory"))
            ),
        ),
    )


def closed_card(view: MemoryView) -> Card:
    """Return the card after it was closed."""
    line = f"Your rules: {count_words(view)}."
    return Card(text=line, parts=(Note(text=line),))


def moved_card() -> Card:
    """Return the note that is left behind when the card is shown again at the end of the thread."""
    return Card(text=MOVED, parts=(Note(text=MOVED),))


def count_words(view: MemoryView) -> str:
    return "1 rule" if view.total == 1 else f"{view.total or 'no'} rules"


def summary(view: MemoryView) -> str:
    """Summarize the number of rules, of those in use, and of those to confirm: ``5 rules: 2 used for this day.``"""
    if view.only:
        return f"**{count_words(view)}** of yours about that."
    used = "1 is used" if view.used == 1 else f"{view.used} are used" if view.used else "none is used"
    ask = f", {view.unsure} to be confirmed" if view.unsure else ""
    return f"**{count_words(view)}**: {used} for this day{ask}."


def _asked_words(session: Session, view: MemoryView) -> str:
    """Return the number of open questions, for notifications and screen readers; empty if there are none."""
    asked = len(session.memory_questions) + len(view.offers)
    return f" {asked} question{'' if asked == 1 else 's'} to answer." if asked else ""


def _build_last_change(session: Session, view: MemoryView) -> tuple[Part, ...]:
    last = session.memory_writes[-1] if session.memory_writes else None
    if last is not None and (last.fresh or not view.lines):
        return (Prose(text=plain(" ".join(last.lines), 600), control=undo_button(last.cause)),)
    return (Prose(text=plain(" ".join(view.lines), 600)),) if view.lines else ()


def _trouble(view: MemoryView) -> tuple[Part, ...]:
    if view.trouble is None:
        return ()
    return (Prose(text=f"⚠️ I cannot look up all of your rules just now: {plain(view.trouble, 300)}"),)


def _questions(questions: Sequence[MemoryQuestion]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for question in questions[:MOST_ASKED]:
        parts += [Prose(text=plain(question.sentence, 600)), choice(question.uids, question.names, both="Keep both")]
    return (*parts, *_more_asked(len(questions)))


def _offers(offers: Sequence[MemoryOffer]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for offer in offers[:MOST_ASKED]:
        both = None if offer.kind is Kind.CIRCLE else "Leave both"
        parts += [Prose(text=plain(offer.sentence, 600)), choice(offer.uids, offer.names, both=both)]
    return (*parts, *_more_asked(len(offers)))


def _more_asked(count: int) -> tuple[Part, ...]:
    more = count - MOST_ASKED
    return (Note(text=f"{more} more to decide, once these are."),) if more > 0 else ()


def _row(row: MemoryRow) -> tuple[Part, ...]:
    edit = Button(
        label="Deny / Edit", action="form.rule", target=f"{row.seq} {row.uid}", spoken=f"Deny or edit “{row.name}”"
    )
    return (Prose(text=f"**{plain(row.name)}**\n{describe_rule(row)} · _{marks(row)}_", control=edit),)


def _rest(view: MemoryView) -> tuple[Part, ...]:
    more = view.total - len(view.rows)
    return (Note(text=f"{more} more: Review all lists every rule."),) if more > 0 else ()
