"""Stop: runs in a lane of its own, so that it never waits for the turn it ends."""

from __future__ import annotations

from datetime import datetime

from fateforger.background.lane import LanePolicy, LaneWorkers, TryLater
from fateforger.coordinator.door import CoordinatorPort
from fateforger.ports import Clock, Job, Jobs, NewJob
from fateforger.slack import phrases
from fateforger.slack.arrivals import Place, StopRequested
from fateforger.slack.asides import EphemeralMessages

STOP_LANE = "stop"
TRIES = 8
PAUSE_SECONDS = 0.25
"""Seconds between tries.

The turn may run in another process on the same database, or be restarting; its process picks up the stop within a few
tries.
"""


def stop_job(asked: StopRequested, session_id: str, *, now: datetime) -> NewJob:
    """Return the job that stops the current turn of a session."""
    return NewJob(
        lane=STOP_LANE,
        key=f"{session_id} {asked.command_id}",
        dedupe=asked.command_id,
        payload={
            "session_id": session_id,
            "user_id": asked.user_id,
            "channel": asked.place.channel,
            "thread_ts": asked.place.thread_ts,
            "at": now.isoformat(),
        },
    )


def stop_workers(
    jobs: Jobs, door: CoordinatorPort, ephemeral: EphemeralMessages, *, owner: str, clock: Clock
) -> LaneWorkers:
    """Return workers that stop turns. If a stop comes too late, the person alone is told."""

    async def perform(job: Job) -> None:
        at = datetime.fromisoformat(str(job.payload["at"]))
        if door.stop(str(job.payload["session_id"]), at):
            return
        if job.attempts < TRIES:
            raise TryLater("no turn of the session is under way here", PAUSE_SECONDS)
        place = Place(job.payload["channel"], job.payload["thread_ts"])
        await ephemeral.send_ephemeral(str(job.payload["user_id"]), place, phrases.STOP_TOO_LATE)

    async def given_up(_job: Job, _error: str) -> None:
        return

    policy = LanePolicy(workers=2, tries=TRIES + 4)
    return LaneWorkers(jobs, STOP_LANE, perform, given_up, owner=owner, clock=clock, policy=policy)
