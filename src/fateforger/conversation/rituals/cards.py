"""Cards of these messages: the one that begins a day, the one that closes it, and the review of a week."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from fateforger.conversation.queue.cards import SHOW, build_reply
from fateforger.conversation.rituals.report import DayItem, DayReport, Moved, WeekReport
from fateforger.session.cards import (
    Button,
    Card,
    Controls,
    DayBar,
    Heading,
    Note,
    Part,
    Picture,
    Prose,
    WeekBars,
    name_button,
    plain,
)
from fateforger.session.day import has_day_ended, on_calendar
from fateforger.session.model import Session
from fateforger.session.overview import frame_words, meeting_line
from fateforger.session.queue_commands import (
    Advice,
    AnswerMorning,
    ChangeRituals,
    FollowAdvice,
    PartOfDay,
    PlanWeek,
    RitualKind,
    SettleDay,
)
from fateforger.tasks.queue import describe_due_by
from fateforger.tasks.task import Do, QueuedTask, TaskState
from fateforger.text import (
    capitalize,
    count_more,
    count_rest,
    format_day,
    format_length,
    join_words,
    limit_items,
    ngettext,
    quote_title,
)
from fateforger.text import gettext as _

MOST_LISTED = 12
MOST_NAMED = 5


def _stop_button(kind: RitualKind) -> Button:
    return ChangeRituals.stop.button(kind)


def morning_card(session: Session, queue: Sequence[QueuedTask]) -> Card:
    """Return the message that begins a day: what is known of it. ``session`` is not stored."""
    day = format_day(session.date)
    frame = () if has_day_ended(session) else (_("Your day: {frame}", frame=frame_words(session)),)
    due = [_describe_due(task, session.date) for task in queue if is_due(task, session.date)]
    waiting = (_("In your queue: {tasks}", tasks=" · ".join(limit_items(due, MOST_NAMED, count_more))),) if due else ()
    lines = (*frame, *_list_meetings(session), *waiting)
    return Card(
        text=_("Good morning. Shall we plan {day}?", day=day),
        parts=(
            Heading(text=_("Good morning: {day}", day=day)),
            Prose(text="\n".join(lines)),
            Controls(
                items=(
                    AnswerMorning.begin.button(session.date.isoformat(), style="primary"),
                    AnswerMorning.not_today.button(session.date.isoformat()),
                    _stop_button("morning"),
                )
            ),
        ),
    )


def is_due(task: QueuedTask, day: date) -> bool:
    """Check whether a task of the queue is due by a day, or kept for it."""
    details = task.spec.details
    if task.state not in {TaskState.ACTIVE, TaskState.WAITING} or not isinstance(task.spec.work, Do):
        return False
    return (details.due_day is not None and details.due_day <= day) or details.from_day == day


def _describe_due(task: QueuedTask, day: date) -> str:
    due = describe_due_by(task, day)
    title = plain(task.spec.title, 60)
    return f"{title} ({due})" if due else title


def _list_meetings(session: Session) -> tuple[str, ...]:
    if session.day.snapshot is None:
        return (_("I could not read your calendar just now."),)
    meetings = on_calendar(session).timed
    if not meetings:
        return (_("No meetings are on your calendar."),)
    lines = [f"- {meeting_line(session, meeting)}" for meeting in meetings]
    return (_("On your calendar:"), *limit_items(lines, MOST_LISTED, lambda more: f"- {count_rest(more)}"))


def not_today_card(day: date) -> Card:
    """Return what takes the place of a morning message whose day is not planned."""
    text = _("No plan for {day}, then. Write to me whenever you want one.", day=format_day(day))
    return build_reply(text, AnswerMorning.begin.button(day.isoformat()))


def begun_card(day: date) -> Card:
    """Return what takes the place of a morning message whose day is planned in its thread."""
    return build_reply(_("**{day}**: we plan it in this thread.", day=capitalize(format_day(day))))


def already_card(day: date) -> Card:
    """Return what takes the place of a morning message whose day was begun elsewhere."""
    return build_reply(_("{day} is being planned already, in its own thread.", day=capitalize(format_day(day))))


def day_card(session: Session, report: DayReport) -> Card:
    """Return the message that closes a day: each task that is open, and what is done or moved."""
    day = format_day(session.date)
    done = [item for item in report.items if item.state == "done"]
    open_ = [item for item in report.items if item.state == "open"]
    parts: list[Part] = [Heading(text=_("{day}: how did it go?", day=day))]
    parts += _list_rows(session, (*open_, *done))
    parts += _list_moved(report)
    if not open_:
        parts.append(Prose(text=_("All of it is done or has another day. Well done.")))
    close = (
        SettleDay.close.button(session.id, style="primary"),
        *((SettleDay.close_for_tomorrow.button(session.id),) if open_ else ()),
        _stop_button("shutdown"),
    )
    count = ngettext("{count} task is open.", "{count} tasks are open.", len(open_))
    return Card(text=f"{_('{day}: how did it go?', day=day)} {count}", parts=(*parts, Controls(items=close)))


def _list_rows(session: Session, items: Sequence[DayItem]) -> Iterator[Part]:
    for item in items[:MOST_LISTED]:
        done = item.state == "done"
        action, mark = (SettleDay.untick, "✓") if done else (SettleDay.tick, "○")
        target, label = PartOfDay(session=session.id, task=item.id).model_dump_json(), _(action.label)
        control = action.button(target, spoken=name_button(label, item.title))
        yield Prose(text=f"{mark} **{plain(item.title)}** · {format_length(item.minutes)}", control=control)
    if len(items) > MOST_LISTED:
        yield Note(text=capitalize(count_rest(len(items) - MOST_LISTED)))


def _list_moved(report: DayReport) -> tuple[Part, ...]:
    moved = report.titles("moved")
    return (Prose(text=_("Moved to another day: {titles}.", titles=_name(moved))),) if moved else ()


def closed_card(session: Session, report: DayReport, back: Sequence[QueuedTask], day: date | None) -> Card:
    """Return what takes the place of the message once the day is closed.

    ``back`` are the tasks that went to the queue, kept for ``day`` if it is given.
    """
    done = sum(item.state == "done" for item in report.items)
    lines = [
        _("**{day} is closed.**", day=capitalize(format_day(session.date))),
        ngettext("{count} task is done.", "{count} tasks are done.", done),
    ]
    if back:
        titles = _name(task.spec.title for task in back)
        lines.append(
            _("Back in your queue: {titles}.", titles=titles)
            if day is None
            else _("Kept for {day}: {titles}.", day=format_day(day), titles=titles)
        )
    return build_reply(" ".join(lines), SettleDay.reopen.button(session.id), SHOW.localize())


def _name(titles: Iterable[str]) -> str:
    return join_words([quote_title(plain(title, 60), 80) for title in titles], MOST_NAMED)


def review_card(report: WeekReport, advice: Advice | None, *, asked: bool) -> Card:
    """Return the review of a week; one that was ``asked`` for cannot be switched off on it."""
    stop = () if asked else (_stop_button("review"),)
    if not report.tasks:
        text = _("Nothing was planned this week, so there is nothing to look back on.")
        return build_reply(text, PlanWeek.action.button(), *stop)
    title = _name_week(report)
    counts = _describe_counts(report)
    return Card(
        text=f"{title}: {counts}.",
        parts=(
            Heading(text=title),
            Prose(text=f"**{counts}**"),
            Picture(day=WeekBars(days=tuple(_build_bar(day) for day in report.days))),
            *_list_kept_moving(report.kept_moving),
            _build_advice(report, advice),
            *((Controls(items=stop),) if stop else ()),
        ),
    )


def _describe_counts(report: WeekReport) -> str:
    done, moved, left = (report.number_of(state) for state in ("done", "moved", "open"))
    found = (
        ngettext("{count} done", "{count} done", done),
        ngettext("{count} moved", "{count} moved", moved) if moved else "",
        ngettext("{count} left open", "{count} left open", left) if left else "",
    )
    planned = ngettext("{count} task planned", "{count} tasks planned", len(report.tasks))
    return " · ".join((planned, *filter(None, found)))


def _build_bar(report: DayReport) -> DayBar:
    done, moved, left = (report.count_minutes(state) for state in ("done", "moved", "open"))
    return DayBar(date=report.day, done=done, moved=moved, left=left)


def _name_week(report: WeekReport) -> str:
    first, last = report.days[0].day, report.days[-1].day
    if first == last:
        return _("Your week: {day}", day=format_day(first))
    return _("Your week, {first} to {last}", first=format_day(first), last=format_day(last))


def _list_kept_moving(kept: Sequence[Moved]) -> tuple[Part, ...]:
    if not kept:
        return ()
    lines = [
        _(
            "- {title}: left on {days}",
            title=plain(each.item.title, 80),
            days=join_words(format_day(day) for day in each.days),
        )
        for each in kept[:MOST_NAMED]
    ]
    return (Prose(text="\n".join((_("What kept being moved:"), *lines))),)


def _build_advice(report: WeekReport, advice: Advice | None) -> Prose:
    """Return one suggestion, with one control that carries it out."""
    if advice is not None:
        times = len(report.kept_moving[0].days)
        text = ngettext(
            "{title} was left {count} time. Block {day} at {time:%H:%M} for it?",
            "{title} was left {count} times. Block {day} at {time:%H:%M} for it?",
            times,
            title=quote_title(plain(advice.title, 80), 120),
            day=format_day(advice.date),
            time=advice.start,
        )
        return Prose(text=text, control=FollowAdvice.action.button(advice.model_dump_json()))
    plan = PlanWeek.action.button("next", label=_("Plan next week"))
    if report.number_of("open") or report.number_of("moved"):
        return Prose(text=_("What is left has room next week. Shall I spread it over your days?"), control=plan)
    return Prose(text=_("Everything that you planned is done. Shall we plan the next week?"), control=plan)
