"""Constraints of a person at one point, and the result of an action on them.

Pure values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date as Date  # noqa: N812  as elsewhere
from datetime import datetime, timedelta

from fateforger.constraints import ConstraintRecord, Event, Version, select_newest
from fateforger.errors import BadInput
from fateforger.session.days import local_today
from fateforger.session.memory import MemoryQuestion
from fateforger.values import replace

UNKNOWN = "I don't know that constraint any more, so I did nothing."
_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Memory:
    """All that store and session know of a person's constraints, and the context.

    The context is the conversation, if any, the planned day, the instant of the action, and the person's zone.
    """

    user_id: str
    session_id: str | None
    day: Date
    at: datetime
    versions: tuple[Version, ...]
    tz: str

    @property
    def newest(self) -> dict[str, Version]:
        return select_newest(self.versions, self.user_id)

    @property
    def today(self) -> Date:
        """Current day in the person's zone."""
        return local_today(self.at, self.tz)

    def find_version(self, uid: str) -> Version:
        """Return the newest version of a constraint.

        Raises ``BadInput`` when there is none.
        """
        version = self.newest.get(uid)
        if version is None:
            raise BadInput(UNKNOWN)
        return version

    def next(self, uid: str, record: ConstraintRecord, event: Event) -> Version:
        """Return the next version of a constraint, later than all its existing versions."""
        theirs = [version for version in self.versions if version.user_id == self.user_id]
        mine = [version for version in theirs if version.uid == uid]
        at = max([self.at, *(version.updated_at + _TICK for version in mine)])
        # Of two contradicting rules the later one counts, so no two are written at one instant.
        instants = {version.updated_at for version in theirs}
        while at in instants:
            at += _TICK
        return Version(
            user_id=self.user_id,
            record=record.with_uid(uid),
            created_at=min([at, *(version.created_at for version in mine)]),
            updated_at=at,
            event=event,
            session_id=self.session_id,
        )


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """Result of an action so far.

    ``memory`` includes it. ``versions`` are to be written, ``before`` are the newest ones before it. ``put_aside``
    and ``taken_up`` are the constraints that no longer count in this session, or count again. ``lines`` are to be
    said, ``questions`` to be asked.
    """

    memory: Memory
    versions: tuple[Version, ...] = ()
    before: Mapping[str, Version] = field(default_factory=dict)
    put_aside: tuple[str, ...] = ()
    taken_up: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    questions: tuple[MemoryQuestion, ...] = ()

    def with_version(self, version: Version, *lines: str) -> MemoryChange:
        """Return the result with one version more, which the next step sees."""
        known = self.memory.newest.get(version.uid)
        before = self.before if known is None or version.uid in _uids(self) else {**self.before, version.uid: known}
        memory = replace(self.memory, versions=(*self.memory.versions, version))
        versions, said = (*self.versions, version), (*self.lines, *lines)
        return replace(self, memory=memory, versions=versions, before=before, lines=said)

    def with_lines(self, *lines: str) -> MemoryChange:
        return replace(self, lines=(*self.lines, *lines))


def _uids(taken: MemoryChange) -> set[str]:
    return {version.uid for version in taken.versions}
