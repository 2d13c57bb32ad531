"""Card of Stage 4: the plan, block by block."""

from __future__ import annotations

from fateforger.drafting import in_words
from fateforger.plan import Resolved
from fateforger.session.cards import Button, Card, Choice, Controls, Heading, Menu, Note, Part, Prose, Select, plain
from fateforger.session.days import day_words
from fateforger.session.differences import span
from fateforger.session.gates import block_words
from fateforger.session.meetings import on_calendar
from fateforger.session.model import Session
from fateforger.session.overview import block_title, clip_span
from fateforger.session.pending import held_question, write_question
from fateforger.session.pictured import picture
from fateforger.session.placing import by_time
from fateforger.session.questions import open_questions
from fateforger.session.writing import writes_at_once
from fateforger.stages import Move
from fateforger.turn.constants import MOST_ROWS
from fateforger.turn.present import fitting, history, preview
from fateforger.turn.present.advice import list_suggestions
from fateforger.turn.present.day_rules import unkept_rules
from fateforger.turn.present.parts import (
    move_button,
    move_row,
    quality_note,
    show_missing,
    show_notice,
    unread_note,
    warnings,
)
from fateforger.turn.present.questions import questions, questions_words
from fateforger.turn.present.replanning import build_progress_controls, offer_refit
from fateforger.turn.present.rules import build_add_button, rules

MOST_MEETINGS = 12
MOST_ASKED = 100
"""Choices that fit into a select."""
ORDER = (
    (Move.UNDO_LAST_UPDATE, None),
    (Move.PROCEED, "Commit to calendar"),
    (Move.BACK, None),
    (Move.REDO, None),
    (Move.UNDO_SYNC, "Take all of it off the calendar"),
    (Move.CANCEL, None),
)


def card(session: Session) -> Card:
    """Return the card: blocks with their menus, meetings, and the state of plan and calendar."""
    day = day_words(session.date)
    chain = by_time(session.plan) if session.plan else ()
    rows = tuple(
        _row(session, block, first=at == 0, only=len(chain) == 1) for at, block in enumerate(chain[:MOST_ROWS])
    )
    return Card(
        text=f"Refine {day}: {block_words(session)}.{questions_words(session)}",
        parts=(
            Heading(text=f"Refine {day}"),
            *show_notice(session),
            *_build_held(session),
            *_trouble(session),
            *questions(session),
            *(unread_note(session) if session.problem is None else ()),
            *show_missing(session),
            *warnings(session),
            *offer_refit(session),
            *rows,
            *_more(chain[MOST_ROWS:]),
            Controls(
                items=(
                    Button(label="Add block", action="form.add_block"),
                    *((preview.SHOW,) if preview.is_offered(session) else ()),
                    history.SHOW,
                    *build_add_button(session),
                    *_build_explanation_select(chain),
                )
            ),
            *build_progress_controls(session),
            *picture(session, changed=True),
            *_meetings(session),
            *unkept_rules(session),
            *fitting.list_unplaced(session),
            *quality_note(session.quality),
            *list_suggestions(session),
            *rules(session),
            *_when_written(session),
            move_row(session, ORDER),
        ),
    )


def _when_written(session: Session) -> tuple[Part, ...]:
    """Return the setting for when changes are written, with its effect, so that no write is a surprise (K1)."""
    if session.problem is not None:
        return ()
    return (Prose(text=_when_words(session), control=_when_choice(session)),)


def _when_words(session: Session) -> str:
    if session.calendar_write == "commit":
        hint = "; Preview shows what would" if preview.is_offered(session) else ""
        return f"Nothing goes to your calendar before you commit{hint}."
    if not writes_at_once(session):
        if session.written is not None:
            return "Nothing more goes to your calendar until this plan is Okay (2 of 4) again."
        return "Nothing goes to your calendar yet: once this plan is Okay (2 of 4), it goes there by itself."
    if session.written is None:
        return "Your first change puts the plan on your calendar, and each further one follows at once."
    if any(not (step.transactions or step.local) for step in session.refine_undo):
        return "Your next change puts all of this on your calendar, and each further one follows at once."
    but = ", but for what is asked above" if open_questions(session) else ""
    return f"Your calendar shows this plan{but}; each change goes there at once."


def _when_choice(session: Session) -> Select:
    choices = (
        Choice(label="With each change", value="refine"),
        Choice(label="Once the plan is Okay", value="okay"),
        Choice(label="Only on Commit", value="commit"),
    )
    return Select(
        action="set_calendar_write",
        placeholder="Write to calendar",
        choices=choices,
        selected=session.calendar_write,
    )


def _row(session: Session, block: Resolved, *, first: bool, only: bool) -> Prose:
    """Return the row of a block.

    Slack's small menu has room for five choices; swapping with the block before covers every pair.
    """
    choices = [
        Choice(label="Edit…", value="form.edit_block"),
        Choice(label="15 min earlier", value="block.earlier"),
        Choice(label="15 min later", value="block.later"),
        Choice(label="Swap with the next", value="block.swap_down")
        if first
        else Choice(label="Swap with the one before", value="block.swap_up"),
        Choice(label="Remove", value="block.remove"),
    ]
    if only:
        del choices[3]
    notes = f"\n{plain(block.event.description, 160)}" if block.event.description.strip() else ""
    return Prose(
        text=f"{block_title(session, block)} · {in_words(block.minutes)}{notes}",
        control=Menu(choices=tuple(choices), target=block.key),
    )


def _more(rest: tuple[Resolved, ...]) -> tuple[Part, ...]:
    if not rest:
        return ()
    choices = tuple(map(_build_choice, rest))
    picker = Select(action="form.edit_block", placeholder=f"{len(rest)} more blocks", choices=choices)
    return (Controls(items=(picker,)),)


def _build_held(session: Session) -> tuple[Part, ...]:
    """Return the buttons to confirm or drop the held change.

    Confirming sets the rule that blocks it aside for this day. The question is repeated on every card after the first.
    """
    question = held_question(session)
    if session.held is None or question is None:
        return ()
    first = session.handled[-1:] == (session.held.asked,)
    buttons = Controls(items=tuple(option.button() for option in question.answers))
    return (buttons,) if first else (Prose(text=plain(question.sentence, 600)), buttons)


def _build_explanation_select(chain: tuple[Resolved, ...]) -> tuple[Select, ...]:
    """Return a select that explains the position of a block; the menus of the blocks have no room for it."""
    choices = tuple(_build_choice(block) for block in chain[:MOST_ASKED])
    return (Select(action="block.why", placeholder="Why here?", choices=choices),) if choices else ()


def _build_choice(block: Resolved) -> Choice:
    return Choice(label=f"{span(block.start, block.end)} {block.event.name}"[:75], value=block.key)


def _meetings(session: Session) -> tuple[Part, ...]:
    timed = on_calendar(session).timed
    if not timed:
        return ()
    named = [f"{clip_span(m, session.date)} {plain(m.title, 40)}" for m in timed[:MOST_MEETINGS]]
    if len(timed) > MOST_MEETINGS:
        named.append(f"{len(timed) - MOST_MEETINGS} more")
    return (Note(text=f"Meetings: {' · '.join(named)}"),)


def _trouble(session: Session) -> tuple[Part, ...]:
    if session.problem is None:
        return ()
    text = f"⚠️ {plain(session.problem, 900)}"
    question = write_question(session)
    if question is None or not question.awaits_yes:
        return (Prose(text=text, control=move_button(session, Move.RETRY)),)
    return (Prose(text=text), Controls(items=tuple(option.button() for option in question.answers)))
