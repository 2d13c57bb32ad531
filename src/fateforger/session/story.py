"""History of constraints in one conversation, as six kinds of events (S220).

Pure functions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, get_args

from fateforger.constraints import Version
from fateforger.session.memory import known_versions, unsaved_versions
from fateforger.session.model import Session
from fateforger.session.recall import followed_constraints

Event = Literal["extracted", "stored", "waiting", "selected", "set_aside", "applied"]
"""Kind of event.

The constraint was stated here; is in the store; waits to be stored; was read from the store for this day; does not
count here; or is followed by the plan.
"""
EVENTS: tuple[Event, ...] = get_args(Event)


class ConstraintHistory(NamedTuple):
    """One constraint with its events, in the order of :data:`EVENTS`."""

    uid: str
    name: str
    events: tuple[Event, ...]


def uids_of(session: Session) -> dict[Event, frozenset[str]]:
    """Return the constraints of each event, as far as the session itself knows."""
    written = {version.uid for write in session.memory_writes for version in write.versions}
    said = {version.uid for version in session.said} | written
    waits = frozenset(version.uid for version in unsaved_versions(session))
    return {
        "extracted": frozenset(said),
        "stored": frozenset(written) - waits,
        "waiting": waits,
        "selected": frozenset() if session.recalled is None else frozenset(v.uid for v in session.recalled.versions),
        "set_aside": frozenset(session.set_aside),
        "applied": frozenset(item.uid for item in followed_constraints(session).applicable),
    }


def constraint_histories(session: Session, stored: Iterable[Version]) -> tuple[ConstraintHistory, ...]:
    """Return the events of each constraint that had a part in the conversation, by name.

    ``stored`` are the person's versions in the store, which outlast the session's own.
    """
    rows = [version for version in stored if version.user_id == session.user_id]
    here = frozenset(version.uid for version in rows if version.session_id == session.id)
    happened = uids_of(session)
    happened["extracted"] |= here
    happened["stored"] |= here
    names = {version.uid: version.record.name for version in (*rows, *known_versions(session))}
    told = [
        ConstraintHistory(uid, names.get(uid, ""), tuple(event for event in EVENTS if uid in happened[event]))
        for uid in frozenset().union(*happened.values())
    ]
    return tuple(sorted(told, key=lambda each: (each.name, each.uid)))
