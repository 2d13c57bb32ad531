"""What a turn changed about the constraints of its session, for the log (S220): counts, never a text."""

from __future__ import annotations

import logging

from fateforger.session.model import Session
from fateforger.session.story import Event, uids_of

log = logging.getLogger(__name__)

HERE: tuple[Event, ...] = ("selected", "set_aside", "applied")
"""The events of a turn; what is extracted, stored or queued is logged where that happens."""


def chronicled(before: Session, after: Session, cause: str) -> None:
    """A line for each event that happened to a constraint since ``before``: how many it is now of."""
    was, now = uids_of(before), uids_of(after)
    for event in HERE:
        if now[event] != was[event]:
            log.info("constraints %s session=%s command=%s count=%d", event, after.id, cause, len(now[event]))
