"""Missed days: their open tasks, with a form to settle them all and a button to undo that."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta

from fateforger.session.cards import Button, Part, Prose, plain
from fateforger.session.catching_up import open_work_of_missed
from fateforger.session.days import day_words, weekday
from fateforger.session.model import CatchUp, Session

MOST_DAYS = 3
"""Days that are listed by name."""
MOST_NAMED = 5
_WEEK = timedelta(days=7)


def catch_up(session: Session) -> tuple[Part, ...]:
    """Return a line with a button for all missed days, and a line for those that were caught up with."""
    things = open_work_of_missed(session)
    done = () if session.caught_up is None else (_build_caught_up(session, session.caught_up),)
    if not things:
        return done
    days = _days(session, (each.day for each in things))
    named = ", ".join(plain(each.task.title) for each in things[:MOST_NAMED])
    more = f" and {len(things) - MOST_NAMED} more" if len(things) > MOST_NAMED else ""
    text = f"**From {days}**, {_things(len(things))} still open, as far as I know: {named}{more}."
    return (*done, Prose(text=text, control=Button(label="Catch up…", action="form.catch_up")))


def _build_caught_up(session: Session, step: CatchUp) -> Prose:
    brought = sum(each.task.id in step.brought for each in step.things)
    settled = len(step.things) - brought
    told = [f"{_things(brought)} on your list"] * (brought > 0) + [f"{_things(settled)} settled"] * (settled > 0)
    text = f"You caught up with {_days(session, (each.day for each in step.things))}: {', '.join(told)}."
    return Prose(text=text, control=Button(label="Undo", action="task.undo_catch_up", spoken="Undo the catching up"))


def _things(count: int) -> str:
    return "one thing is" if count == 1 else f"{count} things are"


def _days(session: Session, days: Iterable[date]) -> str:
    """List days, such as ``Wednesday and Thursday``; a day a week or more ago appears with its date."""
    missed = sorted(set(days))
    if len(missed) > MOST_DAYS:
        return f"{len(missed)} days since {day_words(missed[0])}"
    names = [weekday(day) if session.date - day < _WEEK else day_words(day) for day in missed]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
