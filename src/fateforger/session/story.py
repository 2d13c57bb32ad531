"""What became of constraints in one conversation: told in six events, each about one constraint (S220). Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, get_args

from fateforger.constraints import Version
from fateforger.session.memory import known, unsaved
from fateforger.session.model import Session
from fateforger.session.recall import following

Event = Literal["extracted", "stored", "waiting", "selected", "set_aside", "applied"]
"""It was said here; the store has it; it waits to be stored; the store gave it for this day; it does not count here;
the plan follows it."""
EVENTS: tuple[Event, ...] = get_args(Event)


class Chapter(NamedTuple):
    """One constraint, and what became of it, in the order of :data:`EVENTS`."""

    uid: str
    name: str
    events: tuple[Event, ...]


def uids_of(session: Session) -> dict[Event, frozenset[str]]:
    """Which constraints each event happened to, as far as the session itself knows."""
    written = {version.uid for write in session.memory_writes for version in write.versions}
    said = {version.uid for version in session.said} | written
    waits = frozenset(version.uid for version in unsaved(session))
    return {
        "extracted": frozenset(said),
        "stored": frozenset(written) - waits,
        "waiting": waits,
        "selected": frozenset() if session.recalled is None else frozenset(v.uid for v in session.recalled.versions),
        "set_aside": frozenset(session.set_aside),
        "applied": frozenset(item.uid for item in following(session).applicable),
    }


def story(session: Session, stored: Iterable[Version]) -> tuple[Chapter, ...]:
    """The same for each constraint that had a part in it, by name; ``stored`` are the person's versions in the store,
    which know longer than the session what was said in it."""
    rows = [version for version in stored if version.user_id == session.user_id]
    here = frozenset(version.uid for version in rows if version.session_id == session.id)
    happened = uids_of(session)
    happened["extracted"] |= here
    happened["stored"] |= here
    names = {version.uid: version.record.name for version in (*rows, *known(session))}
    told = [
        Chapter(uid, names.get(uid, ""), tuple(event for event in EVENTS if uid in happened[event]))
        for uid in frozenset().union(*happened.values())
    ]
    return tuple(sorted(told, key=lambda each: (each.name, each.uid)))
