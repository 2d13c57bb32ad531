"""Card of Stage 0: the day."""

from __future__ import annotations

from fateforger.session.cards import Button, Card, Controls, DatePick, Heading, Note, Prose, plain
from fateforger.session.days import day_words
from fateforger.session.model import Session
from fateforger.stages import Move
from fateforger.turn.present.parts import move_button, show_notice
from fateforger.turn.present.rules import show_noted


def card(session: Session) -> Card:
    """Return the card: day and time zone, to change or confirm."""
    day = day_words(session.date)
    plan_it = Button(label="Plan this day", action="commit_date", style="primary")
    change_zone = Button(label="Change time zone", action="form.zone")
    return Card(
        text=f"Shall we plan {day}?",
        parts=(
            Heading(text="Which day shall we plan?"),
            *show_notice(session),
            Prose(
                text=f"**{day}** {session.date.year}, in {plain(session.tz)} time",
                control=DatePick(action="choose_date", selected=session.date),
            ),
            Note(text=_status(session)),
            *show_noted(session),
            Controls(items=(plan_it, change_zone, move_button(session, Move.CANCEL))),
        ),
    )


def _status(session: Session) -> str:
    if session.snapshot is not None:
        return "I have looked at that day on your calendar already."
    if session.snapshot_error is not None:
        return f"I could not read your calendar yet: {plain(session.snapshot_error, 300)}"
    return "Meanwhile I am looking at that day on your calendar."
