"""Add a message to a session after the person pressed Stop. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from fateforger.session.model import Notice, Session
from fateforger.turn.model import Effect, GoBack, UndoGroup, UndoUpdate, WriteCalendar
from fateforger.values import replace

STOPPED = "Stopped; nothing was changed."
NOT_TORN = "Stop came while your calendar was being written, so I finished that rather than leave it half done."
WRITING = (WriteCalendar, UndoUpdate, UndoGroup, GoBack)
"""Effects that write to the calendar."""


def mark_stopped(session: Session) -> Session:
    """Return the session as it was before the turn, with a notice that the turn was stopped."""
    return replace(session, notice=Notice(lines=(STOPPED,)))


def mark_finished(session: Session, effects: Sequence[Effect]) -> Session:
    """Return the session after a stop during the effects. Only a write adds a notice, that it was finished."""
    if not any(isinstance(effect, WRITING) for effect in effects):
        return session
    said = session.notice or Notice(lines=(NOT_TORN,))
    lines = tuple(dict.fromkeys((*said.lines, NOT_TORN)))
    return replace(session, notice=replace(said, lines=lines))
