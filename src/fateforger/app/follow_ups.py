"""Work that is left after a connection of a calendar broke, or works again."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from uuid import uuid4

from fateforger.calendar.connections import Connections, FollowUp
from fateforger.errors import WorldError
from fateforger.ports.clock import Clock
from fateforger.ports.jobs import Jobs
from fateforger.session.commands.calendar import RefreshCalendar
from fateforger.session.model import SessionStatus
from fateforger.session.store import Sessions
from fateforger.workers.turns import build_command_job, connection_job

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FollowUps:
    """Tells people once that their connection broke, and goes on with what waited once it works again.

    ``recover`` finishes the writes of a person that were cut off; it raises ``WorldError``.

    What is left to do is kept with the connection, so it is done once by all programs together, and also after a crash.
    """

    connections: Connections
    recover: Callable[[str], Awaitable[None]]
    sessions: Sessions
    jobs: Jobs
    clock: Clock

    async def run_once(self) -> None:
        """Do what is left. Raises ``StoreError``."""
        for user_id, due in await self.connections.list_due():
            if due is FollowUp.TELL:
                await self._tell(user_id)
            elif due is FollowUp.RESUME:
                await self._resume(user_id)

    async def _tell(self, user_id: str) -> None:
        job = connection_job(user_id, "tell", f"broke-{user_id}-{uuid4().hex}")
        await self.connections.finish(user_id, FollowUp.TELL, now=self.clock.now(), job=job)

    async def _resume(self, user_id: str) -> None:
        """Finish writes that were cut off, and read the calendar again for each plan that is open.

        While the calendar does not answer, the writes are left to the next submit or undo.
        """
        try:
            await self.recover(user_id)
        except WorldError as error:
            log.warning("the writes of %s that were cut off stay open for now: %s", user_id, error.message)
        now = self.clock.now()
        for session in await self.sessions.of_user(user_id):
            if session.status is not SessionStatus.CANCELLED:
                again = RefreshCalendar(command_id=f"resume:{session.id}:{session.version}", session_id=session.id)
                await self.jobs.enqueue(build_command_job(again, key=session.id), now=now)
        await self.connections.finish(user_id, FollowUp.RESUME, now=now)
