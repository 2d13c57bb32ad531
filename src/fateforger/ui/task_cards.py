"""Card of Stage 2: the tasks, and the open work of earlier days."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from itertools import groupby

from fateforger.planning.task_details import format_items, list_facts
from fateforger.session.cards import (
    Button,
    Card,
    Choice,
    Controls,
    Heading,
    Menu,
    Note,
    Part,
    Prose,
    Select,
    name_button,
    plain,
)
from fateforger.session.commands.day import BringAlong, MarkOneThing, RemoveTask, TakeApart, UndoCatchUp
from fateforger.session.draft import work_of
from fateforger.session.gate import is_offered
from fateforger.session.model import CatchUp, OfferedInput, Session, Task
from fateforger.session.open_work import find_left_over, list_offered, open_work_of_missed
from fateforger.session.pending import bring_left_over, bring_queued, bring_row
from fateforger.session.stages import MOST_ROWS, Move
from fateforger.session.tasks import find_usual
from fateforger.text import (
    count_rest,
    count_tasks,
    format_day,
    format_length,
    format_weekday,
    join_words,
    label_text,
    mark_message,
    ngettext,
)
from fateforger.text import gettext as _
from fateforger.ui.card_parts import (
    SHOW_QUEUE,
    ask_about_lengths,
    ask_for_criteria,
    format_criteria,
    free_minutes,
    list_sent,
    move_row,
    offer_box,
    show_aims,
    show_notice,
)
from fateforger.ui.rule_cards import rules

MOST_DAYS = 3
"""Days that are listed by name."""
MOST_MISSED = 5
_WEEK = timedelta(days=7)


def catch_up(session: Session) -> tuple[Part, ...]:
    """Return a line with a button for all missed days, and a line for those that were caught up with."""
    things = open_work_of_missed(session)
    done = () if session.open_work.caught_up is None else (_build_caught_up(session, session.open_work.caught_up),)
    if not things:
        return done
    days = _days(session, (each.day for each in things))
    named = join_words((plain(each.task.title) for each in things), MOST_MISSED)
    text = ngettext(
        "**From {days}**, one thing is still open, as far as I know: {named}.",
        "**From {days}**, {count} things are still open, as far as I know: {named}.",
        len(things),
        days=days,
        named=named,
    )
    return (*done, Prose(text=text, control=Button(label=_("Catch up…"), action="form.catch_up")))


def _build_caught_up(session: Session, step: CatchUp) -> Prose:
    brought = sum(each.task.id in step.brought for each in step.things)
    settled = len(step.things) - brought
    told = (
        ngettext("one thing is on your list", "{count} things are on your list", brought) if brought else "",
        ngettext("one thing is settled", "{count} things are settled", settled) if settled else "",
    )
    text = _(
        "You caught up with {days}: {told}.",
        days=_days(session, (each.day for each in step.things)),
        told=", ".join(filter(None, told)),
    )
    return Prose(text=text, control=UndoCatchUp.action.button(spoken=label_text(_("Undo"), text)))


def _days(session: Session, days: Iterable[date]) -> str:
    """List days, such as ``Wednesday and Thursday``; a day a week or more ago appears with its date."""
    missed = sorted(set(days))
    if len(missed) > MOST_DAYS:
        return _("{count} days since {day}", count=len(missed), day=format_day(missed[0]))
    names = [format_weekday(day) if session.date - day < _WEEK else format_day(day) for day in missed]
    return join_words(names)


MOST_NAMED = 8
MOST_WAITING = 5
MOST_QUEUED = 5
MOST_OUTSIDE = 5


def list_left_over(session: Session) -> tuple[Part, ...]:
    """Return the leftovers of earlier days, except missed ones: a button for all, and a form to choose some."""
    offered = find_left_over(session)
    if not offered:
        return ()
    lines = [_offer_line(day, list(each)) for day, each in groupby(offered[:MOST_NAMED], key=_source)]
    if (more := len(offered) - MOST_NAMED) > 0:
        lines.append(count_rest(more))
    every = bring_left_over(session, offered)
    some = () if len(offered) == 1 else (Button(label=_("Choose…"), action="form.bring"),)
    return (Prose(text="\n".join(lines)), Controls(items=(every, *some)))


def from_queue(session: Session) -> tuple[Part, ...]:
    """Return the person's queue: a button for each of the next tasks, one for all, and a form to choose some."""
    queued = list_offered(session, "queue")
    if not queued:
        return ()
    rows = tuple(_offer_row(_("In your queue"), each) for each in queued[:MOST_QUEUED])
    if len(queued) == 1:
        return rows
    every = bring_queued(queued)
    return (*rows, Controls(items=(every, Button(label=_("Choose from the queue…"), action="form.bring"))))


def from_outside(session: Session) -> tuple[Part, ...]:
    """Return the TickTick tasks: a button for each of the next, and a form for more.

    If the list cannot be read, a note says so.
    """
    listed = list_offered(session, "ticktick")
    rows = tuple(_offer_row(_("In TickTick"), each) for each in listed[:MOST_OUTSIDE])
    more = len(listed) - MOST_OUTSIDE
    label = ngettext("Choose from TickTick ({count} more)…", "Choose from TickTick ({count} more)…", more)
    choose = (Controls(items=(Button(label=label, action="form.bring"),)),) if more > 0 else ()
    trouble = () if session.open_work.offer_trouble is None else (Note(text=session.open_work.offer_trouble),)
    return (*rows, *choose, *trouble)


def _offer_row(where: str, each: OfferedInput) -> Prose:
    return Prose(text=label_text(where, _format_task(each.task)), control=bring_row(each))


def list_deferred(session: Session) -> tuple[Part, ...]:
    """Return the tasks deferred to another day, while that can still be changed."""
    parts = [_waits(task) for task in session.open_work.deferred[:MOST_WAITING]]
    more = len(session.open_work.deferred) - MOST_WAITING
    rest = ngettext("{count} more waits for another day.", "{count} more wait for another day.", more)
    return (*parts, *((Note(text=rest),) if more > 0 else ()))


def _source(each: OfferedInput) -> str:
    day = format_day(each.day)
    return (
        _("**Left for another day** on {day}", day=day)
        if each.source == "deferred"
        else _("**Did not fit** on {day}", day=day)
    )


def _offer_line(source: str, offered: list[OfferedInput]) -> str:
    return label_text(source, ", ".join(_format_task(each.task) for each in offered))


def _format_task(task: Task) -> str:
    return plain(task.title) + ("" if task.minutes is None else f" ({format_length(task.minutes)})")


def _waits(task: Task) -> Prose:
    label = _("Do it after all")
    back = BringAlong.action.button(task.id, label=label, spoken=name_button(label, task.title))
    return Prose(text=_("For another day: {task}", task=_format_task(task)), control=back)


GOALS = Button(label=mark_message("Goals"), action="form.goals")
NO_TASKS = mark_message("Your list is empty. Where you don't know how long something takes, leave the minutes open.")


def tasks_card(session: Session) -> Card:
    """Return the card: the tasks, each with its menu."""
    tasks = session.day.inputs.tasks
    add = Button(label=_("Add tasks"), action="form.tasks", style="default" if tasks else "primary")
    question = _("What do you want to get done on {day}?", day=format_day(session.date))
    return Card(
        text=question,
        parts=(
            Heading(text=question),
            *show_notice(session),
            *(_task_row(session, task) for task in tasks[:MOST_ROWS]),
            *_more_tasks(tasks[MOST_ROWS:]),
            *offer_box(session),
            *ask_about_lengths(session),
            *ask_for_criteria(session),
            *catch_up(session),
            *list_left_over(session),
            *from_queue(session),
            *from_outside(session),
            *list_deferred(session),
            *list_sent(session),
            *((Note(text=_sum(session)),) if tasks else (Prose(text=_(NO_TASKS)),)),
            *show_aims(session),
            *rules(session),
            _moves(session, add),
        ),
    )


def _moves(session: Session, add: Button) -> Controls:
    order = ((Move.PROCEED, None), (Move.BACK, None), (Move.REDO, None), (Move.CANCEL, None))
    extra = (add, GOALS.localize(), SHOW_QUEUE.localize())
    row = move_row(session, order, *extra)
    if is_offered(session, Move.PROCEED):
        return row
    return Controls(items=(*extra, *(item for item in row.items if item not in extra)))


def _task_row(session: Session, task: Task) -> Prose:
    star = "⭐ " if task.one_thing else ""
    choices = [Choice(label=_("Edit…"), value="form.task")]
    if not task.one_thing:
        choices.append(MarkOneThing.action.menu_entry())
    choices += [Choice(label=_("Another day…"), value="form.defer"), RemoveTask.action.menu_entry()]
    if task.details.items:
        choices.append(TakeApart.action.menu_entry())
    small = f"\n{plain(format_items(task.details.items, ', '), 600)}" if task.details.items else ""
    success = f"\n{format_criteria(task.done_when)}" if task.done_when else ""
    facts = [_task_length(session, task), task.details.kind.words, *map(plain, list_facts(task.details))]
    return Prose(
        text=f"{star}**{plain(task.title)}** · {' · '.join(facts)}{small}{success}",
        control=Menu(choices=tuple(choices), target=task.id),
    )


def _task_length(session: Session, task: Task) -> str:
    length = format_length(work_of(session, task).length)
    if task.minutes is not None:
        return length
    if find_usual(session, task) is not None:
        return _("{length} (as you usually need)", length=length)
    return _("open, about {usual}", usual=length)


def _more_tasks(rest: tuple[Task, ...]) -> tuple[Part, ...]:
    if not rest:
        return ()
    choices = tuple(Choice(label=t.title[:75], value=t.id) for t in rest)
    picker = Select(
        action="form.task", placeholder=ngettext("{count} more task", "{count} more tasks", len(rest)), choices=choices
    )
    return (Controls(items=(picker,)),)


def _sum(session: Session) -> str:
    minutes = sum(work_of(session, task).length for task in session.day.inputs.tasks)
    tasks, free = count_tasks(len(session.day.inputs.tasks)), free_minutes(session)
    if free is None:
        return _("{tasks}, {length} together.", tasks=tasks, length=format_length(minutes))
    return _(
        "{tasks}, {length} together; your day has {free} without meetings.",
        tasks=tasks,
        length=format_length(minutes),
        free=format_length(free),
    )
