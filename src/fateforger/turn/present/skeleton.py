"""Card of Stage 3: a first draft."""

from __future__ import annotations

from fateforger.session.cards import Card, Heading
from fateforger.session.days import day_words
from fateforger.session.gates import block_words
from fateforger.session.model import Session
from fateforger.session.pictured import picture
from fateforger.stages import Move
from fateforger.turn.present.day_rules import unkept_rules
from fateforger.turn.present.fitting import list_clashing_rules, list_unplaced
from fateforger.turn.present.parts import (
    move_row,
    paragraphs,
    quality_note,
    show_missing,
    show_notice,
    unread_note,
    warnings,
)
from fateforger.turn.present.rules import rules

ORDER = ((Move.PROCEED, "Refine"), (Move.BACK, None), (Move.REDO, None), (Move.CANCEL, None))


def card(session: Session) -> Card:
    """Return the card: the day in time order, and what did not fit."""
    day = day_words(session.date)
    return Card(
        text=f"A first draft of {day}: {block_words(session)}.",
        parts=(
            Heading(text=f"A first draft of {day}"),
            *show_notice(session),
            *show_missing(session),
            *unread_note(session),
            *picture(session),
            *paragraphs(session.overview or ""),
            *warnings(session),
            *unkept_rules(session),
            *list_clashing_rules(session),
            *list_unplaced(session),
            *quality_note(session.quality),
            *rules(session),
            move_row(session, ORDER),
        ),
    )
