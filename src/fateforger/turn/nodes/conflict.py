"""Answer conflicts between the person's changes and the plan's, in Stage 4 and Stage 5 (S201)."""

from __future__ import annotations

from dataclasses import dataclass
from zoneinfo import ZoneInfo

from fateforger.plan import zone
from fateforger.session.commands import ResolveConflict
from fateforger.session.model import Notice, Question, RefineUpdate, Session
from fateforger.session.questions import open_questions, subject_of, token, with_answer
from fateforger.session.skeleton import grade_session
from fateforger.sync.conflicts import describe_value
from fateforger.sync.words import quote_title
from fateforger.turn.constants import MOST_UNDO
from fateforger.values import replace

NOT_ASKED = "That is not a question any more, so I changed nothing."
ASKED_ANEW = "Your calendar or the plan changed again since that card, so I ask anew."


@dataclass(frozen=True, slots=True)
class ResolvedConflict:
    """Session with the answer applied. ``to_write`` tells whether the calendar has to be written."""

    session: Session
    to_write: bool = False


def resolve_conflict(session: Session, command: ResolveConflict, *, at_once: bool) -> ResolvedConflict:
    """Apply an answer, in a way that can be undone.

    ``at_once`` tells whether the plan's side is written now or at the next commit. An answer to a question that has
    changed since it was asked changes nothing.
    """
    waiting = open_questions(session)
    chosen = tuple(q for q in waiting if command.key is None or subject_of(q) == (command.key, command.topic))
    if not chosen:
        return ResolvedConflict(_add_lines(session, NOT_ASKED))
    if command.seen is not None and command.seen != token(chosen):
        return ResolvedConflict(_add_lines(session, ASKED_ANEW))
    if session.plan is None:
        return ResolvedConflict(session)
    lines = tuple(_describe_answer(q, command, session, at_once=at_once) for q in chosen)
    step = RefineUpdate(
        plan_before=session.plan,
        sentence=" ".join(lines),
        answered=chosen,
        local=command.keep == "calendar",
    )
    session = with_answer(_add_lines(session, *lines), chosen, command.keep)
    session = replace(session, refine_undo=(*session.refine_undo, step)[-MOST_UNDO:])
    return ResolvedConflict(grade_session(session), to_write=at_once and command.keep == "plan")


def _describe_answer(question: Question, command: ResolveConflict, session: Session, *, at_once: bool) -> str:
    conflict, tz = question.conflict, zone(session.tz)
    title = quote_title(conflict.title)
    if command.keep == "plan":
        when = "your calendar gets that now" if at_once else "your calendar gets that when you commit"
        return f"As planned, {title} {_words(question, session, tz)}; {when}."
    if conflict.calendar is None:
        return f"{title} stays deleted, and is out of the plan."
    return f"As on your calendar, {title} {describe_value(conflict.topic, conflict.calendar, session.date, tz)}."


def _words(question: Question, session: Session, tz: ZoneInfo) -> str:
    return describe_value(question.conflict.topic, question.conflict.plan, session.date, tz)


def _add_lines(session: Session, *lines: str) -> Session:
    said = () if session.notice is None else session.notice.lines
    return replace(session, notice=Notice(lines=(*said, *lines)))
