"""All rules of a person, for looking through them, with or without a session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from fateforger.constraints import Version, select_newest
from fateforger.errors import BadInput
from fateforger.plan import zone
from fateforger.session.memory import MemoryRow
from fateforger.session.memory_rows import rows_of
from fateforger.session.model import Session

GONE = "I can't find that rule any more; please look at the list again."
NOT_ALL = "I cannot look up all of your rules just now; these are the ones I know from this session."


@dataclass(frozen=True)
class RuleBook:
    """Rules of a person.

    ``versions`` are those of the store and of the session. ``done`` is the result of the last command, if it was
    requested. ``person`` is the session in which the rules are viewed, or :func:`unsaved_session`.
    """

    person: Session
    versions: tuple[Version, ...]
    done: tuple[str, ...] = ()

    @property
    def session(self) -> Session | None:
        """Session in which the rules are viewed, if any."""
        return self.person if self.person.id else None

    @cached_property
    def rows(self) -> tuple[MemoryRow, ...]:
        """Every rule: those used on the day first, those out of force last."""
        return rows_of(self.person, self.versions, retired=True)

    @cached_property
    def newest(self) -> Mapping[str, Version]:
        """Newest version of each rule, by uid."""
        return select_newest(self.versions, self.person.user_id)

    def rule(self, uid: str) -> tuple[MemoryRow, Version]:
        """Return one rule.

        Raises :class:`BadInput` when there is none.
        """
        row = next((row for row in self.rows if row.uid == uid), None)
        if row is None:
            raise BadInput(GONE)
        return row, self.newest[uid]


def unsaved_session(user_id: str, tz: str, at: datetime) -> Session:
    """Return an unsaved session for a person outside any session, today.

    It has no id and is never stored.
    """
    today = at.astimezone(zone(tz)).date()
    return Session(id="", user_id=user_id, channel="", created_at=at, touched_at=at, tz=tz, date=today)


def lines_of_command(session: Session, command_id: str | None) -> tuple[str, ...]:
    """Return the messages of a command, if it was the session's last one."""
    if command_id is None or session.handled[-1:] != (command_id,):
        return ()
    for write in session.memory_writes[-1:]:
        if write.cause == command_id:
            return write.lines
    return () if session.notice is None else session.notice.lines
