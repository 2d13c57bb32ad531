"""Tasks left from earlier days, from the queue and from TickTick, each with a way to add it to this day."""

from __future__ import annotations

from itertools import groupby

from fateforger.drafting import in_words
from fateforger.session.cards import Button, Controls, Note, Part, Prose, plain
from fateforger.session.catching_up import open_work_of_missed
from fateforger.session.days import day_words
from fateforger.session.model import OfferedInput, Session, Task
from fateforger.session.pending import bring_left_over, bring_queued, bring_row

MOST_NAMED = 8
MOST_WAITING = 5
MOST_QUEUED = 5
MOST_OUTSIDE = 5


def list_left_over(session: Session) -> tuple[Part, ...]:
    """Return the leftovers of earlier days, except missed ones: a button for all, and a form to choose some."""
    missed = open_work_of_missed(session)
    offered = [each for each in session.offered if each.source in {"deferred", "unplaced"} and each not in missed]
    if not offered:
        return ()
    lines = [_line(day, list(each)) for day, each in groupby(offered[:MOST_NAMED], key=_source)]
    if (more := len(offered) - MOST_NAMED) > 0:
        lines.append(f"… and {more} more.")
    every = bring_left_over(session, offered).button()
    some = () if len(offered) == 1 else (Button(label="Choose…", action="form.bring"),)
    return (Prose(text="\n".join(lines)), Controls(items=(every, *some)))


def from_queue(session: Session) -> tuple[Part, ...]:
    """Return the person's queue: a button for each of the next tasks, one for all, and a form to choose some."""
    queued = [each for each in session.offered if each.source == "queue"]
    if not queued:
        return ()
    rows = tuple(_row("In your queue", each) for each in queued[:MOST_QUEUED])
    if len(queued) == 1:
        return rows
    every = bring_queued(queued).button()
    return (*rows, Controls(items=(every, Button(label="Choose from the queue…", action="form.bring"))))


def from_outside(session: Session) -> tuple[Part, ...]:
    """Return the TickTick tasks: a button for each of the next, and a form for more.

    If the list cannot be read, a note says so.
    """
    listed = [each for each in session.offered if each.source == "ticktick"]
    rows = tuple(_row("In TickTick", each) for each in listed[:MOST_OUTSIDE])
    more = len(listed) - MOST_OUTSIDE
    label = f"Choose from TickTick ({more} more)…"
    choose = (Controls(items=(Button(label=label, action="form.bring"),)),) if more > 0 else ()
    trouble = () if session.offer_trouble is None else (Note(text=session.offer_trouble),)
    return (*rows, *choose, *trouble)


def _row(where: str, each: OfferedInput) -> Prose:
    return Prose(text=f"{where}: {_format_task(each.task)}", control=bring_row(each).button())


def list_deferred(session: Session) -> tuple[Part, ...]:
    """Return the tasks deferred to another day, while that can still be changed."""
    parts = [_waits(task) for task in session.deferred[:MOST_WAITING]]
    more = len(session.deferred) - MOST_WAITING
    return (*parts, *((Note(text=f"{more} more wait for another day."),) if more > 0 else ()))


def _source(each: OfferedInput) -> str:
    day = day_words(each.day)
    return f"**Left for another day** on {day}" if each.source == "deferred" else f"**Did not fit** on {day}"


def _line(source: str, offered: list[OfferedInput]) -> str:
    return f"{source}: {', '.join(_format_task(each.task) for each in offered)}"


def _format_task(task: Task) -> str:
    return plain(task.title) + ("" if task.minutes is None else f" ({in_words(task.minutes)})")


def _waits(task: Task) -> Prose:
    label = "Do it after all"
    back = Button(label=label, action="task.bring", target=task.id, spoken=f"{label}: “{task.title[:40]}”")
    return Prose(text=f"For another day: {_format_task(task)}", control=back)
