"""First message of a session: one line with the day and its state."""

from __future__ import annotations

from typing import assert_never

from fateforger.session.cards import Card, Prose
from fateforger.session.days import day_words
from fateforger.session.gates import block_words
from fateforger.session.model import Session, SessionStatus
from fateforger.stages import TimeboxingStage


def root_card(session: Session) -> Card:
    """Return the line as a message."""
    line = root_line(session)
    return Card(text=line.replace("**", ""), parts=(Prose(text=line),))


def root_line(session: Session) -> str:
    """Return the line, such as ``Planning **Monday 2 March**: refining, 5 blocks``."""
    day = f"**{day_words(session.date)}**"
    if session.status is SessionStatus.CANCELLED:
        kept = ", on your calendar" if session.written is not None else ""
        done = session.stage is TimeboxingStage.REVIEW_COMMIT and session.written is not None
        return f"{day}: {'planned' if done else 'ended'}{kept}"
    match session.stage:
        case TimeboxingStage.DATE:
            return f"Planning {day}: is it the right day?"
        case TimeboxingStage.COLLECT_CONSTRAINTS:
            return f"Planning {day}: the frame of the day"
        case TimeboxingStage.CAPTURE_INPUTS:
            count = len(session.inputs.tasks)
            return f"Planning {day}: what to do, {count} task{'' if count == 1 else 's'} so far"
        case TimeboxingStage.SKELETON:
            return f"Planning {day}: a first draft, {block_words(session)}"
        case TimeboxingStage.REFINE:
            return f"Planning {day}: refining, {block_words(session)}"
        case TimeboxingStage.REVIEW_COMMIT:
            return _describe_committed(session, day)
        case _:
            assert_never(session.stage)


def _describe_committed(session: Session, day: str) -> str:
    match session.last_sync.status if session.last_sync else "unchanged":
        case "partial" if session.last_sync is not None and session.last_sync.unsure:
            return f"{day}: not finished, see below"
        case "partial":
            return f"{day}: only a part is on your calendar"
        case "failed":
            return f"{day}: not committed, see below" if session.written else f"{day}: not on your calendar yet"
        case _:
            return f"{day}: on your calendar, {block_words(session)}"
