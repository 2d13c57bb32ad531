"""Workers that read each reply for rules to remember while the conversation goes on (S1, S4, S116)."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from pydantic import ValidationError

from fateforger.background.lane import LanePolicy, LaneWorkers
from fateforger.background.memory import build_understood_job
from fateforger.errors import InternalError
from fateforger.ports import Clock, Job, Jobs, NewJob, Sessions
from fateforger.session.commands import COMMAND, AddExtracted, TimeboxingUserReply
from fateforger.session.model import Session

log = logging.getLogger(__name__)

EXTRACT_LANE = "extract"
UNHURRIED = LanePolicy(workers=8, tries=5, backoff_seconds=2.0, longest_backoff_seconds=60.0)
"""Several messages are read at once, so that one that hangs does not delay the others."""
UNREAD = "I could not look for rules in your last message, so I remember nothing of it; the rest of it counts as usual."

Interpret = Callable[[TimeboxingUserReply, Session], Awaitable[AddExtracted | None]]
"""Return the rules to remember from a reply, or ``None`` if there are none.

Raises the errors of :data:`~fateforger.background.lane.Perform`.
"""


def build_extract_job(reply: TimeboxingUserReply) -> NewJob:
    """Return the job that reads a reply. Each reply is read once, independently of the others of its session.

    The result carries the time of the reply, so the order of reading does not matter.
    """
    payload = COMMAND.dump_python(reply, mode="json")
    return NewJob(lane=EXTRACT_LANE, key=reply.command_id, dedupe=reply.command_id, payload=payload)


def format_understood_id(reply_id: str) -> str:
    """Return the id of the command that a reply results in; it is the same however often the reply is read."""
    return f"{reply_id}/understood"


def build_extract_workers(
    jobs: Jobs,
    sessions: Sessions,
    interpret: Interpret,
    *,
    owner: str,
    clock: Clock,
    policy: LanePolicy = UNHURRIED,
) -> LaneWorkers:
    """Return workers that read replies and enqueue the results on the lane of the session.

    When a reply is given up, the session is told once that it was not read.
    """

    async def perform(job: Job) -> None:
        reply = _parse_reply(job)
        session = await sessions.load(reply.session_id)
        if session is None:
            return
        heard = await interpret(reply, session)
        if heard is not None:
            await jobs.enqueue(build_understood_job(heard), now=clock.now())

    async def on_given_up(job: Job, error: str) -> None:
        log.warning("job %s: a reply is not read for rules: %s", job.id, error)
        reply = _parse_reply(job)
        heard = AddExtracted(
            command_id=format_understood_id(reply.command_id),
            session_id=reply.session_id,
            of=reply.command_id,
            at=reply.at,
            trouble=UNREAD,
        )
        await jobs.enqueue(build_understood_job(heard), now=clock.now())

    return LaneWorkers(jobs, EXTRACT_LANE, perform, on_given_up, owner=owner, clock=clock, policy=policy)


def _parse_reply(job: Job) -> TimeboxingUserReply:
    try:
        reply = COMMAND.validate_python(job.payload)
    except ValidationError as error:
        raise InternalError(f"job {job.id} holds no reply: {error.error_count()} problems") from error
    if not isinstance(reply, TimeboxingUserReply):
        raise InternalError(f"job {job.id} holds a {type(reply).__name__}, not a reply")
    return reply
