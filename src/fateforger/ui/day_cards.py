"""Cards of Stages 0 and 1: the day, its fixed events, and its frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta

from fateforger.errors import BadInput
from fateforger.memory.settings import describe_wish
from fateforger.memory.vocabulary import Slot, Source
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
from fateforger.session.frame import TEMPLATE, FrameRule, frame_in_force, frame_rules
from fateforger.session.gate import move_token
from fateforger.session.model import Session
from fateforger.session.overview import frame_words, meeting_line
from fateforger.session.stages import Move
from fateforger.text import (
    count_meetings,
    count_more,
    count_rest,
    format_day,
    format_length,
    join_words,
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
