"""Summary of what a turn changed in the facts of the day, by name, for a person who said it in words."""

from __future__ import annotations

from collections.abc import Iterator

from fateforger.planning.task_details import list_facts
from fateforger.session.frame import frame_in_force
from fateforger.session.model import FrameFacts, Session, Task
from fateforger.session.stages import TimeboxingStage
from fateforger.text import (
    count_more,
    format_day,
    format_length,
    join_words,
    limit_items,
    ngettext,
    quote_title,
    shorten,
)
from fateforger.text import gettext as _
from fateforger.values import replace

MOST_NOTED = 6


def describe_noted(before: Session, after: Session) -> tuple[str, ...]:
    """Return a line such as ``Noted: Gym at 07:00, 1 h; Report, 2 h.``; nothing if no fact of the day has changed.

    A draft or a plan says itself what a change did to it, so there is nothing to add once there is one.
    """
    if before.stage.number >= TimeboxingStage.SKELETON.number or after.stage.number >= TimeboxingStage.REFINE.number:
        return ()
    noted = _join_changes(tuple(_list_changes(before, after)))
    return (_("Noted: {things}.", things=noted),) if noted else ()


def _join_changes(changes: tuple[str, ...]) -> str:
    """Return the changes as a list, with semicolons where a comma is part of one."""
    if any(", " in change for change in changes):
        return "; ".join(limit_items(changes, MOST_NOTED, count_more))
    return join_words(changes, MOST_NOTED)


def _list_changes(before: Session, after: Session) -> Iterator[str]:
    if (before.date, before.tz) != (after.date, after.tz) and after.stage is TimeboxingStage.DATE:
        yield format_day(after.date)
    then, now = frame_in_force(before), frame_in_force(after)
    if then.day_start != now.day_start:
        yield _("your day {start:%H:%M}–{end:%H:%M}", start=now.day_start, end=now.day_end)
    elif then.day_end != now.day_end:
        yield _("your day until {end:%H:%M}", end=now.day_end)
    if (then.lunch_start, then.lunch_minutes) != (now.lunch_start, now.lunch_minutes):
        yield _name_lunch(now)
    yield from _list_changed_tasks(before, after)


def _list_changed_tasks(before: Session, after: Session) -> Iterator[str]:
    known = {task.id: task for task in before.day.inputs.tasks}
    tasks = after.day.inputs.tasks
    if (before.day.inputs.goals, before.day.inputs.blocks) != (after.day.inputs.goals, after.day.inputs.blocks):
        yield from describe_aims(after) or (_("no goals for the day"),)
    starred = any(task.one_thing for task in tasks)
    for task in tasks:
        then, title = known.get(task.id), shorten(task.title)
        if then is None or replace(then, one_thing=task.one_thing) != task:
            yield name_task(task)
        elif task.one_thing and not then.one_thing:
            yield _("{task} is the one thing that matters", task=title)
        elif then.one_thing and not starred:
            yield _("{task} is no longer the one thing that matters", task=title)
    kept = {task.id for task in (*tasks, *after.open_work.deferred, *(each.task for each in after.open_work.sent))}
    yield from (_("{task} is off the list", task=shorten(task.title)) for task in known.values() if task.id not in kept)


def describe_aims(session: Session) -> tuple[str, ...]:
    """Return the goals of the day and its blocks of deep work, in a few words each; nothing if there are none."""
    inputs = session.day.inputs
    blocks, minutes = inputs.blocks.deep_blocks, inputs.blocks.minutes
    return (
        *(quote_title(goal) for goal in inputs.goals),
        *(() if blocks is None else (ngettext("{count} block of deep work", "{count} blocks of deep work", blocks),)),
        *(() if minutes is None else (_("{length} at a time", length=format_length(minutes)),)),
    )


def _name_lunch(frame: FrameFacts) -> str:
    if frame.lunch_start is None or not frame.lunch_minutes:
        return _("no lunch break")
    return _("lunch at {time:%H:%M}, {length}", time=frame.lunch_start, length=format_length(frame.lunch_minutes))


def name_task(task: Task) -> str:
    """Return a task in a few words, such as ``Gym at 07:00, 1 h`` or ``Report, 2 h, the one thing that matters``."""
    return ", ".join(_list_words(task))


def _list_words(task: Task) -> Iterator[str]:
    title, details = shorten(task.title), task.details
    yield title if details.at is None else _("{task} at {time:%H:%M}", task=title, time=details.at)
    if task.minutes is not None:
        yield format_length(task.minutes)
    yield from list_facts(replace(details, at=None))
    if task.one_thing:
        yield _("the one thing that matters")
