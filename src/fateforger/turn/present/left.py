"""Line that replaces the card of a stage once the session has moved on."""

from __future__ import annotations

from typing import assert_never

from fateforger.session.cards import Card, Prose, plain
from fateforger.session.days import day_words
from fateforger.session.frame import frame_words
from fateforger.session.gates import block_words
from fateforger.session.model import Session
from fateforger.stages import TimeboxingStage

MOST_TASKS = 6


def left_card(session: Session, left: TimeboxingStage) -> Card:
    """Return the line for stage ``left`` of a session that is now at another stage."""
    line = _describe_back(session) if session.stage.number < left.number else _describe_done(session, left)
    return Card(text=line.replace("**", ""), parts=(Prose(text=line),))


def _describe_back(session: Session) -> str:
    undone = session.last_sync is not None and session.last_sync.status == "undone"
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
    tasks = session.inputs.tasks
    named = [f"{plain(t.title, 60)}{' ⭐' if t.one_thing else ''}" for t in tasks[:MOST_TASKS]]
    more = f" and {len(tasks) - MOST_TASKS} more" if len(tasks) > MOST_TASKS else ""
    return f"{len(tasks)} task{'' if len(tasks) == 1 else 's'}: {', '.join(named)}{more}"
