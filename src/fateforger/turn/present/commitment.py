"""Commitment on the card of a committed day (S209)."""

from __future__ import annotations

from fateforger.session.cards import Note, Part, Prose, plain
from fateforger.session.commitment import Commitment, commitments, tasks_without_criteria
from fateforger.session.days import weekday
from fateforger.session.model import Session

MOST = 5
"""Big tasks that are listed one by one."""


def commitment(session: Session) -> tuple[Part, ...]:
    """Return the person's commitments, in the first person, with their success criteria."""
    kept = commitments(session)
    if not kept:
        return ()
    first, rest = kept[0], [each for each in kept[1:MOST] if each.task.done_when]
    lines = [
        f"🤝 **I commit to finishing {plain(first.task.title)} by {_by(session, first)}.**{_format_success(first)}"
    ]
    lines += [f"{plain(each.task.title)}, by {_by(session, each)}.{_format_success(each)}" for each in rest]
    return (Prose(text="\n".join(lines)),)


def ask_for_criteria(session: Session) -> tuple[Part, ...]:
    """Return a note that a big task has no success criteria yet."""
    tasks = tasks_without_criteria(session)
    if not tasks:
        return ()
    more = f" (and {len(tasks) - 1} more)" if len(tasks) > 1 else ""
    text = f"What would make “{plain(tasks[0].title, 80)}”{more} a success? Edit… in its menu has room to say so."
    return (Note(text=text),)


def format_criteria(criteria: tuple[str, ...]) -> str:
    """Format success criteria, such as ``Done when: the figures are checked; the draft is sent``."""
    return f"Done when: {'; '.join(plain(each, 200) for each in criteria)}"


def _format_success(promise: Commitment) -> str:
    return f"\n{format_criteria(promise.task.done_when)}." if promise.task.done_when else ""


def _by(session: Session, promise: Commitment) -> str:
    later = "" if promise.by.date() == session.date else f" on {weekday(promise.by.date())}"
    return f"{promise.by:%H:%M}{later}"
