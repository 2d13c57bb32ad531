"""Cards of Stages 0 and 1 (the day, its fixed events, its frame), and of a drafted week."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from fateforger.errors import BadInput
from fateforger.memory.settings import describe_wish
from fateforger.memory.vocabulary import Slot, Source
from fateforger.planning.plan import WORK, resolve
from fateforger.planning.task_details import task_of
from fateforger.planning.timing import zone
from fateforger.session.cards import (
    Button,
    Card,
    Controls,
    DatePick,
    Heading,
    Note,
    Part,
    Prose,
    TimePick,
    plain,
)
from fateforger.session.commands.day import AdjustFrame, ChooseDate, TimeboxingCommitDate
from fateforger.session.day import (
    Meeting,
    busy_meetings,
    frame_of,
    frame_span,
    has_day_ended,
    has_ended,
    has_passed,
    is_under_way,
    local_today,
    on_calendar,
    visible_start,
)
from fateforger.session.frame import TEMPLATE, FrameRule, frame_in_force, frame_rules, local_time
from fateforger.session.gate import move_token
from fateforger.session.model import Session
from fateforger.session.overview import frame_words, meeting_line
from fateforger.session.queue_commands import DaysTasks, DropWeek, OpenWeek, PlanWeek, ShownWeek, WeekSpan
from fateforger.session.stages import Move
from fateforger.session.week import LeftTask, free_minutes_of, planned_minutes_of
from fateforger.text import (
    capitalize,
    count_meetings,
    count_more,
    count_rest,
    count_tasks,
    format_day,
    format_length,
    join_words,
    label_text,
    limit_items,
    mark_message,
    ngettext,
    quote_title,
)
from fateforger.text import gettext as _
from fateforger.ui.card_parts import (
    SHOW_HISTORY,
    free_minutes,
    journey_notes,
    left_out_note,
    move_button,
    move_row,
    paragraphs,
    show_missing,
    show_notice,
)
from fateforger.ui.rule_cards import POLICY, build_add_button, rules, show_noted
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
    open_ = OpenWeek.one.button(_write_target(view, day.date), spoken=label_text(_("Open"), format_day(day.date)))
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


def _format_left(each: LeftTask) -> str:
    title = plain(each.task.title, 80)
    return label_text(title, plain(each.reason, 200)) if each.reason else title


def _list_left(left: Sequence[LeftTask]) -> Iterator[Part]:
    if not left:
        return
    tasks = (f"- {_format_left(each)}" for each in left)
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


def date_card(session: Session) -> Card:
    """Return the card: day and time zone, to change or confirm."""
    day = format_day(session.date)
    plan_it = TimeboxingCommitDate.action.button(move_token(session, Move.PROCEED), style="primary")
    change_zone = Button(label=_("Change time zone"), action="form.zone")
    return Card(
        text=_("Shall we plan {day}?", day=day),
        parts=(
            Heading(text=_("Which day shall we plan?")),
            *show_notice(session),
            Prose(
                text=_("**{day}** {year}, in {tz} time", day=day, year=session.date.year, tz=plain(session.tz)),
                control=DatePick(action=ChooseDate.pick.id, selected=session.date),
            ),
            Note(text=_calendar_status(session)),
            *show_noted(session),
            Controls(items=(plan_it, change_zone, move_button(session, Move.CANCEL))),
        ),
    )


def _calendar_status(session: Session) -> str:
    if session.day.snapshot is not None:
        return _("I have read your calendar for that day.")
    if session.day.snapshot_error is not None:
        return _(
            "I could not read your calendar yet: {snapshot_error}",
            snapshot_error=plain(session.day.snapshot_error, 300),
        )
    return _("I am already reading your calendar for that day.")


MOST_LISTED = 25


def frame_card(session: Session) -> Card:
    """Return the card: the calendar, then the frame with its controls."""
    frame = frame_in_force(session)
    return Card(
        text=_("{day}: when does your day start, and when does it end?", day=format_day(session.date)),
        parts=(
            Heading(text=_("{day}: the hours of your day", day=format_day(session.date))),
            *show_notice(session),
            *show_missing(session),
            *calendar_parts(session),
            Prose(
                text=_("**Your day starts at**"),
                control=TimePick(action=AdjustFrame.start.id, placeholder=_("Start"), selected=visible_start(session)),
            ),
            Prose(
                text=_("**Your day ends at**"),
                control=TimePick(action=AdjustFrame.end.id, placeholder=_("End"), selected=frame.day_end),
            ),
            Prose(text=frame_words(session), control=Button(label=_("Edit hours and lunch"), action="form.frame")),
            *frame_notes(session),
            *_build_clock_note(session),
            *_room(session),
            *rules(session),
            move_row(
                session,
                ((Move.PROCEED, None), (Move.BACK, None), (Move.REDO, None), (Move.CANCEL, None)),
                *build_add_button(session),
            ),
        ),
    )


_PARTS = {
    Slot.WAKE_UP: mark_message("you get up at {at:%H:%M}"),
    Slot.WORK_START: mark_message("work starts at {at:%H:%M}"),
    Slot.LUNCH: mark_message("lunch is around {at:%H:%M}"),
    Slot.WORK_END: mark_message("work ends at {at:%H:%M}"),
    Slot.BEDTIME: mark_message("you go to bed at {at:%H:%M}"),
}
_UNKNOWN: Mapping[Slot, str] = {
    Slot.WAKE_UP: mark_message("get up"),
    Slot.WORK_START: mark_message("start work"),
    Slot.LUNCH: mark_message("have lunch"),
    Slot.WORK_END: mark_message("stop working"),
    Slot.BEDTIME: mark_message("go to bed"),
}
_SOURCES = {
    Source.USER: mark_message("**From what you told me:** {parts}. What you change here counts for this day only."),
    Source.FEEDBACK: mark_message("**From what you told me:** {parts}. What you change here counts for this day only."),
    Source.CALENDAR: mark_message("**From your calendar:** {parts}. What you change here counts for this day only."),
    Source.SYSTEM: mark_message("**As I assume:** {parts}. What you change here counts for this day only."),
}


def frame_notes(session: Session) -> tuple[Part, ...]:
    """Return which parts of the frame the person's rules set, in whose words, and what is not known yet (S41, S42)."""
    rules, by_text = frame_rules(session), dict[str, list[str]]()
    for slot in TEMPLATE:
        if (rule := rules.followed.get(slot)) is not None:
            by_text.setdefault(_SOURCES[rule.version.record.source], []).append(_describe_part(rule, quoted=True))
    notes = [Note(text=_(text, parts=join_words(parts))) for text, parts in by_text.items()]
    other = [_describe_part(rule, quoted=False) for rule in rules.overridden.values()]
    if other:
        notes.append(Note(text=_("This day is different. Usually: {parts}.", parts=join_words(other))))
    recalled = session.rules.recalled
    if recalled is None or recalled.trouble is not None or not rules.unknown:
        return tuple(notes)
    things = join_words([_(_UNKNOWN[slot]) for slot in rules.unknown])
    unknown = _("I do not know yet when you {things}. Tell me once, and I keep to it.", things=things)
    return (*notes, Prose(text=unknown, control=POLICY.localize()))


def _describe_part(rule: FrameRule, *, quoted: bool) -> str:
    """Return a part of the frame; ``quoted`` adds the words of the rule, unless they say the same."""
    record = rule.version.record
    part = _("lunch is as you said") if rule.at is None else _(_PARTS[rule.slot], at=rule.at)
    if not quoted or record.words == describe_wish(record):
        return part
    return f"{part} ({quote_title(plain(record.words, 60), 120)})"


def calendar_parts(session: Session) -> tuple[Part, ...]:
    """Return the calendar events, or the reason why they are not known; an unread day is never shown as empty."""
    if session.day.snapshot is None:
        if session.day.snapshot_error is None:
            return (
                Note(
                    text=_(
                        "I am still reading your calendar. Your meetings appear here in a moment; you can"
                        " go on meanwhile."
                    )
                ),
            )
        return (
            Prose(
                text=_(
                    "⚠️ I could not read your calendar: {snapshot_error} So I do not know your meetings yet.",
                    snapshot_error=plain(session.day.snapshot_error, 300),
                ),
                control=move_button(session, Move.REDO, _("Try again")),
            ),
        )
    day = on_calendar(session)
    parts: list[Part] = []
    if session.day.snapshot_error is not None:
        parts.append(
            Note(
                text=_(
                    "This is as I last saw it: {snapshot_error}", snapshot_error=plain(session.day.snapshot_error, 300)
                )
            )
        )
    if day.timed:
        heading = _("**On your calendar: {meetings}**", meetings=count_meetings(len(day.timed)))
        lines = limit_items(
            [f"- {_line(session, m)}" for m in day.timed],
            MOST_LISTED,
            lambda more: "- " + count_rest(more),
        )
        parts += paragraphs("\n".join((heading, *lines)))
    else:
        parts.append(Prose(text=_("**On your calendar: no meetings**")))
    parts += journey_notes(session)
    if day.all_day:
        titles = limit_items([plain(title, 60) for title in day.all_day], 8, count_more)
        parts.append(Note(text=_("All day: {titles}", titles=" · ".join(titles))))
    if day.earlier:
        count = len(day.earlier)
        text = ngettext(
            "Also a block from an earlier plan of mine; a new plan takes its place.",
            "Also {count} blocks from an earlier plan of mine; a new plan takes their place.",
            count,
        )
        parts.append(Prose(text=text, control=SHOW_HISTORY.localize()))
    return (*parts, *left_out_note(session))


def _line(session: Session, meeting: Meeting) -> str:
    """Return the line of a meeting, marked if it is over."""
    line = meeting_line(session, meeting)
    return _("{line} (over)", line=line) if has_passed(session, meeting) else line


def _build_clock_note(session: Session) -> tuple[Part, ...]:
    """Return a note on the current time within the frame; nothing for a day that has not begun."""
    if has_day_ended(session):
        return (Controls(items=(_next_day(session), *_later_ends(session))),)
    if not is_under_way(session):
        return ()
    return (Note(text=_("I plan from {frame:%H:%M} on; what is before that is past.", frame=frame_of(session)[0])),)


def _next_day(session: Session) -> Button:
    assert session.now is not None  # noqa: S101  an ended day has a clock
    day = max(session.date + timedelta(days=1), local_today(session.now, session.tz))
    if has_ended(day, session.tz, frame_in_force(session), session.now):
        day += timedelta(days=1)
    return ChooseDate.other_day.button(day.isoformat(), label=_("Plan {day}", day=format_day(day)), style="primary")


def _later_ends(session: Session) -> Iterator[Button]:
    """Yield later ends of the day, on the hour, as far as they belong to this day."""
    assert session.now is not None  # noqa: S101  as above
    local = session.now.astimezone(zone(session.tz)).replace(minute=0, second=0, microsecond=0)
    for hours in (2, 4):
        until = local + timedelta(hours=hours)
        longer = replace(frame_in_force(session), day_end=until.time())
        try:
            reaches = frame_span(session.date, session.tz, longer)[1]
        except BadInput:
            continue
        if reaches.replace(tzinfo=None) == until.replace(tzinfo=None):
            yield AdjustFrame.until.button(f"{until:%H:%M}", label=_("End at {until:%H:%M}", until=until))


def _room(session: Session) -> tuple[Part, ...]:
    free = free_minutes(session)
    return () if free is None else (Note(text=_("That leaves {free} without meetings.", free=format_length(free))),)
