"""Conflicts between the person's and the plan's changes, each with two buttons, and a pair for all (S201)."""

from __future__ import annotations

from fateforger.plan import zone
from fateforger.session.cards import Button, Controls, Note, Part, Prose, plain
from fateforger.session.model import Session
from fateforger.session.pending import conflict_options
from fateforger.session.questions import open_questions, token
from fateforger.sync.conflicts import phrase_question as in_words

KEEP_CALENDAR, KEEP_PLAN = "conflict.keep_calendar", "conflict.keep_plan"
MOST_ASKED = 5
"""Questions with buttons of their own; the others are answered together, or follow once these are answered."""
STAYS = "Until you choose, your calendar stays as it is; everything else goes on as usual."


def questions(session: Session) -> tuple[Part, ...]:
    """Return a line and buttons for each open question, and a closing note; nothing if there are none."""
    waiting = open_questions(session)
    if not waiting:
        return ()
    parts: list[Part] = [Prose(text=f"**{_head(len(waiting))}**")]
    for question in waiting[:MOST_ASKED]:
        sentence = in_words(question.conflict, session.date, zone(session.tz))
        both = tuple(option.button() for option in conflict_options(question))
        parts += [Prose(text=plain(sentence, 600)), Controls(items=both)]
    if (more := len(waiting) - MOST_ASKED) > 0:
        parts.append(Prose(text=f"… and {more} more."))
    if len(waiting) > 1:
        parts.append(_pair(token(waiting), "Keep calendar for all", "Keep plan for all"))
    return (*parts, Note(text=STAYS))


def questions_words(session: Session) -> str:
    """Return the number of open questions, for notifications and screen readers; empty if there are none."""
    count = len(open_questions(session))
    return f" {count} question{'' if count == 1 else 's'} to answer." if count else ""


def _head(count: int) -> str:
    where = "" if count == 1 else f" in {count} places"
    return f"Your calendar and the plan disagree{where}. Which one do you keep?"


def _pair(target: str, calendar: str, plan: str) -> Controls:
    return Controls(
        items=(
            Button(label=calendar, action=KEEP_CALENDAR, target=target),
            Button(label=plan, action=KEEP_PLAN, target=target),
        )
    )
