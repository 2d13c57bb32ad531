"""Summary of what a turn changed in the facts of the day, by name, for a person who said it in words."""

from __future__ import annotations

from collections.abc import Iterator

from fateforger.planning.task_details import list_facts
from fateforger.session.day import day_words
from fateforger.session.frame import frame_in_force
from fateforger.session.model import FrameFacts, Session, Task
from fateforger.session.stages import TimeboxingStage
from fateforger.text import format_length, join_words, ngettext, quote_title, shorten
from fateforger.text import gettext as _

MOST_NOTED = 6


def describe_noted(before: Session, after: Session) -> tuple[str, ...]:
    """Return a line such as ``Noted: Gym at 07:00 and Report 2 h.``; nothing if no fact of the day has changed.

    A draft or a plan says itself what a change did to it, so there is nothing to add once there is one.
    """
    if before.stage.number >= TimeboxingStage.SKELETON.number or after.stage.number >= TimeboxingStage.REFINE.number:
        return ()
    noted = join_words(_list_changes(before, after), MOST_NOTED)
    return (_("Noted: {things}.", things=noted),) if noted else ()


def _list_changes(before: Session, after: Session) -> Iterator[str]:
    if (before.date, before.tz) != (after.date, after.tz) and after.stage is TimeboxingStage.DATE:
        yield day_words(after.date)
    then, now = frame_in_force(before), frame_in_force(after)
    if (then.day_start, then.day_end) != (now.day_start, now.day_end):
        yield _("your day {start:%H:%M}–{end:%H:%M}", start=now.day_start, end=now.day_end)
    if (then.lunch_start, then.lunch_minutes) != (now.lunch_start, now.lunch_minutes):
        yield _name_lunch(now)
    known = {task.id: task for task in before.day.inputs.tasks}
    tasks = after.day.inputs.tasks
    if (before.day.inputs.goals, before.day.inputs.blocks) != (after.day.inputs.goals, after.day.inputs.blocks):
        yield from describe_aims(after) or (_("no goals for the day"),)
    yield from (name_task(task) for task in tasks if known.get(task.id) != task)
    kept = {task.id for task in (*tasks, *after.open_work.deferred, *(each.task for each in after.open_work.sent))}
    yield from (_("without {task}", task=shorten(task.title)) for task in known.values() if task.id not in kept)


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
    """Return a task in a few words, such as ``Gym at 07:00`` or ``Report 2 h``."""
    length = () if task.minutes is None else (format_length(task.minutes),)
    return " ".join((shorten(task.title), *list_facts(task.details), *length))
