"""Sessions that are done with and that nobody came back to are closed, without a word (S211)."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from fateforger.background.turns import command_job
from fateforger.coordinator.messages import owed
from fateforger.errors import StoreError
from fateforger.plan import local_day, zone
from fateforger.ports import Clock, Jobs, Sessions
from fateforger.session.commands import LeftAlone
from fateforger.session.model import Outgoing, Session, SessionStatus
from fateforger.session.writing import is_okay

log = logging.getLogger(__name__)

IDLE = timedelta(hours=6)
"""How long nobody did anything in a session that is closed."""
LOOK_BACK = timedelta(days=35)
"""A session that nobody touched for so long is not looked at any more."""
ROUND_SECONDS = 900.0
Sleep = Callable[[float], Awaitable[None]]


def left_alone(session: Session, now: datetime) -> bool:
    """Whether a session can be closed: its plan is Okay or better, its day is over, and nobody was there for hours.
    Until its day is over a plan can be refitted and taken back in its thread, however long that is left alone. Pure."""
    if session.status is not SessionStatus.ACTIVE or not is_okay(session) or now - session.touched_at < IDLE:
        return False
    return local_day(session.date, zone(session.tz))[1].astimezone(UTC) <= now


def closed(session: Session, command: LeftAlone) -> tuple[Session, tuple[Outgoing, ...]]:
    """The session, ended, with what it owes: its messages change where they are, and none is posted. Pure."""
    ended = {"status": SessionStatus.CANCELLED, "history": None, "preview": None, "memory": None, "notice": None}
    after = session.model_copy(update=ended).touched(command.command_id, session.touched_at)
    after, messages = owed(session, after, command.command_id)
    return after, tuple(message.model_copy(update={"stays": True}) for message in messages)


class Closing:
    """Puts one job on the lane of each session that was left alone, where it waits its turn."""

    def __init__(self, sessions: Sessions, jobs: Jobs, clock: Clock) -> None:
        self._sessions = sessions
        self._jobs = jobs
        self._clock = clock

    async def run(self, sleep: Sleep) -> None:
        """Until it is cancelled."""
        while True:
            try:
                await self.round()
            except StoreError as error:
                log.warning("sessions that were left alone stay open for now: %s", error.message)
            await sleep(ROUND_SECONDS)

    async def round(self) -> None:
        """Look at each session once. Raises ``StoreError``."""
        now = self._clock.now()
        for session in await self._sessions.touched_since(now - LOOK_BACK):
            if left_alone(session, now):
                command_id = f"left:{session.id}:{session.version}"
                command = LeftAlone(command_id=command_id, session_id=session.id, at=now)
                await self._jobs.enqueue(command_job(command, key=session.id), now=now)
