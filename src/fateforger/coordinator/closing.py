"""Close finished sessions that were abandoned, without a message (S211)."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from fateforger.background.turns import build_command_job
from fateforger.coordinator.messages import build_messages
from fateforger.errors import StoreError
from fateforger.plan import local_day, zone
from fateforger.ports import Clock, Jobs, Sessions
from fateforger.session.commands import EndAbandoned
from fateforger.session.model import Outgoing, Session, SessionStatus
from fateforger.session.writing import is_okay
from fateforger.values import replace

log = logging.getLogger(__name__)

IDLE = timedelta(hours=6)
"""Inactivity after which a session may be closed."""
LOOK_BACK = timedelta(days=35)
"""Inactivity after which a session is not checked any more."""
ROUND_SECONDS = 900.0
Sleep = Callable[[float], Awaitable[None]]


def is_abandoned(session: Session, now: datetime) -> bool:
    """Check whether a session can be closed: its plan is Okay or better, its day is over, and it is idle.

    Until its day is over, a plan can be refitted and undone in its thread, however long that is idle. Pure.
    """
    if session.status is not SessionStatus.ACTIVE or not is_okay(session) or now - session.touched_at < IDLE:
        return False
    return local_day(session.date, zone(session.tz))[1].astimezone(UTC) <= now


def close_session(session: Session, command: EndAbandoned) -> tuple[Session, tuple[Outgoing, ...]]:
    """Return the closed session and its messages, which update existing messages and post none. Pure."""
    after = replace(
        session, status=SessionStatus.CANCELLED, history=None, preview=None, memory=None, notice=None
    ).after_command(command.command_id, session.touched_at)
    after, messages = build_messages(session, after, command.command_id)
    return after, tuple(replace(message, stays=True) for message in messages)


class SessionCloser:
    """Enqueues one job on the lane of each abandoned session, in order with its other commands."""

    def __init__(self, sessions: Sessions, jobs: Jobs, clock: Clock) -> None:
        self._sessions = sessions
        self._jobs = jobs
        self._clock = clock

    async def run(self, sleep: Sleep) -> None:
        """Check sessions until cancelled."""
        while True:
            try:
                await self.run_once()
            except StoreError as error:
                log.warning("sessions that were left alone stay open for now: %s", error.message)
            await sleep(ROUND_SECONDS)

    async def run_once(self) -> None:
        """Check each session once. Raises ``StoreError``."""
        now = self._clock.now()
        for session in await self._sessions.touched_since(now - LOOK_BACK):
            if is_abandoned(session, now):
                command_id = f"left:{session.id}:{session.version}"
                command = EndAbandoned(command_id=command_id, session_id=session.id, at=now)
                await self._jobs.enqueue(build_command_job(command, key=session.id), now=now)
