"""Cards of whole sessions: the one of the current stage, those left or ended, the welcome, and App Home."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import assert_never

from fateforger.session.cards import Button, Card, Controls, Divider, Heading, Note, Part, Prose, plain
from fateforger.session.day import day_words, frame_words
from fateforger.session.gate import block_words
from fateforger.session.model import Session, SessionStatus
from fateforger.session.stages import TimeboxingStage
from fateforger.text import format_count, join_words
from fateforger.ui.day_cards import date_card, frame_card
from fateforger.ui.draft_cards import draft_card
from fateforger.ui.plan_cards import committed_card, plan_card
from fateforger.ui.rule_cards import ADD_DAY
from fateforger.ui.task_cards import tasks_card

START_AGAIN = Controls(items=(Button(label="Plan a day", action="start", style="primary"),))


def ended_card(session: Session) -> Card:
    """Return the last card of a session."""
    day = day_words(session.date)
    closed = session.stage is TimeboxingStage.REVIEW_COMMIT and session.sync.written is not None
    title = f"{day} is planned" if closed else f"Planning {day} has ended"
    parts: tuple[Part, ...] = (Heading(text=title), Prose(text=describe_remains(session)))
    return Card(text=f"{title}. {describe_remains(session)}", parts=parts)


def ended_reply(session: Session) -> Card:
    """Return the answer to a click or message after the end (S57)."""
    text = f"This session has ended, so nothing more happens here. {describe_remains(session)}"
    return Card(text=text, parts=(Prose(text=text), START_AGAIN))


def not_yours_card() -> Card:
    """Return the answer to a click by another person."""
    text = "This planning session is somebody else's; only they can change it."
    return Card(text=text, parts=(Prose(text=text),))


def describe_remains(session: Session) -> str:
    """Describe what remains of the session on the calendar."""
    if session.sync.written is None:
        return "Nothing of it is on your calendar."
    return "What I put on your calendar stays there."


MOST_TASKS = 6


def left_card(session: Session, left: TimeboxingStage) -> Card:
    """Return the line for stage ``left`` of a session that is now at another stage."""
    line = _describe_back(session) if session.stage.number < left.number else _describe_done(session, left)
    return Card(text=line.replace("**", ""), parts=(Prose(text=line),))


def _describe_back(session: Session) -> str:
    undone = session.sync.last_sync is not None and session.sync.last_sync.status == "undone"
    if session.stage is TimeboxingStage.REFINE and undone:
        return "↩ Taken back from your calendar."
    return f"↩ Back to: {session.stage.heading.lower()}."


def _describe_done(session: Session, left: TimeboxingStage) -> str:
    match left:
        case TimeboxingStage.DATE:
            return f"✓ **{day_words(session.date)}**, {session.tz} time"
        case TimeboxingStage.COLLECT_CONSTRAINTS:
            return f"✓ Your day: {frame_words(session)}"
        case TimeboxingStage.CAPTURE_INPUTS:
            return f"✓ {_tasks(session)}"
        case TimeboxingStage.SKELETON:
            return f"✓ First draft: {block_words(session)}"
        case TimeboxingStage.REFINE:
            return f"✓ Refined: {block_words(session)}"
        case TimeboxingStage.REVIEW_COMMIT:
            return f"✓ On your calendar: {block_words(session)}"
        case _:
            assert_never(left)


def _tasks(session: Session) -> str:
    tasks = session.day.inputs.tasks
    named = (f"{plain(t.title, 60)}{' ⭐' if t.one_thing else ''}" for t in tasks)
    return f"{format_count(len(tasks), 'task')}: {join_words(named, MOST_TASKS)}"


def root_card(session: Session) -> Card:
    """Return the line as a message."""
    line = root_line(session)
    return Card(text=line.replace("**", ""), parts=(Prose(text=line),))


def root_line(session: Session) -> str:
    """Return the line, such as ``Planning **Monday 2 March**: refining, 5 blocks``."""
    day = f"**{day_words(session.date)}**"
    if session.status is SessionStatus.CANCELLED:
        kept = ", on your calendar" if session.sync.written is not None else ""
        done = session.stage is TimeboxingStage.REVIEW_COMMIT and session.sync.written is not None
        return f"{day}: {'planned' if done else 'ended'}{kept}"
    match session.stage:
        case TimeboxingStage.DATE:
            return f"Planning {day}: is it the right day?"
        case TimeboxingStage.COLLECT_CONSTRAINTS:
            return f"Planning {day}: the frame of the day"
        case TimeboxingStage.CAPTURE_INPUTS:
            count = len(session.day.inputs.tasks)
            return f"Planning {day}: what to do, {format_count(count, 'task')} so far"
        case TimeboxingStage.SKELETON:
            return f"Planning {day}: a first draft, {block_words(session)}"
        case TimeboxingStage.REFINE:
            return f"Planning {day}: refining, {block_words(session)}"
        case TimeboxingStage.REVIEW_COMMIT:
            return _describe_committed(session, day)
        case _:
            assert_never(session.stage)


def _describe_committed(session: Session, day: str) -> str:
    match session.sync.last_sync.status if session.sync.last_sync else "unchanged":
        case "partial" if session.sync.last_sync is not None and session.sync.last_sync.unsure:
            return f"{day}: not finished, see below"
        case "partial":
            return f"{day}: only a part is on your calendar"
        case "failed":
            return f"{day}: not committed, see below" if session.sync.written else f"{day}: not on your calendar yet"
        case _:
            return f"{day}: on your calendar, {block_words(session)}"


START = Button(label="Plan my day", action="start", style="primary")
RULES = Button(label="Your rules", action="form.rules")
ADD_TASK = Button(label="Add a task", action="form.queue_add")
EXPORT = Button(label="What you know about me", action="person.export")
ERASE = Button(
    label="Forget me",
    action="person.erase",
    confirm=(
        "I forget everything you told me: days, rules, tasks, and how to take back what is on your calendar. Events and"
        " messages stay where they are; to have a day taken back, press Undo in its thread first. This can't be undone."
    ),
)
YOURS = "What I keep about you is yours: to see, and to have erased."
HELLO = "I plan a day with you, step by step, and put it on your calendar. You can take it back, whole."


KEPT = (Divider(), Note(text=YOURS), Controls(items=(EXPORT, ERASE)))


def welcome_card() -> Card:
    """Return the answer to a message that belongs to no session."""
    return Card(text=HELLO, parts=(Prose(text=HELLO), Controls(items=(START, ADD_TASK))))


def refused_home_card(why: str) -> Card:
    """Return the App Home of a person who cannot plan here: the reason, and the controls for their data."""
    return Card(text=why, parts=(Prose(text=why), *KEPT))


def home_card(sessions: Sequence[Session], queue: Sequence[Part] = ()) -> Card:
    """Return the App Home: start button, sessions (most recent first), queue, and controls for the person's data."""
    parts: list[Part] = [Heading(text="Your days"), Prose(text=HELLO), Controls(items=(START, RULES, ADD_DAY))]
    if sessions:
        parts += [Divider(), *(Prose(text=root_line(session)) for session in sessions)]
        parts.append(Note(text="Each day has its own thread; go on there where you left off."))
    latest = f" Last: {day_words(sessions[0].date)}." if sessions else ""
    return Card(text=f"Plan a day.{latest}", parts=(*parts, *queue, *KEPT))


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
