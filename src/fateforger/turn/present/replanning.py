"""Controls to report how the day is going; the rest of the day is then refitted."""

from __future__ import annotations

from fateforger.plan import ET, Resolved
from fateforger.session.cards import Button, Choice, Controls, Part, Select
from fateforger.session.differences import span
from fateforger.session.model import Session
from fateforger.session.pending import refit_question
from fateforger.session.placing import by_time

LATE = ((0, "What is on now begins only now"), (15, "15 min"), (30, "30 min"), (45, "45 min"), (60, "1 h"))
MOST_ASKED = 100
"""Choices that fit into a select."""


def build_progress_controls(session: Session) -> tuple[Part, ...]:
    """Return the controls, once the day is under way or its plan is on the calendar: running late, done, not today."""
    mine = list_own_blocks(session)[:MOST_ASKED]
    if not mine or not (session.written or session.touched_at >= mine[0].start):
        return ()
    choices = tuple(to_choice(block) for block in mine)
    late = tuple(Choice(label=label, value=str(minutes)) for minutes, label in LATE)
    return (
        Controls(
            items=(
                Select(action="replan.late", placeholder="Running late", choices=late),
                Select(action="replan.done", placeholder="Done already", choices=choices),
                Select(action="replan.not_today", placeholder="Not today", choices=choices),
                Button(label="How is it going?", action="form.replan"),
            )
        ),
    )


def offer_refit(session: Session) -> tuple[Part, ...]:
    """Return a button to make room if upcoming blocks overlap meetings."""
    question = refit_question(session)
    return () if question is None else (Controls(items=tuple(option.button() for option in question.answers)),)


def list_own_blocks(session: Session) -> tuple[Resolved, ...]:
    """Return the blocks that can be late, done or dropped."""
    chain = by_time(session.plan) if session.plan else ()
    return tuple(block for block in chain if block.event.type not in {ET.BACKGROUND, ET.MEETING})


def to_choice(block: Resolved) -> Choice:
    """Return a block as a choice."""
    return Choice(label=f"{span(block.start, block.end)} {block.event.name}"[:75], value=block.key)
