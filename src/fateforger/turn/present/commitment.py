"""Commitment on the card of a committed day (S209)."""

from __future__ import annotations

from fateforger.session.cards import Note, Part, Prose, plain
from fateforger.session.commitment import Promise, promises, untold
from fateforger.session.days import weekday
from fateforger.session.model import Session

MOST = 5
"""Big tasks that are listed one by one."""


def commitment(session: Session) -> tuple[Part, ...]:
    """Return the person's commitments, in the first person, with their success criteria."""
    kept = promises(session)
    if not kept:
        return ()
    first, rest = kept[0], [each for each in kept[1:MOST] if each.task.done_when]
    lines = [f"🤝 **I commit to finishing {plain(first.task.title)} by {_by(session, first)}.**{_success(first)}"]
    lines += [f"{plain(each.task.title)}, by {_by(session, each)}.{_success(each)}" for each in rest]
    return (Prose(text="\n".join(lines)),)


def asking(session: Session) -> tuple[Part, ...]:
    """Return a note that a big task has no success criteria yet."""
    tasks = untold(session)
    if not tasks:
        return ()
    more = f" (and {len(tasks) - 1} more)" if len(tasks) > 1 else ""
    text = f"What would make “{plain(tasks[0].title, 80)}”{more} a success? Edit… in its menu has room to say so."
    return (Note(text=text),)


def done_when(criteria: tuple[str, ...]) -> str:
    """Format success criteria, such as ``Done when: the figures are checked; the draft is sent``."""
    return f"Done when: {'; '.join(plain(each, 200) for each in criteria)}"


def _success(promise: Promise) -> str:
    return f"\n{done_when(promise.task.done_when)}." if promise.task.done_when else ""


def _by(session: Session, promise: Promise) -> str:
    later = "" if promise.by.date() == session.date else f" on {weekday(promise.by.date())}"
    return f"{promise.by:%H:%M}{later}"
