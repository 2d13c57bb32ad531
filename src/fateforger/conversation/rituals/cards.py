"""Cards of these messages, and the reports of days and weeks that they show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from itertools import chain
from typing import Literal

from fateforger.conversation.queue.cards import SHOW, build_reply
from fateforger.conversation.rituals.schedule import NUMBERS
from fateforger.memory.vocabulary import Weekday
from fateforger.planning.plan import resolve
from fateforger.planning.task_details import task_of
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
from fateforger.session.frame import frame_in_force
from fateforger.session.model import Session
from fateforger.session.open_work import OWED
from fateforger.session.overview import frame_words, meeting_line
from fateforger.session.placement import by_time
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
from fateforger.session.replanning import task_id_of
from fateforger.tasks.queue import describe_due_by
from fateforger.tasks.task import Do, QueuedTask, TaskState, read_task_id
from fateforger.text import (
    capitalize,
    count_more,
    count_rest,
    format_day,
    format_length,
    join_words,
    label_text,
    limit_items,
    ngettext,
    quote_title,
)
from fateforger.text import gettext as _
from fateforger.values import replace

State = Literal["done", "moved", "open"]
OFTEN = 2
"""Days on which a task was left before it counts as one that keeps being moved."""
USUAL_MINUTES = 60
MOST_ADVISED = 4 * 60
"""Most minutes that a suggestion blocks for one task."""


@dataclass(frozen=True, slots=True)
class DayItem:
    """A task of a day's plan, and what became of it on that day."""

    id: str
    title: str
    minutes: int
    state: State


@dataclass(frozen=True, slots=True)
class DayReport:
    day: date
    items: tuple[DayItem, ...]

    def titles(self, state: State) -> tuple[str, ...]:
        return tuple(item.title for item in self.items if item.state == state)

    def count_minutes(self, state: State) -> int:
        return sum(item.minutes for item in self.items if item.state == state)


def report_day(session: Session) -> DayReport:
    """Return how the committed plan of a session went, as far as the person said; planned tasks first, in order."""
    done = session.open_work.settled
    found: dict[str, DayItem] = {}
    for item in chain(_list_planned(session), _list_finished(session), _list_unplaced(session)):
        state: State = "done" if task_of(item.id, done) is not None else "open"
        found.setdefault(item.id, replace(item, state=state))
    moved = (*session.open_work.deferred, *(sent.task for sent in session.open_work.sent))
    for task in moved:
        there = found.get(task.id)
        item = DayItem(task.id, task.title, task.minutes or USUAL_MINUTES, "moved")
        found[task.id] = item if there is None else replace(there, state="moved")
    return DayReport(session.date, tuple(found.values()))


def _list_planned(session: Session) -> Iterator[DayItem]:
    """Yield the work and errands that have blocks."""
    plan = session.planning.plan
    if plan is None:
        return
    titles = {task.id: task.title for task in session.day.inputs.tasks}
    minutes: Counter[str] = Counter()
    names: dict[str, str] = {}
    for block in by_time(plan):
        if block.event.type in OWED:
            name = task_of(block.key, session.open_work.settled) or task_id_of(session, block)
            minutes[name] += block.minutes
            names.setdefault(name, titles.get(name, block.event.name))
    yield from (DayItem(name, title, minutes[name], "open") for name, title in names.items())


def _list_finished(session: Session) -> Iterator[DayItem]:
    """Yield the tasks that were done before their blocks began. These are gone; an earlier change knows them."""
    for step in session.sync.refine_undo:
        if step.facts_before is None:
            continue
        blocks = resolve(step.plan_before)
        for task in step.facts_before.inputs.tasks:
            if task_of(task.id, session.open_work.settled) is not None:
                mine = sum(block.minutes for block in blocks if task_of(block.key, [task.id]))
                yield DayItem(task.id, task.title, mine or task.minutes or USUAL_MINUTES, "done")


def _list_unplaced(session: Session) -> Iterator[DayItem]:
    """Yield the tasks that found no place."""
    tasks = {task.id: task for task in session.day.inputs.tasks}
    for each in session.planning.unplaced:
        task = tasks.get(each.task_id)
        if task is not None:
            yield DayItem(task.id, task.title, task.minutes or USUAL_MINUTES, "open")


@dataclass(frozen=True, slots=True)
class Moved:
    """A task that was left on several ``days``, and is not done."""

    item: DayItem
    days: tuple[date, ...]


@dataclass(frozen=True, slots=True)
class WeekReport:
    """Report of a week. Each task counts once: as done if it was done on any day, else as its last day left it."""

    days: tuple[DayReport, ...]
    tasks: tuple[DayItem, ...]
    kept_moving: tuple[Moved, ...]

    def number_of(self, state: State) -> int:
        return sum(item.state == state for item in self.tasks)


def report_week(sessions: Iterable[Session], ended: frozenset[str] = frozenset()) -> WeekReport:
    """Return how the days with a plan on the calendar went. ``ended`` are tasks of the queue that are over by now."""
    committed = sorted((s for s in sessions if s.sync.written is not None), key=lambda s: (s.date, s.touched_at))
    latest = {session.date: session for session in committed}
    aliases = _find_aliases(latest.values())
    days = tuple(_rename(report_day(session), aliases) for session in latest.values())
    tasks: dict[str, DayItem] = {}
    left: dict[str, list[date]] = {}
    for report in days:
        for item in report.items:
            if item.state != "done":
                left.setdefault(item.id, []).append(report.day)
            if item.id not in tasks or tasks[item.id].state != "done":
                tasks[item.id] = item
    tasks = {name: replace(item, state="done") if name in ended else item for name, item in tasks.items()}
    often = (Moved(tasks[name], tuple(on)) for name, on in left.items() if len(on) >= OFTEN)
    kept = sorted((each for each in often if each.item.state != "done"), key=lambda each: -len(each.days))
    return WeekReport(days, tuple(tasks.values()), tuple(kept))


def _find_aliases(sessions: Iterable[Session]) -> Mapping[str, str]:
    """Return the ids in the queue of tasks that days gave to it."""
    found: dict[str, str] = {}
    for session in sessions:
        returned = session.open_work.returned
        found |= {each.id: each.queued for each in (() if returned is None else returned.tasks)}
        found |= {sent.task.id: sent.place for sent in session.open_work.sent if read_task_id(sent.place) == sent.place}
    return found


def _rename(report: DayReport, aliases: Mapping[str, str]) -> DayReport:
    return replace(report, items=tuple(replace(item, id=aliases.get(item.id, item.id)) for item in report.items))


def advise(report: WeekReport, sessions: Sequence[Session], days: Sequence[Weekday]) -> Advice | None:
    """Return time for the task that was moved most often, as the next week begins; ``None`` without such a task.

    ``sessions`` are those of the week, of which the latest one says when days begin; ``days`` are those with messages.
    """
    if not report.kept_moving:
        return None
    task, last = report.kept_moving[0].item, max(session.date for session in sessions)
    latest = max(sessions, key=lambda session: session.date)
    wanted = {NUMBERS[each] for each in days}
    monday = last + timedelta(days=7 - last.weekday())
    day = next(day for n in range(7) if (day := monday + timedelta(days=n)).weekday() in wanted)
    start = frame_in_force(latest).day_start
    return Advice(
        task=task.id,
        title=task.title[:300],
        minutes=max(1, min(task.minutes, MOST_ADVISED)),
        date=day,
        start=time(start.hour, start.minute),
    )


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
        text=label_text(title, f"{counts}."),
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
