"""Cards after the end of a session: no action is left, and what was written stays."""

from __future__ import annotations

from fateforger.session.cards import Button, Card, Controls, Heading, Part, Prose
from fateforger.session.days import day_words
from fateforger.session.model import Session
from fateforger.stages import TimeboxingStage

AGAIN = Controls(items=(Button(label="Plan a day", action="start", style="primary"),))


def ended_card(session: Session) -> Card:
    """Return the last card of a session."""
    day = day_words(session.date)
    closed = session.stage is TimeboxingStage.REVIEW_COMMIT and session.written is not None
    title = f"{day} is planned" if closed else f"Planning {day} has ended"
    parts: tuple[Part, ...] = (Heading(text=title), Prose(text=describe_remains(session)))
    return Card(text=f"{title}. {describe_remains(session)}", parts=parts)


def ended_reply(session: Session) -> Card:
    """Return the answer to a click or message after the end (S57)."""
    text = f"This session has ended, so nothing more happens here. {describe_remains(session)}"
    return Card(text=text, parts=(Prose(text=text), AGAIN))


def not_yours_card() -> Card:
    """Return the answer to a click by another person."""
    text = "This planning session is somebody else's; only they can change it."
    return Card(text=text, parts=(Prose(text=text),))


def describe_remains(session: Session) -> str:
    """Describe what remains of the session on the calendar."""
    if session.written is None:
        return "Nothing of it is on your calendar."
    return "What I put on your calendar stays there."
