"""Sender election: one process per database sends at a time, and another takes over if it dies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fateforger.background.lane import LanePolicy, LaneWorkers, TryLater
from fateforger.errors import FateforgerError
from fateforger.ports import Clock, Job, Jobs, NewJob
from fateforger.values import replace

SENDING_LANE = "sending"
SENDING = NewJob(lane=SENDING_LANE, key="outbox", dedupe="outbox")
"""Job of sending the outbox.

It is queued once and never ends: the process that holds its lease is the sender. Two senders would post the same
message twice.
"""

_FOR_EVER = 10**9


def sending_worker(
    jobs: Jobs, send: Callable[[], Awaitable[None]], *, owner: str, policy: LanePolicy, clock: Clock
) -> LaneWorkers:
    """Return the worker that calls ``send`` while it holds the job, and cancels it if it loses the job.

    ``send`` returns when the program stops.
    """

    async def perform(_job: Job) -> None:
        try:
            await send()
        except FateforgerError as error:
            raise TryLater(error.message) from error
        raise TryLater("the program stops", 0.0)

    async def given_up(_job: Job, _error: str) -> None:
        return

    alone = replace(policy, workers=1, tries=_FOR_EVER)
    return LaneWorkers(jobs, SENDING_LANE, perform, given_up, owner=owner, clock=clock, policy=alone)
