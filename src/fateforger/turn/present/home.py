"""Cards outside any session: the welcome and the App Home."""

from __future__ import annotations

from collections.abc import Sequence

from fateforger.session.cards import Button, Card, Controls, Divider, Heading, Note, Part, Prose
from fateforger.session.days import day_words
from fateforger.session.model import Session
from fateforger.turn.present.root import root_line
from fateforger.turn.present.rules import ADD_DAY

START = Button(label="Plan my day", action="start", style="primary")
RULES = Button(label="Your rules", action="form.rules")
ADD_TASK = Button(label="Add a task", action="form.queue_add")
EXPORT = Button(label="What you know about me", action="person.export")
ERASE = Button(
    label="Forget me",
    action="person.erase",
    confirm=(
        "I forget everything you told me: days, rules, tasks, and how to take back what is on your calendar. Events and"
        " messages stay where they are; to have a day taken back, press Undo in its thread first. This can't be undone."
    ),
)
YOURS = "What I keep about you is yours: to see, and to have erased."
HELLO = "I plan a day with you, step by step, and put it on your calendar. You can take it back, whole."


KEPT = (Divider(), Note(text=YOURS), Controls(items=(EXPORT, ERASE)))


def welcome_card() -> Card:
    """Return the answer to a message that belongs to no session."""
    return Card(text=HELLO, parts=(Prose(text=HELLO), Controls(items=(START, ADD_TASK))))


def refused_home_card(why: str) -> Card:
    """Return the App Home of a person who cannot plan here: the reason, and the controls for their data."""
    return Card(text=why, parts=(Prose(text=why), *KEPT))


def home_card(sessions: Sequence[Session], queue: Sequence[Part] = ()) -> Card:
    """Return the App Home: start button, sessions (most recent first), queue, and controls for the person's data."""
    parts: list[Part] = [Heading(text="Your days"), Prose(text=HELLO), Controls(items=(START, RULES, ADD_DAY))]
    if sessions:
        parts += [Divider(), *(Prose(text=root_line(session)) for session in sessions)]
        parts.append(Note(text="Each day has its own thread; go on there where you left off."))
    latest = f" Last: {day_words(sessions[0].date)}." if sessions else ""
    return Card(text=f"Plan a day.{latest}", parts=(*parts, *queue, *KEPT))
