"""Cards of whole sessions: the one of the current stage, those left or ended, and the welcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import assert_never

from fateforger.session.cards import (
    Button,
    Card,
    Controls,
    Heading,
    Note,
    Part,
    Prose,
    localize_row,
    plain,
)
from fateforger.session.day import find_report, is_part_left
from fateforger.session.gate import block_words
from fateforger.session.model import Session, SessionStatus
from fateforger.session.overview import frame_words
from fateforger.session.queue_commands import ReadAgain
from fateforger.session.stages import TimeboxingStage
from fateforger.text import (
    count_tasks,
    format_day,
    format_short_day,
    join_words,
    mark_message,
    ngettext,
)
from fateforger.text import gettext as _
from fateforger.ui.card_parts import MODES, START, advise_on_length, build_said_rule_button, can_carry
from fateforger.ui.day_cards import date_card, frame_card
from fateforger.ui.draft_cards import draft_card
from fateforger.ui.plan_cards import committed_card, plan_card
from fateforger.ui.task_cards import tasks_card
from fateforger.values import replace

START_AGAIN = Button(label=mark_message("Plan a day"), action="start", style="primary")


def ended_card(session: Session) -> Card:
    day = format_day(session.date)
    closed = session.stage is TimeboxingStage.REVIEW_COMMIT and session.sync.written is not None
    title = _("{day} is planned", day=day) if closed else _("Planning {day} has ended", day=day)
    parts: tuple[Part, ...] = (Heading(text=title), Prose(text=describe_remains(session)))
    return Card(text=f"{title}. {describe_remains(session)}", parts=parts)


def ended_reply(session: Session, said: str = "") -> Card:
    """Return the answer to a click, or to the words ``said``, after the end (S57). A new plan takes the words along."""
    text = _("This plan is closed, so nothing more happens here. {remains}", remains=describe_remains(session))
    start = START_AGAIN.localize()
    again = replace(start, target=said) if can_carry(said) else start
    return Card(text=text, parts=(Prose(text=text), Controls(items=(again,))))


def not_yours_card() -> Card:
    """Return the answer to a click by another person."""
    text = _("This plan belongs to somebody else, so only they can change it.")
    return Card(text=text, parts=(Prose(text=text),))


def describe_remains(session: Session) -> str:
    """Describe what remains of the session on the calendar."""
    if session.sync.written is None:
        if is_part_left(session):
            return _("Only what I left to you stays on your calendar.")
        return _("None of it is on your calendar.")
    return _("What I put on your calendar stays there.")


MOST_TASKS = 6


def left_card(session: Session, left: TimeboxingStage) -> Card:
    """Return the line for stage ``left`` of a session that is now at another stage."""
    line = _describe_back(session) if session.stage.number < left.number else _describe_done(session, left)
    return Card(text=line.replace("**", ""), parts=(Prose(text=line),))


def _describe_back(session: Session) -> str:
    undone = session.sync.last_sync is not None and session.sync.last_sync.status == "undone"
    if session.stage is TimeboxingStage.REFINE and undone:
        return _("↩ Taken back from your calendar.")
    return _("↩ Back to “{heading}”.", heading=session.stage.heading)


def _describe_done(session: Session, left: TimeboxingStage) -> str:
    match left:
        case TimeboxingStage.DATE:
            return _("✓ **{day}**, {tz} time", day=format_day(session.date), tz=session.tz)
        case TimeboxingStage.COLLECT_CONSTRAINTS:
            return _("✓ Your day: {frame}", frame=frame_words(session))
        case TimeboxingStage.CAPTURE_INPUTS:
            return f"✓ {_tasks(session)}"
        case TimeboxingStage.SKELETON:
            return _("✓ First draft: {blocks}", blocks=block_words(session))
        case TimeboxingStage.REFINE:
            return _("✓ Refined: {blocks}", blocks=block_words(session))
        case TimeboxingStage.REVIEW_COMMIT:
            return _("✓ On your calendar: {blocks}", blocks=block_words(session))
        case _:
            assert_never(left)


def _tasks(session: Session) -> str:
    tasks = session.day.inputs.tasks
    named = (f"{plain(t.title, 60)}{' ⭐' if t.one_thing else ''}" for t in tasks)
    return _("{tasks}: {titles}", tasks=count_tasks(len(tasks)), titles=join_words(named, MOST_TASKS))


def moved_card(session: Session) -> Card:
    """Return the line that is left behind when the card of a stage is shown again at the end of the thread."""
    line = _("“{heading}”: further down in this thread.", heading=session.stage.heading)
    return Card(text=line, parts=(Note(text=line),))


def root_card(session: Session) -> Card:
    """Return the line as a message, with a note if the plan was pulled from the queue."""
    line = root_line(session)
    pulled = (Note(text=_(MODES[session.options.mode])),) if session.options.mode == "executor" else ()
    return Card(text=line.replace("**", ""), parts=(Prose(text=line), *pulled))


def root_line(session: Session) -> str:
    """Return the line, such as ``Planning **Monday 2 March**: refining, 5 blocks``."""
    day = f"**{format_day(session.date)}**"
    if session.status is SessionStatus.CANCELLED:
        if session.sync.written is None:
            return _("{day}: ended", day=day)
        if session.stage is TimeboxingStage.REVIEW_COMMIT:
            return _("{day}: planned, on your calendar", day=day)
        return _("{day}: ended, on your calendar", day=day)
    match session.stage:
        case TimeboxingStage.DATE:
            return _("Planning {day}: is it the right day?", day=day)
        case TimeboxingStage.COLLECT_CONSTRAINTS:
            return _("Planning {day}: the hours of the day", day=day)
        case TimeboxingStage.CAPTURE_INPUTS:
            return _describe_inputs(session, day)
        case TimeboxingStage.SKELETON:
            return _("Planning {day}: a first draft, {blocks}", day=day, blocks=block_words(session))
        case TimeboxingStage.REFINE:
            return _("Planning {day}: refining, {blocks}", day=day, blocks=block_words(session))
        case TimeboxingStage.REVIEW_COMMIT:
            return _describe_committed(session, day)
        case _:
            assert_never(session.stage)


def _describe_inputs(session: Session, day: str) -> str:
    count = len(session.day.inputs.tasks)
    if count == 0:
        return _("Planning {day}: what to do", day=day)
    tasks = ngettext("{count} task", "{count} tasks", count)
    return _("Planning {day}: what to do, {tasks} so far", day=day, tasks=tasks)


def thread_title(session: Session) -> str:
    """Return the title of the session's thread, such as ``Mon 2 Mar: planning``."""
    day = format_short_day(session.date)
    ended = session.status is SessionStatus.CANCELLED
    there = session.sync.written is not None and find_report(session).status != "undone"
    if there and (ended or session.stage is TimeboxingStage.REVIEW_COMMIT):
        return _("{day}: on your calendar", day=day)
    return _("{day}: ended", day=day) if ended else _("{day}: planning", day=day)


def _describe_committed(session: Session, day: str) -> str:
    report = find_report(session)
    match report.status:
        case "partial" if report.unsure:
            return _("{day}: not finished, see below", day=day)
        case "partial":
            return _("{day}: only part is on your calendar", day=day)
        case "failed":
            return (
                _("{day}: not committed, see below", day=day)
                if session.sync.written
                else _("{day}: not on your calendar yet", day=day)
            )
        case "undone":
            return _("{day}: off your calendar again", day=day)
        case _:
            return _("{day}: on your calendar, {blocks}", day=day, blocks=block_words(session))


ADD_TASK = Button(label=mark_message("Add a task"), action="form.queue_add")
HELLO = mark_message(
    "I plan your day with you, step by step, and put it on your calendar. One click takes all of it off again."
)


UNHEARD = mark_message(
    "There is no language model connected, so I cannot read your message. These buttons lead through the whole day."
)


def welcome_card() -> Card:
    """Return the answer to a message that belongs to no session."""
    return Card(text=_(HELLO), parts=(Prose(text=_(HELLO)), localize_row(START, ADD_TASK)))


def unheard_card(text: str) -> Card:
    """Return the answer to a message when there is no model to read it, with the ways to keep its ``text``."""
    start = START.localize()
    buttons: tuple[Button, ...] = (start, ADD_TASK.localize())
    if can_carry(text):
        queue = Button(label=_("Put into my queue"), action="form.queue_add", target=text)
        buttons = (replace(start, target=text), queue, build_said_rule_button(text))
    parts = (Prose(text=_(UNHEARD)), *advise_on_length(text), Prose(text=_(HELLO)), Controls(items=buttons))
    return Card(text=_(HELLO), parts=parts)


UNREAD = mark_message(
    "I could not read your message, because the language model does not answer properly just now. I have kept"
    " your words. Try again in a moment, or use a button: those work without it."
)
UNREAD_LONG = mark_message(
    "I could not read your message, because the language model does not answer properly just now. Please send"
    " it again in a moment, or use a button: those work without it."
)


def unread_card(text: str) -> Card:
    """Return the answer to a first message that no model could read; ``text`` is read by *Try again*."""
    short = can_carry(text)
    said = _(UNREAD) if short else _(UNREAD_LONG)
    again = (ReadAgain.action.button(text, style="primary"),) if short else ()
    rule = (build_said_rule_button(text),) if short else ()
    buttons = (START.localize(), ADD_TASK.localize(), *rule)
    return Card(text=said, parts=(Prose(text=said), Controls(items=(*again, *buttons))))


CARDS: Mapping[TimeboxingStage, Callable[[Session], Card]] = {
    TimeboxingStage.DATE: date_card,
    TimeboxingStage.COLLECT_CONSTRAINTS: frame_card,
    TimeboxingStage.CAPTURE_INPUTS: tasks_card,
    TimeboxingStage.SKELETON: draft_card,
    TimeboxingStage.REFINE: plan_card,
    TimeboxingStage.REVIEW_COMMIT: committed_card,
}


def stage_card(session: Session) -> Card:
    """Return the card that the thread shows for a session."""
    if session.status is SessionStatus.CANCELLED:
        return ended_card(session)
    return CARDS[session.stage](session)
