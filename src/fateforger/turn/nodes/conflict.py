"""Answer conflicts between the person's changes and the plan's, in Stage 4 and Stage 5 (S201)."""

from __future__ import annotations

from dataclasses import dataclass
from zoneinfo import ZoneInfo

from fateforger.plan import zone
from fateforger.session.commands import ResolveConflict
from fateforger.session.model import Notice, Question, RefineUpdate, Session
from fateforger.session.questions import matter, open_questions, token, with_answer
from fateforger.session.skeleton import graded
from fateforger.sync.conflicts import value_words
from fateforger.sync.words import quoted
from fateforger.turn.constants import MOST_UNDO

NOT_ASKED = "That is not a question any more, so I changed nothing."
ASKED_ANEW = "Your calendar or the plan changed again since that card, so I ask anew."


@dataclass(frozen=True, slots=True)
class Resolved:
    """Session with the answer applied. ``to_write`` tells whether the calendar has to be written."""

    session: Session
    to_write: bool = False


def resolved(session: Session, command: ResolveConflict, *, at_once: bool) -> Resolved:
    """Apply an answer, in a way that can be undone.

    ``at_once`` tells whether the plan's side is written now or at the next commit. An answer to a question that has
    changed since it was asked changes nothing.
    """
    waiting = open_questions(session)
    chosen = tuple(q for q in waiting if command.key is None or matter(q) == (command.key, command.topic))
    if not chosen:
        return Resolved(_saying(session, NOT_ASKED))
    if command.seen is not None and command.seen != token(chosen):
        return Resolved(_saying(session, ASKED_ANEW))
    if session.plan is None:
        return Resolved(session)
    lines = tuple(_said(q, command, session, at_once=at_once) for q in chosen)
    step = RefineUpdate(
        plan_before=session.plan,
        sentence=" ".join(lines),
        answered=chosen,
        local=command.keep == "calendar",
    )
    session = with_answer(_saying(session, *lines), chosen, command.keep)
    session = session.model_copy(update={"refine_undo": (*session.refine_undo, step)[-MOST_UNDO:]})
    return Resolved(graded(session), to_write=at_once and command.keep == "plan")


def _said(question: Question, command: ResolveConflict, session: Session, *, at_once: bool) -> str:
    conflict, tz = question.conflict, zone(session.tz)
    title = quoted(conflict.title)
    if command.keep == "plan":
        when = "your calendar gets that now" if at_once else "your calendar gets that when you commit"
        return f"As planned, {title} {_words(question, session, tz)}; {when}."
    if conflict.calendar is None:
        return f"{title} stays deleted, and is out of the plan."
    return f"As on your calendar, {title} {value_words(conflict.topic, conflict.calendar, session.date, tz)}."


def _words(question: Question, session: Session, tz: ZoneInfo) -> str:
    return value_words(question.conflict.topic, question.conflict.plan, session.date, tz)


def _saying(session: Session, *lines: str) -> Session:
    said = () if session.notice is None else session.notice.lines
    return session.model_copy(update={"notice": Notice(lines=(*said, *lines))})
