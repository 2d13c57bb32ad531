"""All the rules of a person, as they are looked through: in a session, or without one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date as Date  # noqa: N812  as elsewhere
from functools import cached_property

from fateforger.constraints import Version, newest
from fateforger.errors import BadInput
from fateforger.session.memory import MemoryRow, Recalled, Remembering
from fateforger.session.memory_rows import rows_of
from fateforger.session.model import Session
from fateforger.stages import TimeboxingStage

GONE = "I can't find that rule any more; please look at the list again."
NOT_ALL = "I cannot look up all of your rules just now; these are the ones I know from this session."


@dataclass(frozen=True, slots=True)
class Alone:
    """A person outside of any session, on a ``date`` of theirs."""

    user_id: str
    date: Date
    tz: str
    id: str = ""
    stage: TimeboxingStage = TimeboxingStage.DATE
    said: tuple[Version, ...] = ()
    set_aside: tuple[str, ...] = ()
    recalled: Recalled | None = None


@dataclass(frozen=True)
class RuleBook:
    """``versions`` are those of the store and of the session; ``done`` says what the last command did, if it was asked
    for."""

    person: Session | Alone
    versions: tuple[Version, ...]
    done: tuple[str, ...] = ()

    @property
    def session(self) -> Session | None:
        """The session that the rules are looked at in, if any."""
        return self.person if isinstance(self.person, Session) else None

    @cached_property
    def rows(self) -> tuple[MemoryRow, ...]:
        """Every rule: what is used on the day first, what is out of force last."""
        asking: Remembering = self.person
        return rows_of(asking, self.versions, retired=True)

    @cached_property
    def newest(self) -> Mapping[str, Version]:
        """Each rule by uid as it is now."""
        return newest(self.versions, self.person.user_id)

    def rule(self, uid: str) -> tuple[MemoryRow, Version]:
        """One rule. Raises :class:`BadInput` when there is none."""
        row = next((row for row in self.rows if row.uid == uid), None)
        if row is None:
            raise BadInput(GONE)
        return row, self.newest[uid]


def said_by(session: Session, command_id: str | None) -> tuple[str, ...]:
    """What a command that was the session's last one said."""
    if command_id is None or session.handled[-1:] != (command_id,):
        return ()
    for write in session.memory_writes[-1:]:
        if write.cause == command_id:
            return write.lines
    return () if session.notice is None else session.notice.lines
