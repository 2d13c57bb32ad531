"""App Home, the board of a person: their day, its threads, their rules and queue, and what is kept about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from fateforger.planning.timing import zone
from fateforger.ports.people import PersonLanguage
from fateforger.session.cards import (
    Button,
    Card,
    Choice,
    Controls,
    Divider,
    Heading,
    Note,
    Part,
    PlannedBlock,
    Prose,
    localize_row,
    name_button,
    plain,
    planned_blocks,
)
from fateforger.session.day import local_today
from fateforger.session.frame import city, local_time, zone_at
from fateforger.session.model import Session, SessionStatus
from fateforger.session.queue_commands import WRITTEN, ChooseLanguage, CorrectDuration, ForgetDuration
from fateforger.tasks.durations import Estimate, format_ratio
from fateforger.text import (
    format_day,
    format_length,
    join_sentences,
    label_text,
    list_languages,
    mark_message,
    name_language,
    ngettext,
)
from fateforger.text import gettext as _
from fateforger.ui.card_parts import START, picture
from fateforger.ui.rule_cards import ADD_DAY, POLICY, ROUTINE
from fateforger.ui.session_cards import HELLO, root_line
from fateforger.values import replace

OPEN_THREAD = "thread.open"
"""Action of the buttons that open a thread; the link does the work."""
RULES = Button(label=mark_message("Your rules"), action="form.rules")
MOST_OTHERS = 6
EXPORT = Button(label=mark_message("What you know about me"), action="person.export")
ERASE = Button(
    label=mark_message("Forget me"),
    action="person.erase",
    style="danger",
    confirm=mark_message(
        "I forget everything you told me: days, rules, tasks, and how to take back what is on your calendar. Events and"
        " messages stay where they are; to have a day taken back, press Undo in its thread first. This can't be undone."
    ),
)
YOURS = mark_message("What I know about you is yours: you can see it, and have it erased.")


@dataclass(frozen=True, slots=True)
class Board:
    """A person's days and rules, as App Home shows them.

    ``sessions`` are theirs, the last touched first, and ``links`` the addresses of the threads of some of them. ``tz``
    is their zone. ``rules`` is the number of their rules, if it is known.
    """

    now: datetime
    tz: str
    sessions: Sequence[Session] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    rules: int | None = None

    @property
    def shown(self) -> Session | None:
        """The plan that the board shows: today's, or else that of the next day that has one."""
        today = local_today(self.now, self.tz)
        alive = [s for s in self.sessions if s.date >= today and not _is_nothing(s)]
        return min(alive, key=lambda session: session.date, default=None)


def _is_nothing(session: Session) -> bool:
    """Check whether a session ended without anything on the calendar."""
    return session.status is SessionStatus.CANCELLED and session.sync.written is None


def build_own_data() -> tuple[Part, ...]:
    """Return the controls for the person's data."""
    return (Divider(), Note(text=_(YOURS)), localize_row(EXPORT, ERASE))


def refused_home_card(refusal: Card, connection: Sequence[Part] = ()) -> Card:
    """Return the App Home of a person who cannot plan here.

    It shows the reason, the ``connection`` of their calendar if there is one, and the controls for their data.
    """
    return replace(refusal, parts=(*(connection or refusal.parts), *build_own_data()))


def home_card(
    board: Board,
    queue: Sequence[Part] = (),
    spoken: PersonLanguage | None = None,
    others: Sequence[Part] = (),
) -> Card:
    """Return the App Home: today's plan, the other days, queue, rules, and controls for the person's data.

    ``others`` are the log of other agents and what is sent by itself. ``spoken`` is the language in which the person is
    answered, as far as it can be chosen.
    """
    choice = () if spoken is None else _build_language_choice(spoken)
    text, day = _build_day(board)
    parts = (*day, *_list_others(board), *queue, *_build_rules(board), *others, *choice, *build_own_data())
    return Card(text=text, parts=parts)


def _build_day(board: Board) -> tuple[str, tuple[Part, ...]]:
    """Return the text and the parts for the day that the board shows."""
    session, today = board.shown, local_today(board.now, board.tz)
    if session is None:
        heading = _("Today, {day}", day=format_day(today))
        line = _("Nothing is planned for today yet.") if board.sessions else _(HELLO)
        return _("Plan a day."), (Heading(text=heading), Prose(text=line), localize_row(START))
    is_today = session.date == today
    heading = _("Today, {day}", day=format_day(today)) if is_today else _("Next: {day}", day=format_day(session.date))
    following = _describe_next(session, board) if is_today else _("Nothing is planned for today.")
    again = replace(START.localize(), style="default", label=_("Plan another day"))
    link = board.links.get(session.id)
    to_thread = () if link is None else (_build_link(link, _("Open its thread"), session, style="primary"),)
    parts = (
        Heading(text=heading),
        Prose(text=root_line(session)),
        *((Prose(text=following),) if following else ()),
        *picture(session),
        Controls(items=(*to_thread, again)),
    )
    return heading, parts


def _describe_next(session: Session, board: Board) -> str:
    """Say which block runs and which one follows; empty while nothing of the plan is on the calendar."""
    if session.planning.plan is None or session.sync.written is None:
        return ""
    now = board.now
    blocks = planned_blocks(session.planning.plan)
    running = next((block for block in blocks if block.start <= now < block.end), None)
    following = next((block for block in blocks if block.start > now), None)
    sentences = []
    if running is not None:
        until = local_time(session, running.end)
        sentences.append(_("Now: **{title}**, until {time:%H:%M}.", title=plain(running.title), time=until))
    if following is not None:
        sentences.append(_describe_block(following, session))
    if not sentences:
        return _("All blocks of today are behind you.")
    there = zone_at(session, now)
    if now.astimezone(there).utcoffset() != now.astimezone(zone(board.tz)).utcoffset():
        sentences.append(_("The times of this day are in {city} time.", city=city(there.key)))
    return join_sentences(*sentences)


def _describe_block(block: PlannedBlock, session: Session) -> str:
    return _("Next: **{title}** at {time:%H:%M}.", title=plain(block.title), time=local_time(session, block.start))


def _build_link(link: str, label: str, session: Session, *, style: str = "default") -> Button:
    spoken = name_button(label, format_day(session.date))
    shade = "primary" if style == "primary" else "default"
    return Button(label=label, action=OPEN_THREAD, target=session.id, url=link, spoken=spoken, style=shade)


def _list_others(board: Board) -> tuple[Part, ...]:
    """Return the person's other days, each with the way to its thread."""
    others = [session for session in board.sessions if session != board.shown][:MOST_OTHERS]
    if not others:
        return ()
    rows = []
    for session in others:
        link = board.links.get(session.id)
        way = None if link is None else _build_link(link, _("Open"), session)
        rows.append(Prose(text=root_line(session), control=way))
    note = Note(text=_("Each day has its own thread; go on there where you left off."))
    return (Divider(), Heading(text=_("Your days")), *rows, note)


def _build_rules(board: Board) -> tuple[Part, ...]:
    if board.rules is None:
        line = _("I cannot read your rules just now.")
    elif not board.rules:
        line = _("I know no rules of yours yet. Tell me one, and every plan keeps it.")
    else:
        line = ngettext("I keep to {count} rule of yours.", "I keep to {count} rules of yours.", board.rules)
    return Divider(), Prose(text=line), localize_row(RULES, POLICY, ROUTINE, ADD_DAY)


def _build_language_choice(spoken: PersonLanguage) -> tuple[Part, ...]:
    choices = (
        Choice(label=_("The language I write in"), value=WRITTEN),
        *(Choice(label=name_language(code, code).capitalize(), value=code) for code in list_languages()),
    )
    select = ChooseLanguage.action.select(
        choices, placeholder=_("Language"), selected=spoken.code if spoken.chosen else WRITTEN
    )
    return Divider(), Prose(text=_("The language that I answer in"), control=select)


MOST_LISTED = 10
RATIOS = (50, 75, 100, 125, 150, 175, 200, 250, 300)
"""Choices for a correction, in percent of the planned length."""


def list_durations(estimates: Sequence[Estimate]) -> tuple[Part, ...]:
    """Return each known kind of task with its controls; nothing while no kind is known."""
    if not estimates:
        return ()
    rows = (part for each in estimates[:MOST_LISTED] for part in _build_row(each))
    more = len(estimates) - MOST_LISTED
    rest = ngettext(
        "{count} more is listed by `fateforger tasks durations`.",
        "{count} more are listed by `fateforger tasks durations`.",
        more,
    )
    hint = _("I propose these lengths, and never change yours without asking.")
    notes = (Note(text=rest),) if more > 0 else ()
    return (Divider(), Heading(text=_("How long things take you")), *rows, *notes, Note(text=hint))


def _build_row(each: Estimate) -> tuple[Part, ...]:
    spoken = name_button(_(ForgetDuration.action.label), each.name)
    choices = tuple(Choice(label=_format_choice(percent), value=f"{percent} {each.kind}") for percent in RATIOS)
    correct = CorrectDuration.action.select(choices, placeholder=_("Correct…"))
    forget = ForgetDuration.action.button(each.kind, spoken=spoken)
    return Prose(text=describe_estimate(each)), Controls(items=(correct, forget))


def describe_estimate(each: Estimate) -> str:
    """Return a line about one kind of task."""
    depth = _("deep") if each.deep else _("shallow")
    ratio = _("as long as planned") if each.ratio == 1 else _("{ratio} times as long", ratio=format_ratio(each.ratio))
    known = ngettext("from one task", "from {count} tasks", each.count)
    usual = "" if each.minutes is None else _(", usually {minutes}", minutes=format_length(each.minutes))
    source = _("as you told me") if each.corrected else known
    return label_text(f"**{plain(each.name)}** ({depth})", f"{ratio}{usual}, {source}")


def _format_choice(percent: int) -> str:
    if percent == 100:
        return _("As long as planned")
    return _("{ratio} times as long", ratio=format_ratio(percent / 100))
