"""Log a turn's changes to the constraints of its session (S220): counts, never texts."""

from __future__ import annotations

import logging

from fateforger.session.model import Session
from fateforger.session.story import Event, uids_of

log = logging.getLogger(__name__)

HERE: tuple[Event, ...] = ("selected", "set_aside", "applied")
"""Events of a turn. Extraction, storage and queueing are logged where they happen."""


def log_constraint_events(before: Session, after: Session, cause: str) -> None:
    """Log one line for each event that affected constraints since ``before``, with the number of constraints now."""
    was, now = uids_of(before), uids_of(after)
    for event in HERE:
        if now[event] != was[event]:
            log.info("constraints %s session=%s command=%s count=%d", event, after.id, cause, len(now[event]))
