"""What a session says after the person pressed Stop. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from fateforger.session.model import Notice, Session
from fateforger.turn.model import Effect, GoBack, UndoGroup, UndoUpdate, WriteCalendar

STOPPED = "Stopped; nothing was changed."
NOT_TORN = "Stop came while your calendar was being written, so I finished that rather than leave it half done."
WRITING = (WriteCalendar, UndoUpdate, UndoGroup, GoBack)
"""Effects that write to the calendar."""


def stopped(session: Session) -> Session:
    """The session as it was before the turn, with the one word that it was stopped."""
    return session.model_copy(update={"notice": Notice(lines=(STOPPED,))})


def not_stopped(session: Session, effects: Sequence[Effect]) -> Session:
    """A stop that came while the turn acted: a write says that it was finished; anything else is simply there."""
    if not any(isinstance(effect, WRITING) for effect in effects):
        return session
    said = session.notice or Notice(lines=(NOT_TORN,))
    lines = tuple(dict.fromkeys((*said.lines, NOT_TORN)))
    return session.model_copy(update={"notice": said.model_copy(update={"lines": lines})})
