"""Card of a drafted week, with a button for each day."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from fateforger.planning.block_times import task_of
from fateforger.planning.plan import WORK, resolve
from fateforger.session.cards import Button, Card, Controls, Heading, Note, Part, Prose, plain
from fateforger.session.day import busy_meetings
from fateforger.session.model import Session
from fateforger.session.queue_commands import DaysTasks, DropWeek, OpenWeek, PlanWeek, ShownWeek, WeekSpan
from fateforger.session.week import LeftTask, free_minutes_of, planned_minutes_of
from fateforger.session.zones import local_time
from fateforger.text import (
    capitalize,
    count_more,
    count_rest,
    count_tasks,
    format_day,
    format_length,
    label_text,
    limit_items,
    mark_message,
    ngettext,
)
from fateforger.text import gettext as _
from fateforger.values import replace

ADD = Button(label=mark_message("Add a task"), action="form.queue_add")
MOST_BLOCKS = 14
MOST_LEFT = 8
NOTHING = mark_message("Nothing is on your calendar yet. Each day opens in a thread of its own; you commit it there.")


@dataclass(frozen=True, slots=True)
class WeekView:
    """A week to show: its days in order, those that are drafted, and the tasks that have no place.

    ``others`` says for the other days why they have no draft.
    """

    key: str
    span: WeekSpan
    days: tuple[DaysTasks, ...]
    drafts: Mapping[date, Session]
    others: Mapping[date, str]
    left: Sequence[LeftTask] = ()


def week_card(view: WeekView) -> Card:
    first, last = view.days[0].date, view.days[-1].date
    title = _("Your week, {first} to {last}", first=format_day(first), last=format_day(last))
    if first == last:
        title = _("Your week: {day}", day=format_day(first))
    parts: list[Part] = [Heading(text=title)]
    parts += (_build_day(view, day) for day in view.days)
    parts += _list_left(view.left)
    parts += (Controls(items=tuple(_list_controls(view))), Note(text=_(NOTHING)))
    count = sum(len(day.tasks) for day in view.days)
    return Card(text=label_text(title, f"{count_tasks(count)}."), parts=tuple(parts))


def _build_day(view: WeekView, day: DaysTasks) -> Prose:
    name = f"**{capitalize(format_day(day.date))}**"
    session = view.drafts.get(day.date)
    if session is None:
        return Prose(text=label_text(name, _(view.others[day.date])))
    counted = count_tasks(len(day.tasks) - len(_list_unplaced(session)))
    facts = (
        counted,
        format_length(planned_minutes_of(session)) if day.tasks else "",
        _("{free} stay free", free=format_length(free_minutes_of(session))),
    )
    lines = [f"{name} · {' · '.join(filter(None, facts))}", _list_blocks(session)]
    lines += [_("Left out: {title} ({reason})", title=plain(t, 80), reason=r) for t, r in _list_unplaced(session)]
    open_ = OpenWeek.one.button(_write_target(view, day.date), spoken=_("Open {day}", day=format_day(day.date)))
    return Prose(text="\n".join(filter(None, lines)), control=open_)


def _list_blocks(session: Session) -> str:
    """Return the work and the meetings of a day in a line, in order: ``09:00 Report · 10:00 _Standup_``."""
    if session.planning.plan is None:
        return ""
    tasks = {task.id for task in session.day.inputs.tasks}
    found = [
        (block.start, plain(block.event.name, 60))
        for block in resolve(session.planning.plan)
        if block.event.type in WORK or task_of(block.key, tasks) is not None
    ]
    found += [(meeting.start, f"_{plain(meeting.title, 60)}_") for meeting in busy_meetings(session)]
    blocks = (f"{local_time(session, start):%H:%M} {title}" for start, title in sorted(found, key=_at))
    return " · ".join(limit_items(blocks, MOST_BLOCKS, count_more))


def _write_target(view: WeekView, chosen: date | None = None) -> str:
    shown = ShownWeek(key=view.key, span=view.span, days=view.days, chosen=chosen)
    return shown.model_dump_json(exclude_defaults=True)


def _at(found: tuple[datetime, str]) -> datetime:
    return found[0].astimezone(UTC)


def _list_unplaced(session: Session) -> tuple[tuple[str, str], ...]:
    tasks = {task.id for task in session.day.inputs.tasks}
    return tuple((each.title, each.reason) for each in session.planning.unplaced if each.task_id in tasks)


def _list_left(left: Sequence[LeftTask]) -> Iterator[Part]:
    if not left:
        return
    tasks = (
        f"- {plain(each.task.title, 80)}" + (f": {plain(each.reason, 200)}" if each.reason else "") for each in left
    )
    named = limit_items(tasks, MOST_LEFT, count_rest)
    yield Prose(text="\n".join((_("**No room on these days; they stay in your queue**"), *named)))


def _list_controls(view: WeekView) -> Iterator[Button]:
    waiting = [day for day in view.days if day.date in view.drafts]
    if waiting:
        label = ngettext("Open this day", "Open all {count} days", len(waiting))
        yield OpenWeek.all.button(_write_target(view), label=label, style="primary")
    yield PlanWeek.action.button(view.span, label=_("Plan it again"))
    yield replace(ADD, label=_(ADD.label))
    if not any(day.opened for day in view.days):
        yield DropWeek.action.button()
