"""Everything that the call of an agent can reach."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from fateforger.agents import Client
from fateforger.constraints import Version
from fateforger.errors import BadInput
from fateforger.ports.agents import Proposals
from fateforger.ports.tasks import Tasks
from fateforger.session.days import day_words, local_today
from fateforger.session.model import Session, SessionStatus

MOST_SESSIONS = 100


class SessionsOf(Protocol):
    """Read a person's sessions, the most recently changed first."""

    def __call__(self, user_id: str, *, limit: int) -> Awaitable[tuple[Session, ...]]: ...


class ConstraintsOf(Protocol):
    """Read all versions of a person's constraints."""

    def __call__(self, user_id: str) -> Awaitable[tuple[Version, ...]]: ...


@dataclass(frozen=True, slots=True)
class AgentAccess:
    """Read access to sessions and constraints; write access to tasks, and to proposals that the person has to approve.

    ``tz`` is the time zone of people who have not planned a day yet.
    """

    sessions_of: SessionsOf
    constraints_of: ConstraintsOf
    tasks: Tasks
    proposals: Proposals
    tz: str


@dataclass(frozen=True, slots=True)
class Caller:
    """The calling client, the time of the call, and its number in the audit log."""

    client: Client
    number: int
    at: datetime

    @property
    def user_id(self) -> str:
        """The person that the agent works for."""
        return self.client.user_id


async def find_day(reach: AgentAccess, caller: Caller, day: date | None) -> tuple[date, str, Session | None]:
    """Return the day (today if ``day`` is ``None``), its time zone, and the session that plans it.

    An open session is preferred to one that has ended.
    """
    sessions = await reach.sessions_of(caller.user_id, limit=MOST_SESSIONS)
    tz = sessions[0].tz if sessions else reach.tz
    wanted = day or local_today(caller.at, tz)
    mine = [session for session in sessions if session.date == wanted]
    mine.sort(key=lambda session: session.status is not SessionStatus.ACTIVE)
    return wanted, mine[0].tz if mine else tz, mine[0] if mine else None


def require_session(day: date, session: Session | None) -> Session:
    """Return the session. Raises ``BadInput`` if there is none."""
    if session is None:
        raise BadInput(f"Nothing is planned for {day_words(day)}; the person starts a plan in Slack.", where="date")
    return session
