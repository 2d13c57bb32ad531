"""The workers of the durable inbox: each job on the lane is one command of a person, handled once and in order."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from pydantic import ValidationError

from fateforger.background.lane import LanePolicy, LaneWorkers
from fateforger.errors import InternalError, StoreError
from fateforger.ports import Clock, Job, Jobs, NewJob, Sessions
from fateforger.session.cards import Card, Prose
from fateforger.session.commands import COMMAND, LookAgain, Queued, Understood
from fateforger.session.model import Outgoing

log = logging.getLogger(__name__)

TURN_LANE = "turn"
NOT_ASKED_FOR = frozenset({LookAgain.model_fields["kind"].default, Understood.model_fields["kind"].default})

APOLOGY = "I'm sorry, something went wrong on my side and I couldn't finish your last step. Please try it once more."

Handle = Callable[[Queued], Awaitable[None]]
"""Handles one command. Raises as :data:`~fateforger.background.lane.Perform` does."""


def turn_workers(
    jobs: Jobs,
    sessions: Sessions,
    handle: Handle,
    *,
    owner: str,
    clock: Clock,
    after: Callable[[], None] = lambda: None,
    policy: LanePolicy | None = None,
) -> LaneWorkers:
    """Workers that pass each command to ``handle`` and call ``after`` when one was handled: messages may be due.

    A command that cannot be handled is given up with one apology in its session, when there is one.
    """

    async def perform(job: Job) -> None:
        await handle(_command(job))
        after()

    async def given_up(job: Job, _error: str) -> None:
        if await apologise(sessions, job):
            after()

    return LaneWorkers(jobs, TURN_LANE, perform, given_up, owner=owner, clock=clock, policy=policy)


def look_job(look: LookAgain) -> NewJob:
    """A look at the calendar that waits its turn among the commands of its session."""
    payload = COMMAND.dump_python(look, mode="json")
    return NewJob(lane=TURN_LANE, key=look.session_id, dedupe=look.command_id, payload=payload)


def _command(job: Job) -> Queued:
    try:
        return COMMAND.validate_python(job.payload)
    except ValidationError as error:
        raise InternalError(f"job {job.id} holds no command: {error.error_count()} problems") from error


async def apologise(sessions: Sessions, job: Job) -> bool:
    """Queue one sentence of apology in the session of a command. ``False`` when there is no session to do so, or when
    nobody asked for anything."""
    return job.payload.get("kind") not in NOT_ASKED_FOR and await tell_session(sessions, job, APOLOGY)


async def tell_session(sessions: Sessions, job: Job, sentence: str) -> bool:
    """Queue one sentence in the session that a job belongs to. ``False`` when there is none."""
    session_id = job.payload.get("session_id")
    if not isinstance(session_id, str):
        return False
    try:
        session = await sessions.load(session_id)
        if session is None:
            return False
        sorry = Outgoing(
            id=f"sorry-{job.id}",
            session_id=session_id,
            channel=session.channel,
            slot=f"sorry-{job.id}",
            card=Card(text=sentence, parts=(Prose(text=sentence),)),
        )
        await sessions.save(session, expected=session.version, outgoing=(sorry,))
    except StoreError as error:
        log.error("no apology can be sent for job %s: %s", job.id, error.message)  # noqa: TRY400  the sentence says it all
        return False
    return True
