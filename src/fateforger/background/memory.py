"""Workers of the memory lane: retry delayed writes until the store works (S117), and archive outdated constraints."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from pydantic import ValidationError

from fateforger.background.lane import LanePolicy, LaneWorkers
from fateforger.background.memory_lane import MEMORY_LANE, TIDY, WRITE
from fateforger.background.tidying import tidy
from fateforger.background.turns import TURN_LANE, notify_session
from fateforger.constraints import Version, read_version, write_version
from fateforger.errors import BadInput, InternalError
from fateforger.ports import Clock, Constraints, Job, Jobs, NewJob, Sessions
from fateforger.session.commands import COMMAND, AddExtracted

log = logging.getLogger(__name__)

PATIENT = LanePolicy(workers=2, tries=1_000, backoff_seconds=1.0, longest_backoff_seconds=300.0)
"""Retries for more than three days."""
LOST = "I could not write down for other days what you told me to remember; please tell me once more."


def build_write_job(versions: Sequence[Version], session_id: str, cause: str) -> NewJob:
    """Return the job that writes versions once the store works again; the same ``cause`` is written once."""
    lines = [write_version(version) for version in versions]
    payload = {"kind": WRITE, "cause": cause, "session_id": session_id, "versions": lines}
    return NewJob(lane=MEMORY_LANE, key=versions[0].user_id, dedupe=cause, payload=payload)


def build_memory_workers(
    jobs: Jobs,
    constraints: Constraints,
    sessions: Sessions,
    *,
    owner: str,
    clock: Clock,
    after: Callable[[], None] = lambda: None,
    policy: LanePolicy = PATIENT,
) -> LaneWorkers:
    """Return workers that perform delayed writes, oldest first for each person, and tidy up.

    After a write, the session of the reply is updated. ``after`` is called when a message may be due.
    """

    async def perform(job: Job) -> None:
        if job.payload.get("kind") == TIDY:
            await tidy(job, constraints, clock.now())
            return
        versions = _parse_versions(job)
        # A newer version may have been written meanwhile. This one is then history: the instants give the order.
        await constraints.write(versions, cause=job.payload["cause"])
        landed = AddExtracted(
            command_id=f"{job.dedupe}/landed",
            session_id=job.payload["session_id"],
            of=job.payload["cause"],
            at=clock.now(),
        )
        await jobs.enqueue(build_understood_job(landed), now=clock.now())

    async def on_given_up(job: Job, error: str) -> None:
        if job.payload.get("kind") == TIDY:
            return  # the job of the next day does the same
        log.error("constraints of job %s are lost: %s", job.id, error)
        if await notify_session(sessions, job, LOST):
            after()

    return LaneWorkers(jobs, MEMORY_LANE, perform, on_given_up, owner=owner, clock=clock, policy=policy)


def build_understood_job(heard: AddExtracted) -> NewJob:
    """Return the job that passes ``heard`` to its session, in order with the other commands of the session."""
    payload = COMMAND.dump_python(heard, mode="json")
    return NewJob(lane=TURN_LANE, key=heard.session_id, dedupe=heard.command_id, payload=payload)


def parse_understood(job: Job) -> AddExtracted:
    """Return the command of a job. Raises ``InternalError`` for anything else."""
    try:
        heard = COMMAND.validate_python(job.payload)
    except ValidationError as error:
        raise InternalError(f"job {job.id} holds no command: {error.error_count()} problems") from error
    if not isinstance(heard, AddExtracted):
        raise InternalError(f"job {job.id} holds a {type(heard).__name__}, not what was understood")
    return heard


def _parse_versions(job: Job) -> tuple[Version, ...]:
    try:
        return tuple(read_version(line) for line in job.payload["versions"])
    except (BadInput, KeyError, TypeError) as error:
        raise InternalError(f"job {job.id} holds no constraints: {error}") from error
