"""Tasks that a day gives to other days: which days are offered, what is sent, and how it is taken back. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta

from fateforger.errors import BadInput
from fateforger.limits import MAX_AHEAD
from fateforger.session.day import local_today
from fateforger.session.model import OfferedInput, SentTask, Session, Task
from fateforger.session.tasks import keep_for_later, with_tasks
from fateforger.text import count_tasks, format_day, format_weekday, join_words, quote_title
from fateforger.text import gettext as _
from fateforger.values import replace

OFFERED_DAYS = 7
_SATURDAY = 5
_WEEK = timedelta(days=7)


def next_working_day(day: date) -> date:
    """Return the first day after ``day`` that is not on a weekend."""
    return next(other for other in _days_after(day, 3) if other.weekday() < _SATURDAY)


def other_days(session: Session) -> tuple[date, ...]:
    """Return the days that a task of the session may go to: the next week, from the day after its own or today."""
    today = local_today(session.now or session.created_at, session.tz)
    return _days_after(max(session.date, today - timedelta(days=1)), OFFERED_DAYS)


def name_day(day: date, *, seen_from: date) -> str:
    """Return ``Friday`` for a day less than a week after ``seen_from``, else the day with its date."""
    return format_weekday(day) if timedelta() < day - seen_from < _WEEK else format_day(day)


def check_other_day(session: Session, day: date, at: datetime) -> None:
    """Raise ``BadInput`` for a day to which the session can give nothing."""
    if day == session.date:
        raise BadInput(_("That is the day of this plan; choose another one."))
    today = local_today(at, session.tz)
    if day < today:
        raise BadInput(_("{day} is over; choose today or a later day.", day=format_day(day)))
    if day > today + MAX_AHEAD:
        raise BadInput(
            _("{day} {year} is more than a year away; choose a nearer day.", day=format_day(day), year=day.year)
        )


def with_sent(session: Session, tasks: tuple[Task, ...], day: date, *, plan: bool = False) -> Session:
    """Return the session with tasks on their way to another day; the tasks are off its own list already."""
    sent = tuple(SentTask(task=task, day=day, plan=plan) for task in tasks)
    ids = {task.id for task in tasks}
    others = tuple(each for each in session.open_work.sent if each.task.id not in ids)
    return session.with_open_work(sent=(*others, *sent))


def send_task(session: Session, task: Task, day: date, at: datetime) -> Session:
    """Return the session with one task of its list on its way to another day. Raises ``BadInput``."""
    check_other_day(session, day, at)
    return with_sent(session, (keep_for_later(task),), day)


def check_free(session: Session, day: date, *, join: bool) -> None:
    """Raise ``BadInput`` if the plan cannot move to ``day``, because that day has one and ``join`` is not wanted."""
    if day in session.open_work.planned_days and not join:
        raise BadInput(
            _(
                "{day} has a plan already, so I moved nothing."
                " Add the tasks to that plan instead, or choose another day.",
                day=format_day(day),
            )
        )


def find_sent(session: Session, task_id: str) -> SentTask:
    """Return a task that was sent and can be taken back.

    Raises ``BadInput`` if it is not, or if that day is on the calendar with it.
    """
    for each in session.open_work.sent:
        if each.task.id == task_id:
            check_not_settled(each)
            return each
    raise BadInput(_("That is taken back already; please look at the newest card."))


def check_not_settled(sent: SentTask) -> None:
    """Raise ``BadInput`` if the other day is on the calendar with the task, so that only its thread can change it."""
    if sent.settled:
        raise BadInput(
            _(
                "“{title}” is in the plan of {day}, which is on your calendar. Take it off there first.",
                title=sent.task.title,
                day=format_day(sent.day),
            )
        )


def check_can_return(session: Session, sent: Iterable[SentTask]) -> None:
    """Raise ``BadInput`` if a task would have to come back that is on the calendar of another day.

    ``sent`` are the tasks that stay there.
    """
    stay = {each.task.id for each in sent}
    for each in session.open_work.sent:
        if each.task.id not in stay:
            check_not_settled(each)


def without_sent(session: Session, task_id: str) -> Session:
    """Return the session without a task among the sent ones."""
    return session.with_open_work(sent=tuple(each for each in session.open_work.sent if each.task.id != task_id))


def with_sent_at(session: Session, places: Mapping[str, str], *, begun: bool = False) -> Session:
    """Return the session with the places of sent tasks, by the tasks' ids."""
    sent = (
        replace(each, place=places[each.task.id], begun=begun) if each.task.id in places else each
        for each in session.open_work.sent
    )
    return session.with_open_work(sent=tuple(sent))


def with_settled(session: Session, settled: tuple[str, ...]) -> Session:
    """Return the session with the sent tasks marked that can no longer be taken back."""
    if not settled:
        return session
    sent = (replace(each, settled=each.task.id in settled) for each in session.open_work.sent)
    return session.with_open_work(sent=tuple(sent))


def describe_arrival(tasks: tuple[Task, ...], source: date) -> str:
    """Return the line of the day that receives tasks."""
    titles = join_words([quote_title(task.title) for task in tasks], 5)
    return _("From {day}: {titles}.", day=format_day(source), titles=titles)


def describe_return(tasks: tuple[Task, ...], source: date) -> str:
    """Return the line of the day that gives tasks back."""
    titles = join_words([quote_title(task.title) for task in tasks], 5)
    return _("Back to {day}: {titles}.", day=format_day(source), titles=titles)


def bring_dated(session: Session) -> Session:
    """Return the session with the queue's tasks for its day on its list, each once."""
    mine = tuple(each for each in session.open_work.offered if _is_for(each, session))
    if not mine:
        return session
    ids = tuple(each.task.id for each in mine)
    lines = (
        _("“{title}” is for this day (from {origin}).", title=each.task.title, origin=each.origin)
        if each.origin
        else _("“{title}” is for this day, from your queue.", title=each.task.title)
        for each in mine[:5]
    )
    more = len(mine) - 5
    return (
        session.with_day(inputs=with_tasks(session.day.inputs, (each.task for each in mine)))
        .with_open_work(
            offered=tuple(each for each in session.open_work.offered if each not in mine),
            brought=tuple(dict.fromkeys((*session.open_work.brought, *ids))),
        )
        .say(*lines, *((_("And {tasks} more for this day.", tasks=count_tasks(more)),) if more > 0 else ()))
    )


def _is_for(each: OfferedInput, session: Session) -> bool:
    known = {task.id for task in session.day.inputs.tasks} | {*session.open_work.brought}
    return each.for_day == session.date and each.task.id not in known


def _days_after(day: date, count: int) -> tuple[date, ...]:
    return tuple(day + timedelta(days=n) for n in range(1, count + 1))
