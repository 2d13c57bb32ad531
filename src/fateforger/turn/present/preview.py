"""Card of the preview: the writes that a commit would make, in words (S212)."""

from __future__ import annotations

from collections.abc import Sequence

from fateforger.plan import zone
from fateforger.session.cards import Button, Card, Controls, Heading, Note, Part, Prose, plain
from fateforger.session.days import day_words
from fateforger.session.model import Session
from fateforger.session.views import PreviewView
from fateforger.session.writing import writes_at_once
from fateforger.turn.present.parts import paragraphs

SHOW = Button(label="Preview", action="show_preview")
AGAIN = Button(label="Preview again", action="show_preview")
NOTHING = "Nothing: your calendar shows this plan already."
NOTHING_NOW = "Nothing, as things stand."
MOVED = "Preview: further down in this thread."


def is_offered(session: Session) -> bool:
    """Check whether there may be something to write.

    That is not the case if each change is written at once and has been, or if the plan is empty.
    """
    if not (session.written or (session.plan and session.plan.events)):
        return False
    waiting = session.problem is not None or not writes_at_once(session)
    return waiting or session.written is None or any(not step.transactions for step in session.refine_undo)


def card(session: Session, view: PreviewView) -> Card:
    """Return the card: writes, what is left alone, notes, and safety checks that need confirmation."""
    day, when = day_words(session.date), _when(session, view)
    if view.stale:
        line = f"Preview of {when}: out of date, because something changed since."
        return Card(text=line, parts=(Prose(text=line, control=AGAIN),))
    title = f"What would be written for {day}"
    return Card(
        text=f"{title}: {view.problem or view.counts or 'nothing'}.",
        parts=(
            Heading(text=title),
            *_words(view),
            Note(text=f"Nothing has been written by this. Your calendar as of {when}."),
            Controls(items=(AGAIN, Button(label="Close preview", action="hide_preview"))),
        ),
    )


def closed_card(session: Session, view: PreviewView) -> Card:
    """Return the card after it was closed."""
    line = f"Preview of {_when(session, view)}, closed."
    return Card(text=line, parts=(Note(text=line),))


def moved_card() -> Card:
    """Return the note that is left behind when the card is shown again at the end of the thread."""
    return Card(text=MOVED, parts=(Note(text=MOVED),))


def _words(view: PreviewView) -> tuple[Part, ...]:
    if view.problem is not None:
        return (Prose(text=f"⚠️ {plain(view.problem, 600)}"),)
    return (
        *paragraphs(
            _format_list(f"**{view.counts}**", view.todo) if view.todo else NOTHING_NOW if view.notes else NOTHING
        ),
        *(paragraphs(_format_list("**Left alone**", view.left)) if view.left else ()),
        *(paragraphs("\n".join(plain(note, 400) for note in view.notes)) if view.notes else ()),
        *(Prose(text=f"⚠️ {plain(brake, 600)} I ask before I write that.") for brake in view.brakes),
    )


def _format_list(head: str, lines: Sequence[str]) -> str:
    return "\n".join((head, *(f"- {plain(line, 300)}" for line in lines)))


def _when(session: Session, view: PreviewView) -> str:
    return f"{view.at.astimezone(zone(session.tz)):%H:%M}"
